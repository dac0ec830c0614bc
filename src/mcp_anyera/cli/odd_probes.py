"""What is odd about a server's answer to ``server/discover``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_anyera.cli.examining import Examined
from mcp_anyera.cli.oddity import NOTE, WARNING, Oddity, Rule
from mcp_anyera.cli.tap import Exchanged
from mcp_anyera.engine import Restarted
from mcp_anyera.engine.exchanges import AUTHORIZATION
from mcp_anyera.engine.failures import METHOD_NOT_FOUND, UNSUPPORTED_VERSION
from mcp_anyera.engine.jsonrpc import is_error, is_object
from mcp_anyera.eras import Era

PROBE: Final = "server/discover"
_CLIP: Final = 120


def _probe_error(found: Examined) -> Iterator[Oddity]:
    for one in found.asked(PROBE):
        error = _error_of(one)
        if error is None or error["code"] in {METHOD_NOT_FOUND, UNSUPPORTED_VERSION}:
            continue
        yield Oddity(
            "probe-error",
            NOTE,
            f"server/discover was answered with error {error['code']}: "
            f"{_clipped(error.get('message'))}",
            "A server that does not know a method should say -32601. Clients that "
            "wait for exactly that code give up here; any error will do for this one.",
            "Nothing, to use it from here. Its author can answer unknown methods "
            "with -32601, also before initialize.",
        )


def _probe_status(found: Examined) -> Iterator[Oddity]:
    for one in found.asked(PROBE):
        fault = one.fault
        if fault is None or fault.error is not None or fault.http.status is None:
            continue
        yield Oddity(
            "probe-status",
            NOTE,
            f"server/discover was answered with {fault.reason}, and no JSON-RPC error",
            "The server, or a gateway before it, refuses what it does not know "
            "without saying why.",
            "Nothing, if it is reachable. Else look at the gateway: it has to let "
            "POST requests with an MCP-Protocol-Version header through.",
        )


def _probe_result(found: Examined) -> Iterator[Oddity]:
    for one in found.asked(PROBE):
        result = (one.reply or {}).get("result")
        if one.reply is None or "error" in one.reply:
            continue
        if is_object(result) and _is_texts(result.get("supportedVersions")):
            continue
        yield Oddity(
            "probe-result",
            WARNING,
            "server/discover was answered with a result that has no supportedVersions",
            "It answers any method with something. Clients may take it for modern.",
            "Its author should answer unknown methods with error -32601.",
        )


def _probe_silent(found: Examined) -> Iterator[Oddity]:
    silent = [one for one in found.asked(PROBE) if one.seconds is None]
    if silent and found.verdict is not None and not _restarts(found):
        yield Oddity(
            "probe-silent",
            WARNING,
            f"server/discover was never answered; {_patience(found)} were lost",
            "The server ignores what it does not know, so every connect waits that "
            "long before it goes on.",
            "Use mode='legacy' (--mode legacy), which does not ask, or a smaller "
            "probe timeout.",
        )


def _patience(found: Examined) -> str:
    evidence = () if found.verdict is None else found.verdict.evidence
    lost = sum(step.seconds for step in evidence if step.what == PROBE)
    return f"{lost:.1f} s"


def _probe_late(found: Examined) -> Iterator[Oddity]:
    opened = found.asked("initialize")
    for one in found.asked(PROBE):
        answered = None if one.seconds is None else one.sent + one.seconds
        if answered is None or not opened or answered <= opened[0].sent:
            continue
        modern = found.verdict is not None and found.verdict.era is Era.MODERN
        yield Oddity(
            "probe-late",
            WARNING,
            f"server/discover was answered after {one.seconds:.1f} s, when "
            "initialize was on its way",
            "The server starts slowly. "
            + (
                "Clients that do not wait for it take it for legacy or broken."
                if modern
                else "It is legacy, and every connect waits for an answer first."
            ),
            f"Use {_mode(modern)}, or "
            + ("a larger" if modern else "another")
            + " probe timeout.",
        )


def _mode(modern: bool) -> str:  # noqa: FBT001 - one word for the other
    name = "modern" if modern else "legacy"
    return f"mode='{name}' (--mode {name})"


def _restarted(found: Examined) -> Iterator[Oddity]:
    if _restarts(found) and found.verdict is not None:
        yield Oddity(
            "probe-ended-server",
            WARNING,
            "the server process ended when it was asked server/discover, and was "
            "started again",
            "It takes any first message but initialize for fatal. Clients that do not "
            "start it again cannot connect, and every connect starts it twice.",
            "Use mode='legacy' (--mode legacy), which does not ask. Its author should "
            "answer unknown methods with error -32601.",
        )


def _restarts(found: Examined) -> list[Restarted]:
    return [event for event in found.events if isinstance(event, Restarted)]


def _probe_session(found: Examined) -> Iterator[Oddity]:
    for one in found.asked(PROBE):
        seen = found.seen.get(one.id)
        if seen is not None and seen.session:
            yield Oddity(
                "probe-session",
                NOTE,
                f"a session was handed out with the answer to server/discover "
                f"(HTTP {seen.status})",
                "It creates a session before initialize. Clients that do not delete "
                "it leave one behind at every connect; it was deleted here.",
                "Its author should create a session with the reply to initialize only.",
            )


def _asked_again(found: Examined) -> Iterator[Oddity]:
    denied = [
        one
        for one in found.asked(PROBE)
        if one.fault is not None and one.fault.http.status in AUTHORIZATION
    ]
    if denied and found.verdict is not None:
        yield Oddity(
            "probe-denied",
            WARNING,
            f"server/discover was refused with {denied[0].fault.reason}, and "  # type: ignore[union-attr]
            "initialize was not",
            "A gateway takes what it does not know for forbidden. Clients may ask "
            "their users to log in again.",
            "Nothing, to use it from here; the gateway should pass unknown methods on.",
        )


def _error_of(one: Exchanged) -> dict[str, Any] | None:
    error = (one.reply or {}).get("error")
    if error is None and one.fault is not None:
        error = one.fault.error
    return error if is_error(error) else None


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and value != []


def _clipped(value: object) -> str:
    text = str(value)
    return text if len(text) <= _CLIP else text[: _CLIP - 1] + "…"


RULES: Final[tuple[Rule, ...]] = (
    _probe_error,
    _probe_status,
    _probe_result,
    _probe_silent,
    _probe_late,
    _restarted,
    _probe_session,
    _asked_again,
)
