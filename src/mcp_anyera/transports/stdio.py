"""A server in a process of its own: newline-delimited JSON on its pipes.

The end is polite and bounded: stdin closes, then a moment to leave, then TERM
and KILL to the whole process group (2026-07-28 ``basic/transports/stdio`` §
Shutdown). A restart is such an end followed by a start, so two copies never run
at once: lock files, fixed ports and single-seat backends keep working.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TextIO

import anyio
import anyio.abc

from mcp_anyera.engine import ToServer
from mcp_anyera.transports.pipe import Pipe
from mcp_anyera.transports.wire import Traits, WireClosed, from_json, to_json

if TYPE_CHECKING:
    from mcp_anyera.memory import Identity

LEAVE_TIMEOUT: Final = 2.0
"""Seconds for a server to end by itself after stdin has closed; both SDKs use it."""
TERM_TIMEOUT: Final = 2.0
_POLL: Final = 0.01
_EXIT_POLL: Final = 0.5
"""Seconds between two looks at a process that runs; also the grace for its pipes."""
_STDERR_LINES: Final = 20
"""Lines of stderr that an error can show."""
_SHOWN_LINES: Final = 5
_GONE: Final = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Command(Protocol):
    """How to start a server; the SDK's ``StdioServerParameters`` is one."""

    command: str
    args: list[str]
    env: dict[str, str] | None
    """Laid over what the server inherits."""
    cwd: Any
    """The folder to start in; ``None`` for this process's own."""


