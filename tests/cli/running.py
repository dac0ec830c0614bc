"""The real command in a process of its own, with and without a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pyte

from tests.interop.peers import ROOT

ASKING = [sys.executable, str(ROOT / "tests" / "cli" / "asking_server.py")]
SCRIPTED = [sys.executable, str(ROOT / "tests" / "interop" / "scripted.py")]
TIMEOUT = 60.0
"""Seconds: a command takes one or two, and machines can be very busy."""
COLUMNS, LINES = 90, 50
KEYS = {
    "enter": b"\r",
    "escape": b"\x1b",
    "down": b"\x1b[B",
    "up": b"\x1b[A",
    "space": b" ",
    "clear": b"\x15",
    "ctrl-c": b"\x03",
}


def program(*words: str) -> list[str]:
    return [sys.executable, "-m", "mcp_anyera", *words]


def anyera(
    *words: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command without a terminal."""
    return subprocess.run(
        program(*words),
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100", **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


class Screen:
    """A terminal with the command in it: what it shows, and keys for it."""

    def __init__(self, master: int, process: subprocess.Popen[bytes]) -> None:
        self._master = master
        self._process = process
        self._screen = pyte.HistoryScreen(COLUMNS, LINES, history=2000)
        # Prompts ask a terminal where its cursor is.
        self._screen.write_process_input = lambda data: self._write(data.encode())
        self._stream = pyte.ByteStream(self._screen)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display).strip()

    def shows(self, *texts: str) -> str:
        """Wait until the screen shows all of the texts; return it."""
        self._until(lambda: all(text in self.text for text in texts), repr(texts))
        return self.text

    def lacks(self, text: str) -> None:
        """Wait until the screen does not show a text any more."""
        self._until(lambda: text not in self.text, f"no {text!r}")

    def _until(self, done: object, what: str) -> None:
        assert callable(done)
        deadline = time.monotonic() + TIMEOUT
        while not done():
            assert time.monotonic() < deadline, f"waited for {what}:\n{self.text}"
            if not self._read(0.2) and self._process.poll() is not None:
                self._read(0.2)
                assert done(), f"ended before {what}:\n{self.text}"

    def _read(self, patience: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], patience)
        try:
            data = os.read(self._master, 65536) if ready else b""
        except OSError:  # the other end is closed
            data = b""
        self._stream.feed(data)
        return bool(data)

    def keys(self, *keys: str) -> None:
        """Press keys: names of keys, or text."""
        for key in keys:
            self._write(KEYS.get(key, key.encode()))

    def _write(self, data: bytes) -> None:
        os.write(self._master, data)

    def end(self) -> int:
        """Wait for the end of the command; return its status."""
        deadline = time.monotonic() + TIMEOUT
        while self._process.poll() is None:
            assert time.monotonic() < deadline, f"it does not end:\n{self.text}"
            self._read(0.1)
        return self._process.returncode

    @property
    def pid(self) -> int:
        """The process of the command."""
        return self._process.pid

    @property
    def output(self) -> str:
        """What came out on stdout, which is no terminal."""
        assert self._process.stdout is not None
        return self._process.stdout.read().decode()


@contextmanager
def terminal(*words: str, env: dict[str, str] | None = None) -> Generator[Screen]:
    """Run the command in a terminal; its stdout is a pipe."""
    master, slave = pty.openpty()
    size = struct.pack("HHHH", LINES, COLUMNS, 0, 0)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
    process = subprocess.Popen(
        program(*words),
        env={**os.environ, "TERM": "xterm-256color", **(env or {})},
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Screen(master, process)
    finally:
        process.kill()
        process.communicate()
        os.close(master)


def gone(pid_file: Path) -> bool:
    """Tell, in bounded time, whether the process that wrote its id has ended."""
    pid = int(pid_file.read_text())
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False
