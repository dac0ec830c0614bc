"""What is odd about the things that a server says and lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_anyera.cli.examining import LISTEN, Examined
from mcp_anyera.cli.oddity import NOTE, WARNING, Oddity, Rule
from mcp_anyera.cli.tap import Exchanged
from mcp_anyera.engine import ListenEnded, ToolHidden
from mcp_anyera.engine.failures import METHOD_NOT_FOUND
from mcp_anyera.engine.jsonrpc import is_object
from mcp_anyera.eras import Era


def _noise(found: Examined) -> Iterator[Oddity]:
    if found.heard.noise is not None:
        count = found.heard.noises
        yield Oddity(
            "noise",
            WARNING,
            f"{count} thing{'s' if count > 1 else ''} arrived that "
            f"{'are' if count > 1 else 'is'} no message: {found.heard.noise[:80]}",
            "Something prints where the protocol is spoken, stdout in most cases. "
            "Many clients end the connection over it.",
            "Its author should print to stderr.",
        )


def _no_result_type(found: Examined) -> Iterator[Oddity]:
    if found.verdict is None or found.verdict.era is not Era.MODERN:
        return
    bare = [one.method for one in _results(found) if "resultType" not in _result(one)]
    if bare:
        yield Oddity(
            "no-result-type",
            NOTE,
            f"results without resultType: {', '.join(dict.fromkeys(bare))}",
            "2026-07-28 requires it. Absent is read as complete here; strict clients, "
            "the session of SDK 2.x among them, refuse such results.",
            "Its author should add resultType: 'complete'.",
        )


def _no_cache_hints(found: Examined) -> Iterator[Oddity]:
    if found.verdict is None or found.verdict.era is not Era.MODERN:
        return
    hints = {"ttlMs", "cacheScope"}
    bare = [
        one.method
        for one in _results(found)
        if one.method.endswith("/list") and not hints <= _result(one).keys()
    ]
    if bare:
        yield Oddity(
            "no-cache-hints",
            NOTE,
            f"results without ttlMs and cacheScope: {', '.join(dict.fromkeys(bare))}",
            "2026-07-28 requires both. Absent is read as stale at once; strict "
            "clients, the session of SDK 2.x among them, refuse such results.",
            "Its author should add ttlMs: 0 and cacheScope: 'private', or better ones.",
        )


def _no_list_changes(found: Examined) -> Iterator[Oddity]:
    silent = [
        name
        for name in ("tools", "prompts", "resources")
        if is_object(part := found.capabilities.get(name))
        and part.get("listChanged") is not True
    ]
    if found.verdict is not None and silent:
        yield Oddity(
            "no-list-changes",
            NOTE,
            f"listChanged is not advertised for {', '.join(silent)}",
            "Nobody hears when these lists change"
            + (
                ", and subscriptions/listen is not opened for them."
                if found.verdict.era is Era.MODERN
                else "."
            ),
            "Nothing, if they never do. Else list again from time to time.",
        )


def _listen_refused(found: Examined) -> Iterator[Oddity]:
    for event in found.events:
        if isinstance(event, ListenEnded):
            yield Oddity(
                "listen-ended",
                WARNING,
                f"subscriptions/listen was not kept open: {event.reason}",
                "The server advertises changes that nobody can hear.",
                "List again from time to time. Its author should serve "
                "subscriptions/listen, or not advertise listChanged.",
            )
            return


def _hidden_tools(found: Examined) -> Iterator[Oddity]:
    for event in found.events:
        if isinstance(event, ToolHidden):
            yield Oddity(
                "tool-hidden",
                WARNING,
                f"the tool {event.name!r} was left out of the list: {event.reason}",
                "Clients must not show a tool whose x-mcp-header annotations are "
                "invalid, so nobody can call it.",
                "Its author should correct the annotation.",
            )


def _lists(found: Examined) -> Iterator[Oddity]:
    for name, listing in found.lists.items():
        if listing.endless:
            yield Oddity(
                "endless-list",
                WARNING,
                f"{listing.method} still had more after {listing.pages} pages",
                "Its cursor may go round in a circle. Clients that read every page "
                "never end.",
                "Its author should end with a page without nextCursor.",
            )
        if listing.advertised and listing.error is not None:
            # Templates have no capability of their own.
            optional = name == "resource_templates" and listing.code == METHOD_NOT_FOUND
            yield Oddity(
                "list-failed",
                NOTE if optional else WARNING,
                f"{listing.method} failed: {listing.error}",
                "The capability is advertised and the list cannot be had.",
                "Its author should serve the list, or an empty one.",
            )
        if listing.items and not listing.advertised:
            yield Oddity(
                "not-advertised",
                WARNING,
                f"there are {name}, and the capability is not advertised",
                "Clients that look at the capabilities show none of them.",
                "Its author should advertise what there is.",
            )


def _tools(found: Examined) -> Iterator[Oddity]:
    listing = found.lists.get("tools")
    tools = [] if listing is None else [one for one in listing.items if is_object(one)]
    names = [str(tool.get("name")) for tool in tools]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        yield Oddity(
            "tool-twice",
            WARNING,
            f"tools listed more than once: {', '.join(twice)}",
            "Clients drop one of them, or refuse all.",
            "Its author should give them different names.",
        )
    bad = [
        str(tool.get("name"))
        for tool in tools
        if not _is_object_schema(tool.get("inputSchema"))
    ]
    if bad:
        yield Oddity(
            "tool-schema",
            WARNING,
            f"tools whose inputSchema describes no object: {', '.join(bad)}",
            "The SDK's session refuses the whole list for one such tool.",
            "Its author should send {'type': 'object'} at least.",
        )


def _results(found: Examined) -> list[Exchanged]:
    return [
        one
        for one in found.heard.exchanges
        if one.method != LISTEN and is_object((one.reply or {}).get("result"))
    ]


def _result(one: Exchanged) -> dict[str, Any]:
    return (one.reply or {})["result"]


def _is_object_schema(schema: object) -> bool:
    return is_object(schema) and schema.get("type") == "object"


RULES: Final[tuple[Rule, ...]] = (
    _noise,
    _no_result_type,
    _no_cache_hints,
    _no_list_changes,
    _listen_refused,
    _hidden_tools,
    _lists,
    _tools,
)
