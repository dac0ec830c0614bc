"""Back-pressure: whoever is slow is waited for, and nothing piles up meanwhile.

A client that does not read stops the reading of the server and of its own requests;
a server that does not read stops the reading of the client.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

import anyio

from mcp_anyera.bridge.lines import LineReader
from mcp_anyera.engine import ToServer
from mcp_anyera.transports.wire import Traits, Wire

if TYPE_CHECKING:
    from mcp_anyera.memory import Identity

MakeWire: TypeAlias = Callable[[Callable[[], Awaitable[None]]], Wire]
"""Makes a wire, which waits for its argument before it reads more of a stream."""

MOST_UNSENT: Final = 2**20
"""Bytes of the client's that may wait for a server that does not read."""


class GatedWire:
    """A wire that is read while the client reads, and stops the client when full."""

    def __init__(self, make: MakeWire, reader: LineReader) -> None:
        """Stand before a wire.

        Args:
            make: Makes the wire.
            reader: What the client says, to be held when the server does not read.
        """
        self._open = anyio.Event()
        self._open.set()
        self._wire: Any = make(self._ready)
        self.traits: Traits = self._wire.traits
        self._reader = reader
        self._sending = False
        self._unsent = 0
        self._full = self._held = False

    @property
    def identity(self) -> Identity | None:
        """What a memory knows the server by."""
        return self._wire.identity

    def __getattr__(self, name: str) -> Any:
        """Return what the wire has."""
        return getattr(self._wire, name)

    async def __aenter__(self) -> Self:
        """Enter the wire."""
        await self._wire.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the wire."""
        await self._wire.__aexit__(exc_type, exc, traceback)

    async def _ready(self) -> None:
        # Waiting for what is there already would still be a turn of the loop.
        if not self._open.is_set():
            await self._open.wait()

    async def receive(self) -> object:
        """Return the next message, when the client has read those before."""
        await self._ready()
        return await self._wire.receive()

    def post(self, sent: ToServer) -> bool:
        """Send one message at once; ``False`` when it needs `send`."""
        return self._wire.post(sent)

    async def send(self, messages: Sequence[ToServer]) -> None:
        """Write messages, and let the client go on when they are written."""
        self._sending = True
        try:
            await self._wire.send(messages)
        finally:
            self._sending, self._unsent = False, 0
            self._hold()

    async def restart(self) -> None:
        """Start the server again."""
        await self._wire.restart()

    async def watch(self) -> None:
        """Look after the server."""
        await self._wire.watch()

    def attach(self, take: Callable[[object], None]) -> None:
        """Hand what arrives over at once."""
        self._wire.attach(take)

    # -- the client ------------------------------------------------------------------

    def said(self, size: int) -> None:
        """Note that the client has said so many bytes."""
        if self._sending:
            self._unsent += size
            self._hold()

    def unread(self, *, full: bool) -> None:
        """Note whether too much waits for the client."""
        if full == self._full:
            return
        self._full = full
        if full:
            self._open = anyio.Event()
        else:
            self._open.set()
        self._hold()

    def _hold(self) -> None:
        held = self._full or self._unsent > MOST_UNSENT
        if held != self._held:
            self._held = held
            if held:
                self._reader.pause()
            else:
                self._reader.resume()
