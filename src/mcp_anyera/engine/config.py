"""What a connection is told before it starts; nothing in here changes later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from mcp_anyera.eras import Era, era_of

PROBE_TIMEOUT: Final = 0.9
"""Seconds of patience with ``server/discover`` on a byte stream.

`mcp.Client` 2.3 waits 10 s, others 5 s. A mute server costs a user this long at
every connect, so it is short; a modern server that was only slow loses nothing,
because its late answer is still taken (`opening`).
"""

CONNECT_TIMEOUT: Final = 90.0
"""Seconds for the whole opening. Package runners and JVMs need 10 to 60 s."""

BLOCKED_TIMEOUT: Final = 15.0
"""Seconds for ``initialize`` after a probe that got no answer, before the process is
started again: the probe may have blocked it. Slow starters lose no more than this."""

RUNG_TIMEOUT: Final = 5.0
"""Seconds for each rung of the handshake ladder, where one is wanted."""

CHECK_TIMEOUT: Final = 5.0
"""Seconds for a server whose verdict is in doubt to show that it is modern."""

NO_BACK_CHANNEL: Final = ("legacy", "raise")
PROBE_ORDERS: Final = ("modern_first", "legacy_first")

MAX_ROUNDS: Final = 10
"""Rounds of one call; the TypeScript, Python and Go SDKs use the same figure."""

MAX_QUESTIONS: Final = 100
"""Questions of one call, over all its rounds and in either era."""

STATE_ONLY_BUDGET: Final = 300.0
"""Seconds that a server may keep a call waiting with nothing but ``requestState``."""


LOG_LEVELS: Final = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
"""Least severe first (2025-11-25 ``server/utilities/logging``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What is known of a server from an earlier connection."""

    era: Era
    """The era that it spoke."""
    revision: str
    """The revision that it spoke."""
    discover: dict[str, Any] | None = field(default=None, repr=False)
    """The ``DiscoverResult`` of a modern server."""
    patience: float | None = None
    """Seconds of patience with the probe that a slow server needs."""


class Face(Enum):
    """The protocol that the client side of the engine speaks."""

    LEGACY = "legacy"
    """Always 2025-11-25 or older, whatever the server is: a framework's session."""
    NATIVE = "native"
    """The server's own era: a session that can adopt what was negotiated."""


class Questions(Enum):
    """Who answers what the server asks."""

    CLIENT = "client"
    """The session on the client side, as direct requests that it knows."""
    SHELL = "shell"
    """Whoever runs the engine, through `Ask` and `Engine.answer`."""


class Exchange(Enum):
    """How a request travels, as far as cancelling it is concerned."""

    STREAM = "stream"
    """One channel for everything: cancelled by a notification."""
    HTTP = "http"
    """One exchange each: on a modern connection, cancelled by closing it."""


def _middle() -> float:
    return 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    """The rules of one connection. Times are seconds; ``None`` means unbounded."""

    target: str = "the server"
    """The server as errors name it; never with credentials."""
    mode: str = "auto"
    """``"auto"``, ``"legacy"`` (never probes), ``"modern"``, or a revision to pin."""
    face: Face = Face.LEGACY
    """What the client side speaks."""
    questions: Questions = Questions.CLIENT
    """Who is asked."""
    exchange: Exchange = Exchange.STREAM
    """How requests travel."""
    probe_timeout: float = PROBE_TIMEOUT
    """Patience with ``server/discover``."""
    connect_timeout: float | None = CONNECT_TIMEOUT
    """Limit for the whole opening."""
    probe: str = "modern_first"
    """``"modern_first"``, or ``"legacy_first"`` to shake hands before anything else."""
    handshake_ladder: bool = False
    """Whether a handshake that comes to nothing is tried at older revisions."""
    remembered: Remembered | None = None
    """What an earlier connection has found out; used in mode ``"auto"`` only."""
    blocked_timeout: float = BLOCKED_TIMEOUT
    """Patience with a handshake after a probe that may have blocked the server."""
    restart: bool = False
    """Whether a call starts a server again that has ended."""
    no_back_channel: str = "legacy"
    """What becomes of a call whose tool calls back on a modern connection: ``"legacy"``
    sends it again after a handshake, ``"raise"`` lets the error pass."""
    legacy_tools: frozenset[str] = frozenset()
    """Tools that are known to call back."""
    restartable: bool = False
    """Whether `RestartServer` can be performed."""
    sse_fallback: bool = False
    """Whether `FallBack` can be performed."""
    max_rounds: int = MAX_ROUNDS
    """How often one call may come back with questions."""
    max_questions: int = MAX_QUESTIONS
    """How many questions one call may ask, over all its rounds."""
    state_only_budget: float = STATE_ONLY_BUDGET
    """How long a server may keep a call waiting without a question."""
    log_level: str | None = None
    """The least severe log message that is wanted; ``None`` asks for none."""
    list_changes: bool = True
    """Whether someone on the client side cares about list changes."""
    prior_discover: dict[str, Any] | None = None
    """A ``DiscoverResult`` to start a pinned modern connection with, unprobed."""
    translate_missing_resource: bool = True
    """On a legacy face: a modern "no such resource" becomes the legacy -32002."""
    jitter: Callable[[], float] = _middle
    """Gives numbers in [0, 1) that spread retries; the engine itself has no dice."""
    prefix: str = "anyera"
    """Starts the ids that the engine invents, so that they are ours to see."""

    def __post_init__(self) -> None:
        """Refuse a mode, an order or a log level that names nothing."""
        _check("probe", self.probe, PROBE_ORDERS)
        _check("no_back_channel", self.no_back_channel, NO_BACK_CHANNEL)
        if self.log_level is not None and self.log_level not in LOG_LEVELS:
            known = ", ".join(LOG_LEVELS)
            msg = f"log_level must be one of {known}; got {self.log_level!r}"
            raise ValueError(msg)
        if self.mode not in {"auto", "legacy", "modern"} and era_of(self.mode) is None:
            msg = (
                f"mode must be 'auto', 'legacy', 'modern' or a protocol revision "
                f"such as '2026-07-28' or '2025-11-25'; got {self.mode!r}"
            )
            raise ValueError(msg)

    @property
    def probes(self) -> bool:
        """Whether the opening starts with ``server/discover``."""
        return self.mode in {"auto", "modern"}

    @property
    def only(self) -> Era | None:
        """The one era that is acceptable, or ``None`` when either is."""
        if self.mode == "auto":
            return None
        return (
            Era(self.mode) if self.mode in {"legacy", "modern"} else era_of(self.mode)
        )


def _check(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        msg = f"{name} must be {' or '.join(map(repr, known))}; got {value!r}"
        raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class CallOptions:
    """What the client side wants of one call."""

    read_timeout: float | None = None
    """Seconds of machine time; stands still while a question is open."""
    total_timeout: float | None = None
    """Seconds for everything, humans included."""


NO_OPTIONS: Final = CallOptions()
