"""What happened on a connection, as typed values.

Events never contain answers, ``requestState`` or credentials.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_anyera.eras import Era

if TYPE_CHECKING:
    from mcp_anyera.engine.questions import CallInfo


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was tried while connecting."""

    what: str
    """Such as ``"server/discover at 2026-07-28"``."""
    outcome: str
    """What came of it, in words."""
    seconds: float
    """How long it took."""

    def __str__(self) -> str:
        """Render as one clause of a sentence."""
        return f"{self.what}: {self.outcome}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What detection concluded about a server, and why."""

    era: Era
    """The era that is spoken."""
    revision: str
    """The revision that is spoken."""
    evidence: tuple[Step, ...]
    """What was tried, in order."""
    discover: dict[str, Any] | None = field(default=None, repr=False)
    """The ``DiscoverResult`` of a modern server, as it came."""
    initialize: dict[str, Any] | None = field(default=None, repr=False)
    """The ``InitializeResult`` of a legacy server, as it came."""


@dataclass(frozen=True, slots=True)
class Connected:
    """The opening is over and the era is known."""

    verdict: Verdict
    """What was found, and how."""


@dataclass(frozen=True, slots=True)
class Restarted:
    """The server process was ended and started again."""

    reason: str
    """Why that was necessary."""


@dataclass(frozen=True, slots=True)
class RoundBegun:
    """The server answered a call with questions, or with nothing but its state."""

    method: str
    """The method of the call."""
    number: int
    """1 for the first; state-only legs do not count."""
    kinds: tuple[str, ...]
    """The methods of the questions; empty for a state-only leg."""


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A callback was called for a question."""

    method: str
    """What is asked, such as ``"elicitation/create"``."""
    call: CallInfo | None
    """The call that it belongs to, where the wire can say."""
    round: int
    """1 for the first round of a call; 0 for a direct request."""


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """A callback has come to its end."""

    method: str
    """What was asked."""
    call: CallInfo | None
    """The call that it belonged to, where the wire could say."""
    outcome: str
    """``"accept"``, ``"decline"`` or ``"cancel"`` for an elicitation, ``"answered"``
    for the others; ``"refused"`` for an error, ``"withdrawn"`` when it was too late."""
    seconds: float
    """How long it took, a second ask included."""


@dataclass(frozen=True, slots=True)
class NoLogLevel:
    """A logging callback will hear nothing: a modern server waits for a level."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A question was answered without asking anybody."""

    method: str
    """What was asked."""
    reason: str
    """Why nobody was."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A message went no further."""

    what: str
    """The message, in a few words; never its content."""
    reason: str
    """Why."""


@dataclass(frozen=True, slots=True)
class FellBack:
    """The old HTTP+SSE transport is tried, since a plain handshake was refused."""

    reason: str
    """What the handshake was refused with."""


@dataclass(frozen=True, slots=True)
class Reopened:
    """The server had lost the session or changed its era, and is opened again.

    `Connected` follows when that has worked; calls that the server had refused
    are then sent again.
    """

    reason: str
    """What the server has lost, or become."""


@dataclass(frozen=True, slots=True)
class AnsweredLate:
    """A server that serves legacy now has answered the probe after all.

    It is dual-era and was only slow; with more patience it is met as modern.
    """

    seconds: float
    """How long its answer took."""


@dataclass(frozen=True, slots=True)
class Mistaken:
    """What was known of a server from before is not true any more."""

    reason: str
    """What is not true."""


@dataclass(frozen=True, slots=True)
class Downgraded:
    """A server that said it was modern is met as legacy from now on."""

    reason: str
    """What it has refused, or which tool needs it."""
    tool: str | None = None
    """The tool that needs it, when it is for the sake of one that calls back."""


@dataclass(frozen=True, slots=True)
class ToolHidden:
    """A tool was left out of a list, since its header annotations are invalid."""

    name: str
    """The name of the tool."""
    reason: str
    """What is wrong with its annotations."""


@dataclass(frozen=True, slots=True)
class ListenEnded:
    """A ``subscriptions/listen`` stream is over."""

    reason: str
    """Who has ended it, and why."""
    retry_in: float | None
    """Seconds until it is opened again; ``None`` when it is given up."""


Event: TypeAlias = (
    Connected
    | Restarted
    | FellBack
    | Reopened
    | AnsweredLate
    | Mistaken
    | Downgraded
    | RoundBegun
    | QuestionAsked
    | QuestionAnswered
    | NoLogLevel
    | Refused
    | Dropped
    | ToolHidden
    | ListenEnded
)
