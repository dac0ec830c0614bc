"""Method × direction × era: what happens to a message, and where that is written.

This table is the only place that names a method to decide its way. `core` looks
a message up and calls the handler; the documentation prints the table. What is
not listed is forwarded, so that tomorrow's methods survive today's layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from mcp_anyera.eras import Era


class Direction(Enum):
    """Who sends a message, and whether it wants an answer."""

    CLIENT_REQUEST = "client → server request"
    CLIENT_NOTIFICATION = "client → server notification"
    SERVER_REQUEST = "server → client request"
    SERVER_NOTIFICATION = "server → client notification"


class Action(Enum):
    """What the layer does with it."""

    FORWARD = "forward"
    REWRITE = "rewrite"
    ANSWER = "answer here"
    CONSUME = "consume"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: the action, the handler that performs it, the reason."""

    action: Action
    handler: str
    """Name of the handler in `client_side` or `server_side`."""
    how: str
    """One clause for the documentation table."""
    spec: str
    """Revision and page of the specification."""


_F, _R, _A, _C, _X = Action
_26 = "2026-07-28 "
_25 = "2025-11-25 "

_STAMPED = "stamped with `_meta`; result types and cache hints removed"
_ROUNDS = "stamped; `InputRequiredResult` becomes questions and a retry"
_PUSH = "subscription id removed; what no subscription of ours asked for is dropped"

ROUND_METHODS: Final = frozenset({"tools/call", "prompts/get", "resources/read"})
"""What may be answered with questions (2026-07-28 ``basic/patterns/mrtr``)."""

QUESTION_METHODS: Final = frozenset(
    {"elicitation/create", "sampling/createMessage", "roots/list"}
)
"""The only things that a server may ask, in either era."""

_MODERN: Final[dict[Direction, dict[str, Rule]]] = {
    Direction.CLIENT_REQUEST: {
        "initialize": Rule(
            _A,
            "initialize",
            "answered from `server/discover`",
            _26 + "basic/versioning",
        ),
        "ping": Rule(
            _A, "ping", "`{}` from here; modern servers have no ping", _26 + "changelog"
        ),
        "server/discover": Rule(
            _F,
            "discover",
            "forwarded on a native face, else unknown",
            _26 + "server/discover",
        ),
        "tools/list": Rule(_R, "call", _STAMPED, _26 + "server/tools"),
        "prompts/list": Rule(_R, "call", _STAMPED, _26 + "server/prompts"),
        "resources/list": Rule(_R, "call", _STAMPED, _26 + "server/resources"),
        "resources/templates/list": Rule(
            _R, "call", _STAMPED, _26 + "server/resources"
        ),
        "completion/complete": Rule(
            _R, "call", _STAMPED, _26 + "server/utilities/completion"
        ),
        "tools/call": Rule(_R, "call", _ROUNDS, _26 + "basic/patterns/mrtr"),
        "prompts/get": Rule(_R, "call", _ROUNDS, _26 + "basic/patterns/mrtr"),
        "resources/read": Rule(_R, "call", _ROUNDS, _26 + "basic/patterns/mrtr"),
        "logging/setLevel": Rule(
            _A,
            "set_level",
            "kept, and stamped on every later request",
            _26 + "server/utilities/logging",
        ),
        "resources/subscribe": Rule(
            _A,
            "subscribe",
            "`subscriptions/listen`, answered after its acknowledgement",
            _26 + "basic/patterns/subscriptions",
        ),
        "resources/unsubscribe": Rule(
            _A,
            "unsubscribe",
            "a new `subscriptions/listen` without the URI",
            _26 + "basic/patterns/subscriptions",
        ),
        "subscriptions/listen": Rule(
            _R,
            "call",
            "forwarded under an id of ours",
            _26 + "basic/patterns/subscriptions",
        ),
    },
    Direction.CLIENT_NOTIFICATION: {
        "notifications/initialized": Rule(
            _C,
            "initialized",
            "opens the listen stream for list changes",
            _26 + "basic/patterns/subscriptions",
        ),
        "notifications/cancelled": Rule(
            _R,
            "cancel",
            "names the leg in flight; closes the exchange on HTTP",
            _26 + "basic/patterns/cancellation",
        ),
        "notifications/progress": Rule(
            _C, "consume", "progress goes one way only", _26 + "basic/patterns/progress"
        ),
        "notifications/roots/list_changed": Rule(
            _C,
            "consume",
            "roots are asked for when they are needed",
            _26 + "client/roots",
        ),
    },
    Direction.SERVER_REQUEST: {},
    Direction.SERVER_NOTIFICATION: {
        "notifications/progress": Rule(
            _R,
            "progress",
            "one rising series over all rounds",
            _26 + "basic/patterns/progress",
        ),
        "notifications/message": Rule(
            _R,
            "log",
            "filtered by the level that was asked for",
            _26 + "server/utilities/logging",
        ),
        "notifications/cancelled": Rule(
            _C,
            "listen_cancelled",
            "ends a listen stream",
            _26 + "basic/patterns/cancellation",
        ),
        "notifications/subscriptions/acknowledged": Rule(
            _C,
            "acknowledged",
            "opens a listen stream",
            _26 + "basic/patterns/subscriptions",
        ),
        "notifications/tools/list_changed": Rule(
            _R, "change", _PUSH, _26 + "basic/patterns/subscriptions"
        ),
        "notifications/prompts/list_changed": Rule(
            _R, "change", _PUSH, _26 + "basic/patterns/subscriptions"
        ),
        "notifications/resources/list_changed": Rule(
            _R, "change", _PUSH, _26 + "basic/patterns/subscriptions"
        ),
        "notifications/resources/updated": Rule(
            _R, "change", _PUSH, _26 + "basic/patterns/subscriptions"
        ),
    },
}

