"""Lines of a client on stdin and stdout, without a thread where the system allows.

A pipe or a socket is read and written by the loop itself; what it cannot watch, such
as a terminal, a file or a pipe on Windows, has a thread. Nothing waits: a client that
does not read makes the buffer grow, and whoever fills it is asked to stop.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, cast

MOST_UNREAD: Final = 2**20
"""Bytes that may wait for the client before everything else waits for it too."""
_CHUNK: Final = 2**16


class LineReader(asyncio.Protocol):
    """Cuts what comes from a file descriptor into lines."""

    def __init__(
        self, descriptor: int, take: Callable[[bytes], None], ended: Callable[[], None]
    ) -> None:
        """Prepare.

        Args:
            descriptor: What to read from.
            take: Takes each line that has something in it, without its end.
            ended: Is called when nothing more will come.
        """
        self._descriptor = descriptor
        self._take = take
        self._ended = ended
        self._parts: list[bytes] = []
        self._transport: Any = None
        self._going_on = threading.Event()
        self._going_on.set()

    async def start(self) -> None:
        """Begin to read."""
        loop = asyncio.get_running_loop()
        if _watchable(self._descriptor):
            pipe = os.fdopen(self._descriptor, "rb", buffering=0, closefd=False)
            self._transport, _ = await loop.connect_read_pipe(lambda: self, pipe)
        else:
            thread = threading.Thread(target=self._read, args=(_Loop(),), daemon=True)
            thread.start()

    def pause(self) -> None:
        """Read no more for the time being."""
        self._going_on.clear()
        if self._transport is not None:
            self._transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        self._going_on.set()
        if self._transport is not None:
            self._transport.resume_reading()

    def close(self) -> None:
        """Read no more."""
        self._take = _nothing
        if self._transport is not None:
            self._transport.close()

    # -- the loop's side -------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take bytes, cut anywhere."""
        if b"\n" not in data:
            self._parts.append(data)
            return
        first, *lines = data.split(b"\n")
        self._parts.append(first)
        lines.insert(0, b"".join(self._parts))
        self._parts = [last] if (last := lines.pop()) else []
        for line in lines:
            if line.strip():
                self._take(line)

    def eof_received(self) -> None:
        """Take the last line, whose end may be missing."""
        self.data_received(b"\n")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - fixed
        """Tell that nothing more will come."""
        self._ended()

    # -- the thread's side -----------------------------------------------------------

    def _read(self, loop: _Loop) -> None:
        with suppress(OSError):
            while data := os.read(self._descriptor, _CHUNK):
                self._going_on.wait()
                loop.call(self.data_received, data)
        loop.call(self.eof_received)
        loop.call(self._ended)


class LineWriter(asyncio.Protocol):
    """Writes to a file descriptor, and knows how much is still on its way."""

    def __init__(
        self,
        descriptor: int,
        full: Callable[[bool], None],
        ended: Callable[[], None],
    ) -> None:
        """Prepare.

        Args:
            descriptor: What to write to.
            full: Is told when too much waits for the reader, and when no longer.
            ended: Is called when nobody reads any more.
        """
        self._descriptor = descriptor
        self._full = full
        self._ended = ended
        self._transport: Any = None
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._waiting = 0
        self._lost = False
        self._idle = asyncio.Event()
        self._idle.set()

    async def start(self) -> None:
        """Get ready to write."""
        loop = asyncio.get_running_loop()
        if _watchable(self._descriptor):
            pipe = os.fdopen(self._descriptor, "wb", buffering=0, closefd=False)
            made = await loop.connect_write_pipe(lambda: self, pipe)
            self._transport = cast("Any", made[0])
            self._transport.set_write_buffer_limits(MOST_UNREAD)
        else:
            thread = threading.Thread(target=self._write, args=(_Loop(),), daemon=True)
            thread.start()

    def write(self, data: bytes) -> None:
        """Send bytes on their way; they are dropped when nobody reads any more."""
        if self._lost:
            return
        if self._transport is not None:
            self._transport.write(data)
            return
        self._waiting += len(data)
        self._idle.clear()
        if self._waiting > MOST_UNREAD:
            self._full(True)  # noqa: FBT003 - the callback has one argument
        self._queue.put(data)

    async def drain(self, seconds: float) -> None:
        """Wait until all is written, for a bounded time."""
        try:
            async with asyncio.timeout(seconds):
                if self._transport is None:
                    await self._idle.wait()
                while self._unwritten():  # noqa: ASYNC110 - a transport tells nobody
                    await asyncio.sleep(0.005)
        except TimeoutError:
            return

    def _unwritten(self) -> bool:
        if self._transport is None or self._lost:
            return False
        return self._transport.get_write_buffer_size() > 0

    def close(self) -> None:
        """Write no more."""
        self._queue.put(None)
        if self._transport is not None and not self._lost:
            self._transport.abort()

    # -- the loop's side -------------------------------------------------------------

    def pause_writing(self) -> None:
        """Tell that too much waits."""
        self._full(True)  # noqa: FBT003 - the callback has one argument

    def resume_writing(self) -> None:
        """Tell that little waits."""
        self._full(False)  # noqa: FBT003 - the same

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - fixed
        """Tell that nobody reads."""
        self._lost = True
        self._ended()

    def _written(self, size: int) -> None:
        self._waiting -= size
        if not self._waiting:
            self._idle.set()
            self._full(False)  # noqa: FBT003 - the same

    # -- the thread's side -----------------------------------------------------------

    def _write(self, loop: _Loop) -> None:
        try:
            while (data := self._queue.get()) is not None:
                left = memoryview(data)
                while left:
                    left = left[os.write(self._descriptor, left) :]
                loop.call(self._written, len(data))
        except OSError:
            loop.call(self._ended)


def _watchable(descriptor: int) -> bool:
    # A terminal is shared with the shell, which must not find it changed.
    if sys.platform == "win32":
        return False
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class _Loop:
    """The loop as a thread sees it: a place to have things called."""

    def __init__(self) -> None:
        """Remember the loop that runs, and the context that it runs in."""
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()

    def call(self, function: Callable[..., None], *arguments: Any) -> None:
        """Have something called; nothing happens when the loop has ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *arguments, context=self._context)


def _nothing(_line: bytes) -> None:
    """Take a line that came too late."""
