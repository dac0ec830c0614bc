"""A transport of the SDK as a wire: its stream pair, its message objects."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import Any, Final, Self

import anyio

from mcp_anyera._sdk import SessionMessage, from_session_message, to_session_message
from mcp_anyera.engine import ToServer
from mcp_anyera.transports.wire import Malformed, Traits, WireClosed

_GONE: Final = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream)


class StreamsWire:
    """The read and write streams that a transport of the SDK yields."""

    identity = None
    """Where they lead cannot be seen."""

    def __init__(
        self,
        source: AbstractAsyncContextManager[Any] | Sequence[Any],
        *,
        legacy_only: bool = False,
    ) -> None:
        """Prepare the streams.

        Args:
            source: An SDK transport that was not entered yet, or what one
                yielded; members after the pair are kept in `extras`.
            legacy_only: Whether nothing but legacy can come through.
        """
        self.traits: Traits = Traits(legacy_only=legacy_only)
        self._source = source
        self._stack = AsyncExitStack()
        self._read: Any = None
        self._write: Any = None
        self.extras: tuple[Any, ...] = ()

    async def __aenter__(self) -> Self:
        """Enter the transport, if it was not entered yet."""
        source = self._source
        if isinstance(source, AbstractAsyncContextManager):
            source = await self._stack.enter_async_context(source)
        self._read, self._write, *extras = source
        self.extras = tuple(extras)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the streams, and leave the transport if it was entered here."""
        for stream in (self._write, self._read):
            await stream.aclose()
        await self._stack.__aexit__(exc_type, exc, traceback)

    def post(self, sent: ToServer) -> bool:
        """Refuse: a stream of the SDK may have to wait."""
        del sent
        return False

    async def send(self, messages: Sequence[ToServer]) -> None:
        """Write messages; a closed stream is no error here."""
        try:
            for sent in messages:
                await self._write.send(to_session_message(sent.message))
        except _GONE:
            return

    async def receive(self) -> object:
        """Return the next message, or `Malformed` for what the transport complains of.

        Raises:
            WireClosed: The stream has ended.
        """
        try:
            item: SessionMessage | Exception = await self._read.receive()
        except _GONE:
            raise WireClosed("the transport closed its stream") from None
        if isinstance(item, SessionMessage):
            return from_session_message(item)
        return Malformed(item)

    async def restart(self) -> None:
        """Refuse: a stream pair has no second life."""
        raise OSError("a pair of streams cannot be started again")

    async def watch(self) -> None:
        """Do nothing: the transport sees to it."""
