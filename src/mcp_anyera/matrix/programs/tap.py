"""Stand between a client and a stdio server, and write down what passes.

Usage: ``python tap.py FILE COMMAND...``. Needs the standard library only. Lines pass
as they are; each is written to the file as ``{"t": time, "d": direction, "m": line}``
with ``"out"`` for what the client says. It ends when the server does, with the same
status, and takes the server along when it is ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

LEAVES_WITHIN = 5.0
"""Seconds in which a server must end after its client has gone."""
_lock = threading.Lock()


def main(path: str, *command: str) -> int:
    """Run the server between two pipes."""
    with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123 - starts at once
        server = subprocess.Popen(  # noqa: S603 - the command is the user's own
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        write(file, "note", {"text": "process started"}, pid=server.pid)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: server.terminate())
        up = threading.Thread(target=pump_up, args=(server, file), daemon=True)
        up.start()
        pump(server.stdout, sys.stdout.buffer, file, "in")
        status = server.wait()
        write(file, "note", {"text": f"process ended with status {status}"})
        return status


def pump_up(server: Any, file: Any) -> None:
    """Pass on what the client says, and its end."""
    pump(sys.stdin.buffer, server.stdin, file, "out")
    try:
        server.stdin.close()
        server.wait(LEAVES_WITHIN)
    except OSError:
        return
    except subprocess.TimeoutExpired:
        server.kill()


def pump(source: Any, sink: Any, file: Any, direction: str) -> None:
    """Pass on line by line."""
    for line in iter(source.readline, b""):
        write(file, direction, parsed(line))
        try:
            sink.write(line)
            sink.flush()
        except (OSError, ValueError):
            return


def parsed(line: bytes) -> Any:
    """Return a line as JSON, or as the text that it is."""
    try:
        return json.loads(line)
    except ValueError:
        return {"text": line.decode("utf-8", "replace")}


def write(file: Any, direction: str, message: Any, **more: Any) -> None:
    """Write down one line."""
    entry = {"t": time.monotonic(), "d": direction, "m": message, **more}
    with _lock:
        file.write(json.dumps(entry) + "\n")
        file.flush()


if __name__ == "__main__":
    _status = main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(_status & 0xFF)
