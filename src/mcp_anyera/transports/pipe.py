"""The stdin of a server process, written to without a detour.

The event loop's own stream costs two turns of the loop for each message. A line of
ordinary length fits into the pipe at once, and then writing it is one system call.
"""

from __future__ import annotations

import os
import select
from typing import Final

import anyio
import anyio.lowlevel

WHOLE: Final = getattr(select, "PIPE_BUF", 512)
"""Bytes that a pipe takes as a whole or not at all (POSIX ``write``)."""


class Pipe:
    """A pipe to a process that is about to start; POSIX only."""

    def __init__(self) -> None:
        """Make the pipe.

        Raises:
            OSError: This process has too many files open.
        """
        self.outlet: int
        """The end that the process reads."""
        self.outlet, self._fd = os.pipe()
        os.set_blocking(self._fd, False)
        self._writing = False
        self._closed = False

    def handed_over(self) -> None:
        """Let go of the end that the process reads; it has its own copy, or none."""
        os.close(self.outlet)

    def offer(self, data: bytes) -> bool:
        """Write at once; ``False``, with nothing written, when it would have to wait.

        Raises:
            OSError: Nobody reads any more.
        """
        if self._closed or self._writing or len(data) > WHOLE:
            return False
        try:
            os.write(self._fd, data)
        except BlockingIOError:
            return False
        return True

    async def send(self, data: bytes) -> None:
        """Write everything, and wait while the pipe is full.

        Raises:
            OSError: Nobody reads any more.
            anyio.ClosedResourceError: It was closed here.
        """
        self._writing = True
        try:
            await self._send(memoryview(data))
        finally:
            self._writing = False

    async def _send(self, rest: memoryview) -> None:
        while rest:
            if self._closed:
                raise anyio.ClosedResourceError
            try:
                rest = rest[os.write(self._fd, rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._fd)

    async def aclose(self) -> None:
        """Close it; whoever waits to write is told."""
        if not self._closed:
            self._closed = True
            anyio.notify_closing(self._fd)
            os.close(self._fd)
        await anyio.lowlevel.checkpoint()
