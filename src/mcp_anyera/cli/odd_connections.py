"""What is odd about a server's way of opening and ending a connection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_anyera.cli.examining import LISTEN, Examined
from mcp_anyera.cli.oddity import NOTE, WARNING, Oddity, Rule
from mcp_anyera.engine import FellBack, Restarted
from mcp_anyera.engine.exchanges import AUTHORIZATION
from mcp_anyera.engine.jsonrpc import is_object
from mcp_anyera.engine.metadata import SERVER_INFO_KEY
from mcp_anyera.eras import LATEST_LEGACY, Era

SLOW: Final = 5.0
"""Seconds after which an answer counts as slow; other clients give up about here."""
LINGERS: Final = 1.9
"""Seconds at the end after which a process was not leaving by itself."""


_MISSING: Final = {
    "2025-06-18": "URL questions, titled and multiple choices, icons, tasks",
    "2025-03-26": "questions to the user, structured results, resource links",
    "2024-11-05": "Streamable HTTP, questions to the user, structured results, audio",
}


def server_info(found: Examined) -> dict[str, Any] | None:
    """Return who the server says it is, or ``None``."""
    opening = found.opening
    meta = opening.get("_meta")
    for info in (
        opening.get("serverInfo"),
        meta.get(SERVER_INFO_KEY) if is_object(meta) else None,
    ):
        if is_object(info):
            return info
    return None


def _fell_back(found: Examined) -> Iterator[Oddity]:
    for event in found.events:
        if isinstance(event, FellBack):
            yield Oddity(
                "http-sse",
                WARNING,
                f"a plain handshake was refused ({event.reason}), and the HTTP+SSE "
                "transport of 2024-11-05 was tried",
                "That transport is deprecated since 2025-03-26, and a connection that "
                "drops is not taken up again.",
                "Look for a newer address of the same server, often /mcp in the "
                "place of /sse.",
            )


def _old_revision(found: Examined) -> Iterator[Oddity]:
    verdict = found.verdict
    if verdict is None or verdict.era is Era.MODERN:
        return
    if verdict.revision != LATEST_LEGACY and found.mode in {"auto", "legacy"}:
        yield Oddity(
            "old-revision",
            NOTE,
            f"the handshake ended in revision {verdict.revision}",
            "What later revisions have added is not there: "
            f"{_MISSING.get(verdict.revision, 'newer features')}.",
            "Upgrade the server's SDK, if any of it is wanted.",
        )


def _no_name(found: Examined) -> Iterator[Oddity]:
    if found.verdict is not None and server_info(found) is None:
        yield Oddity(
            "no-server-info",
            NOTE,
            "the server does not say who it is",
            "Users and logs cannot tell it from others.",
            "Its author should send serverInfo.",
        )


def _cannot_ask(found: Examined) -> Iterator[Oddity]:
    if found.heard.suspicion is not None and found.verdict is not None:
        yield Oddity(
            "cannot-ask",
            WARNING,
            found.heard.suspicion,
            "A tool that asks the user, or a model, waits for ever or fails.",
            "If its tools ask: run it with sessions and event streams, or use a "
            "modern version of it.",
        )


def _slow(found: Examined) -> Iterator[Oddity]:
    for one in found.heard.exchanges:
        if one.seconds is not None and one.seconds > SLOW and one.method != LISTEN:
            yield Oddity(
                "slow",
                WARNING,
                f"{one.method} took {one.seconds:.1f} s",
                "Clients often give up after 5 to 60 s.",
                "If it is a first start (a package runner, a cold cache), run it "
                "once more; else look at what it does before it answers.",
            )


def _lingers(found: Examined) -> Iterator[Oddity]:
    if not found.http and found.closing > LINGERS:
        yield Oddity(
            "lingers",
            NOTE,
            f"the process did not end when its stdin was closed, and was terminated "
            f"after {found.closing:.1f} s",
            "Every client has to wait for it or to kill it at the end.",
            "Its author should end it when stdin does.",
        )


def _credentials(found: Examined) -> Iterator[Oddity]:
    failure = found.failure
    if failure is not None and failure.http.status in AUTHORIZATION:
        yield Oddity(
            "wants-credentials",
            WARNING,
            f"the server answered with HTTP {failure.http.status}"
            + (f" ({failure.http.challenge})" if failure.http.challenge else ""),
            "It says nothing to whom it does not know, its era neither.",
            "Send what it wants: --header 'Authorization: Bearer ${TOKEN}'.",
        )


def _never_up(found: Examined) -> Iterator[Oddity]:
    started_twice = any(isinstance(event, Restarted) for event in found.events)
    if found.verdict is None and started_twice:
        yield Oddity(
            "ends-at-once",
            WARNING,
            "the process ended before it had answered anything, also without the probe",
            "It does not start. This is not about protocol versions.",
            "Run the command by hand, and read what it says on stderr.",
        )


RULES: Final[tuple[Rule, ...]] = (
    _credentials,
    _never_up,
    _fell_back,
    _old_revision,
    _no_name,
    _cannot_ask,
    _slow,
    _lingers,
)