_LEGACY: Final[dict[Direction, dict[str, Rule]]] = {
    Direction.CLIENT_REQUEST: {
        "initialize": Rule(
            _A,
            "initialize",
            "sent once by us, answered with the server's result",
            _25 + "basic/lifecycle",
        ),
        "server/discover": Rule(
            _X,
            "discover",
            "unknown method, as a legacy server says",
            _26 + "basic/versioning",
        ),
        "logging/setLevel": Rule(
            _F,
            "set_level",
            "forwarded; also filters here",
            _25 + "server/utilities/logging",
        ),
    },
    Direction.CLIENT_NOTIFICATION: {
        "notifications/initialized": Rule(
            _F,
            "initialized",
            "followed by `logging/setLevel` where a level is wanted",
            _25 + "basic/lifecycle",
        ),
        "notifications/cancelled": Rule(
            _R, "cancel", "names the wire request", _25 + "basic/utilities/cancellation"
        ),
    },
    Direction.SERVER_REQUEST: {
        "ping": Rule(_A, "server_ping", "`{}` from here", _25 + "basic/utilities/ping"),
        "elicitation/create": Rule(
            _F, "question", "a question", _25 + "client/elicitation"
        ),
        "sampling/createMessage": Rule(
            _F, "question", "a question", _25 + "client/sampling"
        ),
        "roots/list": Rule(_F, "question", "a question", _25 + "client/roots"),
    },
    Direction.SERVER_NOTIFICATION: {
        "notifications/progress": Rule(
            _F,
            "progress",
            "also restarts the clock of the call",
            _25 + "basic/utilities/progress",
        ),
        "notifications/message": Rule(
            _F,
            "log",
            "filtered by the level that was asked for",
            _25 + "server/utilities/logging",
        ),
        "notifications/cancelled": Rule(
            _R,
            "withdrawn",
            "withdraws the question it names",
            _25 + "basic/utilities/cancellation",
        ),
        "notifications/elicitation/complete": Rule(
            _F,
            "page_visited",
            "also sends a call again that waits for the page",
            _25 + "client/elicitation",
        ),
    },
}

_ERAS: Final = {Era.LEGACY: _LEGACY, Era.MODERN: _MODERN}

_UNKNOWN: Final = {
    Direction.CLIENT_REQUEST: Rule(_F, "call", "forwarded (stamped on modern)", "–"),
    Direction.CLIENT_NOTIFICATION: Rule(_F, "forward_to_server", "forwarded", "–"),
    Direction.SERVER_REQUEST: Rule(
        _F, "unknown_question", "the client side decides", "–"
    ),
    Direction.SERVER_NOTIFICATION: Rule(_F, "forward_to_client", "forwarded", "–"),
}

_MODERN_SERVER_REQUEST: Final = Rule(
    _X,
    "violation",
    "dropped: a modern server never asks directly",
    _26 + "basic/patterns",
)


def lookup(direction: Direction, era: Era, method: str) -> Rule:
    """Return the rule for one method; never fails.

    Args:
        direction: Who sends it, and whether it is a request.
        era: The era of the wire that it goes to or comes from.
        method: The JSON-RPC method.

    Returns:
        The row of the table, or the default for methods that are not in it.
    """
    rule = _ERAS[era][direction].get(method)
    if rule is not None:
        return rule
    if direction is Direction.SERVER_REQUEST and era is Era.MODERN:
        return _MODERN_SERVER_REQUEST
    return _UNKNOWN[direction]


def rows() -> list[tuple[Direction, str, Era, Rule]]:
    """Return the whole table, for documentation and for tests."""
    return [
        (direction, method, era, rule)
        for direction in Direction
        for era in Era
        for method, rule in _ERAS[era][direction].items()
    ]
