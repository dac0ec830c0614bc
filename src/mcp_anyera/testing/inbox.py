"""The stream that a client of a scripted server writes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import anyio
import anyio.lowlevel

from mcp_anyera._sdk import SessionMessage, from_session_message
from mcp_anyera.engine import Message


class Inbox:
    """What the client writes to."""

    def __init__(self, receive: Callable[[Message], None]) -> None:
        self._receive = receive
        self._open = True

    async def send(self, item: SessionMessage) -> None:
        """Take one message, and do all that it leads to."""
        if not self._open:
            raise anyio.ClosedResourceError
        self._receive(from_session_message(item))
        await anyio.lowlevel.checkpoint()

    def close(self) -> None:
        """Take nothing more."""
        self._open = False

    async def aclose(self) -> None:
        """Take nothing more."""
        self.close()
        await anyio.lowlevel.checkpoint()

    async def __aenter__(self) -> Self:
        """Return the stream."""
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """Close the stream."""
        await self.aclose()
