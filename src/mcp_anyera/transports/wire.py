"""A channel for plain JSON-RPC messages, whatever carries them."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol


class WireClosed(Exception):  # noqa: N818 - an event, not a mistake
    """Nothing more will come; the text says why."""


class Malformed:
    """Something arrived that is no JSON-RPC message."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        """Keep what the reader said about it."""
        self.error = error


class Wire(Protocol):
    """One connection to one server."""

    restartable: bool
    """Whether `restart` can give a fresh server."""

    async def __aenter__(self) -> object:
        """Start the server, or take hold of it.

        Raises:
            OSError: It cannot be started.
        """
        ...

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        """End the server politely, in bounded time.

        A transport of the SDK has a task group around it, so nothing that opens
        a scope may be between the two.
        """
        ...

    async def send(self, messages: Sequence[dict[str, Any]]) -> None:
        """Write messages in order; a server that is gone is no error here."""
        ...

    async def receive(self) -> object:
        """Return the next message, or `Malformed`.

        Raises:
            WireClosed: The server is gone.
        """
        ...

    async def restart(self) -> None:
        """End the server and start it again; never two at once.

        Raises:
            OSError: It cannot be started.
        """
        ...

    async def watch(self) -> None:
        """Look after what `receive` does not see, while the server runs."""
        ...