class StdioWire:
    """The pipes of one server process, and the process itself."""

    traits: Traits = Traits(restartable=True)

    def __init__(
        self,
        parameters: Command,
        errlog: TextIO | None = None,
        inherited: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare a server; it starts when it is entered.

        Args:
            parameters: Command, arguments, environment, folder.
            errlog: Where the server's stderr goes; ``sys.stderr`` when omitted.
            inherited: The variables that the server inherits; the few that the
                SDK holds to be safe when omitted.
        """
        self._parameters = parameters
        self._inherited = inherited
        self._errlog = errlog
        self._process: anyio.abc.Process | None = None
        self._pipe: Pipe | None = None
        self._buffer = bytearray()
        self._scanned = 0
        self._lines: deque[bytes] = deque()
        self._tail: deque[str] = deque(maxlen=_STDERR_LINES)
        self._stderr_done = anyio.Event()

    @property
    def identity(self) -> Identity:
        """The full command and its folder; its environment may tell callers apart."""
        from mcp_anyera.memory import Identity  # noqa: PLC0415 - few bridges have one

        given = self._parameters
        place = [given.command, *given.args, str(given.cwd or Path.cwd())]
        return Identity("stdio", Path(given.command).name, place, given.env or {})

    # -- the process ---------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Start the process.

        Raises:
            OSError: The command cannot be run.
        """
        await self._start()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """End the process: stdin, wait, TERM, KILL."""
        await self._stop()

    async def _start(self) -> None:
        given = self._parameters
        command = shutil.which(given.command) if sys.platform == "win32" else None
        self._pipe = _pipe()
        try:
            self._process = await anyio.open_process(
                [command or given.command, *given.args],
                env={**self._environment(), **(given.env or {})},
                cwd=given.cwd,
                stdin=subprocess.PIPE if self._pipe is None else self._pipe.outlet,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except BaseException:
            await _close(self._pipe)
            raise
        finally:
            if self._pipe is not None:
                self._pipe.handed_over()
        self._buffer.clear()
        self._lines.clear()
        self._tail.clear()
        self._scanned = 0
        self._stderr_done = anyio.Event()

    def _environment(self) -> Mapping[str, str]:
        if self._inherited is not None:
            return self._inherited
        # The SDK is slow to import, and a bridge to a process needs none of it.
        from mcp_anyera._sdk import get_default_environment  # noqa: PLC0415

        return get_default_environment()

    async def restart(self) -> None:
        """End the process, wait until it is gone, start it again.

        Raises:
            OSError: The command cannot be run any more.
        """
        await self._stop()
        await self._start()

    async def _stop(self) -> None:
        stdin, process = self._stdin, self._process
        self._pipe = self._process = None
        if process is None:
            return
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                # A server that is stuck writing could not see that its input ended.
                tasks.start_soon(_drain, process.stdout)
                await _close(stdin)
                await _end(process)
                tasks.cancel_scope.cancel()
            for stream in (process.stdout, process.stderr):
                await _close(stream)
            _close_transport(process)

    # -- messages ------------------------------------------------------------------

    def post(self, sent: ToServer) -> bool:
        """Write a message at once; ``False`` when it needs `send`.

        Raises:
            TypeError, ValueError, RecursionError: It cannot be written as JSON.
        """
        if self._pipe is None:
            return False
        try:
            return self._pipe.offer(_line(sent))
        except OSError:
            return True  # gone, which the reader notices

    async def send(self, messages: Sequence[ToServer]) -> None:
        """Write messages, one line each; a process that is gone is no error here."""
        stdin = self._stdin
        lines = b"".join(map(_line, messages))
        with suppress(*_GONE):
            if stdin is not None:
                await stdin.send(lines)

    @property
    def _stdin(self) -> Pipe | anyio.abc.ByteSendStream | None:
        process = self._process
        return self._pipe or (None if process is None else process.stdin)

    async def receive(self) -> object:
        """Return the next message, or `Malformed` for a line that is none.

        Raises:
            WireClosed: The process has closed its stdout.
        """
        while not self._lines:
            await self._fill()
        return from_json(self._lines.popleft())

    async def _fill(self) -> None:
        process = self._process
        if process is None or process.stdout is None:
            raise WireClosed("it was closed here")
        try:
            chunk = await process.stdout.receive()
        except (anyio.EndOfStream, *_GONE):
            raise WireClosed(await self._why(process)) from None
        self._buffer += chunk
        end = self._buffer.rfind(b"\n", self._scanned)
        self._scanned = len(self._buffer)
        if end >= 0:
            self._lines.extend(bytes(self._buffer[:end]).split(b"\n"))
            del self._buffer[: end + 1]
            self._scanned = len(self._buffer)
            self._lines = deque(line for line in self._lines if line.strip())

    # -- what goes on beside -------------------------------------------------------

    async def watch(self) -> None:
        """Copy stderr on, and notice the end of a process whose pipes stay open."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._copy_stderr)
            await self._notice_exit()

    async def _notice_exit(self) -> None:
        # A grandchild may have inherited the pipes, and then no end of file ever
        # comes; closing our end wakes whoever reads.
        process = self._process
        while process is not None and process.returncode is None:  # noqa: ASYNC110
            await anyio.sleep(_EXIT_POLL)
        await anyio.sleep(_EXIT_POLL)
        if process is not None:
            await _close(process.stdout)

    async def _copy_stderr(self) -> None:
        process, done = self._process, self._stderr_done
        try:
            while process is not None and process.stderr is not None:
                self._note(await process.stderr.receive())
        except (anyio.EndOfStream, *_GONE):
            pass
        finally:
            done.set()

    def _note(self, chunk: bytes) -> None:
        text = chunk.decode("utf-8", "replace")
        self._tail.extend(line for line in text.splitlines() if line.strip())
        errlog = sys.stderr if self._errlog is None else self._errlog
        with suppress(OSError, ValueError):
            errlog.write(text)
            errlog.flush()

    async def _why(self, process: anyio.abc.Process) -> str:
        # The last words and the status are worth a moment: they are what makes
        # the error useful, and the pipe may close before either is there.
        with anyio.move_on_after(0.5):
            await self._stderr_done.wait()
            await _exited(process, 0.5)
        status = process.returncode
        reason = "its stdout closed" if status is None else f"exit status {status}"
        shown = list(self._tail)[-_SHOWN_LINES:]
        return f"{reason}; stderr ends with: {' | '.join(shown)}" if shown else reason


def _pipe() -> Pipe | None:
    # The pipes of Windows cannot be written to without blocking.
    return None if sys.platform == "win32" else Pipe()


def _line(sent: ToServer) -> bytes:
    return to_json(sent.message).encode() + b"\n"


async def _end(process: anyio.abc.Process) -> None:
    if await _exited(process, LEAVE_TIMEOUT):
        return
    _signal(process, force=False)
    if not await _exited(process, TERM_TIMEOUT):
        _signal(process, force=True)
        await _exited(process, TERM_TIMEOUT)


async def _drain(stream: anyio.abc.ByteReceiveStream | None) -> None:
    with suppress(anyio.EndOfStream, *_GONE):
        while stream is not None:
            await stream.receive()


async def _close(stream: anyio.abc.AsyncResource | Pipe | None) -> None:
    if stream is not None:
        with suppress(*_GONE):
            await stream.aclose()


async def _exited(process: anyio.abc.Process, timeout: float) -> bool:
    # Polled, because wait() also waits for the pipes, and a grandchild that has
    # inherited them would make an ended server look alive.
    with anyio.move_on_after(timeout):
        while process.returncode is None:  # noqa: ASYNC110 - a process sets no event
            await anyio.sleep(_POLL)
    return process.returncode is not None


def _signal(process: anyio.abc.Process, *, force: bool) -> None:
    with suppress(OSError):
        if sys.platform == "win32":
            process.kill() if force else process.terminate()
        else:
            os.killpg(process.pid, signal.SIGKILL if force else signal.SIGTERM)


def _close_transport(process: anyio.abc.Process) -> None:
    # asyncio keeps the subprocess transport open while a grandchild holds a pipe,
    # and warns when it is collected; nothing public reaches it.
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        with suppress(PermissionError):
            transport.close()
