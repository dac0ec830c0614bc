"""Multi round-trip requests: a call that is answered with questions, and retried.

The rules (2026-07-28 ``basic/patterns/mrtr``):

* three methods may ask, three things may be asked;
* the retry is the original request with the newest answers and, byte for byte,
  the newest ``requestState``; older ones live in that state and are not sent;
* one refusal ends the call, since the wire has no way to say it;
* a result that carries only a state asks for patience, and gets more of it
  from time to time until the budget is used up.

This module reads an ``InputRequiredResult`` and keeps the state of one call;
`asking` decides what happens with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from mcp_anyera.engine import jsonrpc
from mcp_anyera.engine.config import Questions
from mcp_anyera.engine.effects import ToClient, Withdraw
from mcp_anyera.engine.questions import Question
from mcp_anyera.engine.registry import QUESTION_METHODS, ROUND_METHODS
from mcp_anyera.engine.repeats import Repeats

if TYPE_CHECKING:
    from mcp_anyera.engine.context import Context

FIRST_DELAY: Final = 0.05
"""Seconds before the second state-only retry; the first goes out at once."""
GROWTH: Final = 1.5
LONGEST_DELAY: Final = 5.0


@dataclass(frozen=True, slots=True)
class InputRequired:
    """A valid ``InputRequiredResult``."""

    requests: dict[str, dict[str, Any]] | None
    """``None`` when the member is absent, which is not the same as empty."""
    state: str | None = field(repr=False)


@dataclass(slots=True)
class Rounds:
    """How far the rounds of one call have got."""

    number: int = 0
    asked: int = 0
    """Questions so far, over all rounds."""
    newest: InputRequired | None = None
    open: dict[str, Question] = field(default_factory=dict[str, Question])
    """Questions without an answer, by their id."""
    answers: dict[str, dict[str, Any]] = field(
        default_factory=dict[str, dict[str, Any]]
    )
    repeats: Repeats = field(default_factory=Repeats)
    waits: int = 0
    """State-only legs in a row."""
    waiting_since: float = 0.0
    required: dict[str, Any] | None = None
    """The error -32042 that the round came from, on a legacy wire."""
    agreed: set[str] = field(default_factory=set[str])
    """URLs that were agreed to in this call."""

    def withdraw(self, ctx: Context, reason: str) -> None:
        """Take back every question that is still open."""
        for question in self.open.values():
            withdraw(ctx, question, reason)
        self.open.clear()

    def next_delay(self, jitter: float) -> float:
        """Return the seconds until the next state-only retry."""
        if self.waits <= 1:
            return 0.0
        delay = min(LONGEST_DELAY, FIRST_DELAY * GROWTH ** min(self.waits - 2, 30))
        return delay * (0.75 + jitter / 2)

    def retry_params(self, params: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the params of the next leg."""
        retry = {
            key: value
            for key, value in (params or {}).items()
            if key not in {"inputResponses", "requestState"}
        }
        if self.newest is not None and self.newest.requests is not None:
            retry["inputResponses"] = self.answers
        if self.newest is not None and self.newest.state is not None:
            retry["requestState"] = self.newest.state
        return retry


def withdraw(ctx: Context, question: Question, reason: str) -> None:
    """Take back one question that was passed on."""
    if ctx.config.questions is Questions.SHELL:
        ctx.out.append(Withdraw(question, reason))
        return
    params = {"requestId": question.id, "reason": reason}
    ctx.out.append(ToClient(jsonrpc.notification("notifications/cancelled", params)))


def parse(method: str, result: Mapping[str, Any]) -> InputRequired | str:
    """Read an ``InputRequiredResult``.

    Args:
        method: The method that it answers.
        result: The result object of the response.

    Returns:
        The parsed result, or a phrase that names what is wrong with it.
    """
    if method not in ROUND_METHODS:
        return f"{method} may not be answered with questions"
    requests, state = result.get("inputRequests"), result.get("requestState")
    if requests is None and state is None:
        return "it has neither inputRequests nor requestState"
    if not (state is None or isinstance(state, str)):
        return "its requestState is not a string"
    if requests is None:
        return InputRequired(None, state)
    if not jsonrpc.is_object(requests):
        return "its inputRequests are not an object"
    fault = next(filter(None, map(_fault, requests.items())), None)
    return fault or InputRequired(requests, state)


def _fault(entry: tuple[str, Any]) -> str | None:
    key, request = entry
    if not jsonrpc.is_object(request):
        return f"its question {key!r} is not an object"
    method = request.get("method")
    if not isinstance(method, str) or method not in QUESTION_METHODS:
        return f"its question {key!r} has the unknown method {str(method)[:80]!r}"
    params = request.get("params")
    if params is None and method == "roots/list":
        return None
    return (
        None
        if jsonrpc.is_object(params)
        else f"the params of question {key!r} are not an object"
    )


def kinds_of(requests: Mapping[str, dict[str, Any]]) -> tuple[str, ...]:
    """Return the methods of the questions, in the server's order."""
    return tuple(cast("str", request["method"]) for request in requests.values())
