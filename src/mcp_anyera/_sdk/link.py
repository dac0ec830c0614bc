"""What a session of either SDK line needs from the layer underneath it.

Both lines' sessions reduce to two verbs on plain dicts. That is the seam: on
2.x the session's ``dispatcher=`` parameter, on 1.x overrides of the session's
own ``send_request`` and ``send_notification``. Streams and message objects are
left out on both, and the caller's cancellation is seen where it happens.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Opened:
    """What the opening of a connection has found out."""

    revision: str
    initialize: dict[str, Any] = field(repr=False)
    """The ``InitializeResult``, real or synthesised."""
    discover: dict[str, Any] | None = field(default=None, repr=False)
    """The ``DiscoverResult`` of a modern server."""


class OnProgress(Protocol):
    """Is told of the progress of one request; the SDK's own shape."""

    def __call__(
        self, progress: float, total: float | None, message: str | None
    ) -> Awaitable[None]:
        """Take one report."""
        ...


class Link(Protocol):
    """A connection, as a session sees it."""

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        request_id: int | str | None = None,
    ) -> dict[str, Any]:
        """Send a request and wait for its result.

        Args:
            method: The JSON-RPC method.
            params: Its params, as JSON.
            timeout: Seconds of machine time; ``None`` takes the connection's.
            on_progress: Is told of the progress of this request.
            request_id: The id to use on the client side; one is made if omitted.

        Returns:
            The result object, as JSON.

        Raises:
            AnyEraError: The call failed here.
            Exception: The installed SDK's error, when the server sent one.
        """
        ...

    def notify(self, method: str, params: Mapping[str, Any] | None) -> None:
        """Send a notification; never waits."""
        ...
