"""What the engine wants done, in the order in which it must be done.

Every input of the engine returns a list of these. The shell performs them from
first to last; nothing is left inside to be drained.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from mcp_anyera.engine.events import Event
    from mcp_anyera.engine.failures import Failure
    from mcp_anyera.engine.questions import Question

Message: TypeAlias = dict[str, Any]
"""One JSON-RPC message, as ``json.loads`` gives it."""


@dataclass(frozen=True, slots=True)
class ToServer:
    """Write one message to the server."""

    message: Message
    """What to write."""
    headers: dict[str, str] | None = None
    """Over HTTP: what its request must wear."""


@dataclass(frozen=True, slots=True)
class ToClient:
    """Give one message to the client side."""

    message: Message
    """What to hand over."""
    failure: Failure | None = None
    """Set when the message is an error made here and not by the server."""
    call: int | str | None = field(default=None, compare=False)
    """For a question: the id of the client side's request that it belongs to, where
    that is known."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Put a question to the callbacks; answer with `Engine.answer`."""

    question: Question
    """What to ask."""


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Stop asking: the answer is no longer wanted and would be dropped."""

    question: Question
    """What was asked."""
    reason: str
    """Why it is not wanted any more."""


@dataclass(frozen=True, slots=True)
class AbortLeg:
    """Close the HTTP exchange of one wire request (modern HTTP cancellation)."""

    wire_id: int | str
    """The id of the wire request."""


@dataclass(frozen=True, slots=True)
class RestartServer:
    """End the server process and start it again, then call `server_started`."""

    reason: str
    """Why, for the event."""


@dataclass(frozen=True, slots=True)
class FallBack:
    """Change to the HTTP+SSE transport of 2024-11-05, then call `server_started`."""

    reason: str
    """What the handshake was refused with."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something worth knowing happened; nothing has to be done about it."""

    event: Event
    """What has happened."""


Effect: TypeAlias = (
    ToServer | ToClient | Ask | Withdraw | AbortLeg | RestartServer | FallBack | Notice
)
