"""What a probe has found, as JSON.

The shape is stable: within one ``schema`` number, members are added and never
renamed, removed or given another meaning.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final, cast

from mcp_anyera.cli.examining import LISTS, Examined, Listing
from mcp_anyera.cli.odd_connections import server_info
from mcp_anyera.cli.oddities import oddities
from mcp_anyera.cli.tap import Exchanged
from mcp_anyera.cli.versions import versions
from mcp_anyera.engine.jsonrpc import is_error, is_object

SCHEMA: Final = 1
_LISTED: Final = {method: member for method, member, _ in LISTS.values()}


def report(found: Examined) -> dict[str, Any]:
    """Return what was found as JSON."""
    verdict = found.verdict
    return {
        "schema": SCHEMA,
        "target": found.name,
        "reachable": verdict is not None,
        "era": None if verdict is None else verdict.era.value,
        "revision": None if verdict is None else verdict.revision,
        "handshake": None if found.handshake is None else found.handshake.revision,
        "versions": offered(found),
        "transport": transport(found),
        "server": server_info(found),
        "capabilities": found.capabilities,
        "instructions": found.opening.get("instructions"),
        "counts": {name: count(listing) for name, listing in found.lists.items()},
        "steps": steps(found),
        "seconds": _rounded(found.seconds),
        "answers": [answer(found, one) for one in found.heard.exchanges],
        "oddities": [asdict(oddity) for oddity in oddities(found)],
        "error": error(found),
        "stderr": found.stderr.splitlines()[-20:],
        "remembered": remembered(found),
        "installed": versions(),
    }


def transport(found: Examined) -> str:
    """Return the name of the transport in use."""
    if not found.http:
        return "stdio"
    return "http+sse" if found.fell_back else "streamable-http"


def offered(found: Examined) -> list[str]:
    """Return every revision that the server has named."""
    named: list[Any] = []
    for one in found.heard.exchanges:
        result = (one.reply or {}).get("result")
        named += _list(result, "supportedVersions") + _list(
            _data_of_error(one), "supported"
        )
        if one.method == "initialize" and is_object(result):
            named.append(result.get("protocolVersion"))
    if found.handshake is not None:
        named.append(found.handshake.revision)
    return list(dict.fromkeys(name for name in named if isinstance(name, str)))


def count(listing: Listing) -> int | None:
    """Return how many there are; ``None`` where there is no such list."""
    if listing.error is not None or not (listing.advertised or listing.pages):
        return None
    return len(listing.items)


def steps(found: Examined) -> list[dict[str, Any]]:
    """Return what was done, with what came of it and the time that it took."""
    done = [] if found.verdict is None else list(found.verdict.evidence)
    told = [
        {"what": step.what, "outcome": step.outcome, "seconds": _rounded(step.seconds)}
        for step in done
    ]
    told += [
        {
            "what": listing.method,
            "outcome": listing.error or _counted(listing),
            "seconds": _rounded(listing.seconds),
        }
        for listing in found.lists.values()
        if listing.pages or listing.error
    ]
    if found.verdict is not None:
        closed = {
            "what": "close",
            "outcome": "done",
            "seconds": _rounded(found.closing),
        }
        told.append(closed)
    if found.handshake is not None:
        revision = found.handshake.revision
        said = "refused" if revision is None else f"agreed on {revision}"
        seconds = _rounded(found.handshake.seconds)
        told.append({"what": "initialize, anew", "outcome": said, "seconds": seconds})
    return told


def _counted(listing: Listing) -> str:
    pages = f" on {listing.pages} pages" if listing.pages > 1 else ""
    return f"{len(listing.items)}{pages}"


def answer(found: Examined, one: Exchanged) -> dict[str, Any]:
    """Return what came of one request; lists are counted and not repeated."""
    seen = found.seen.get(one.id)
    reply: dict[str, Any] = one.reply or {}
    said: dict[str, Any] = {
        "to": one.method,
        "seconds": None if one.seconds is None else _rounded(one.seconds),
    }
    if "error" in reply or (one.fault is not None and one.fault.error is not None):
        said["error"] = reply.get("error") or (one.fault and one.fault.error)
    elif one.fault is not None:
        said["failed"] = one.fault.reason
    elif "result" in reply:
        said["result"] = _shortened(one.method, reply["result"])
    if seen is not None:
        said["http"] = asdict(seen)
    return said


def _shortened(method: str, result: Any) -> Any:
    member = _LISTED.get(method)
    if member is None or not is_object(result):
        return result
    listed = _list(result, member)
    rest = {key: value for key, value in result.items() if key != member}
    return {**rest, member: f"{len(listed)} left out here"}


def error(found: Examined) -> dict[str, Any] | None:
    """Return why the server could not be reached, or ``None``."""
    failure = found.failure
    if failure is None:
        return None
    cause = failure.cause
    return {
        "message": failure.message,
        "status": failure.http.status,
        "challenge": failure.http.challenge,
        "cause": None if cause is None else str(getattr(cause, "message", cause)),
    }


def remembered(found: Examined) -> dict[str, Any] | None:
    """Return what the memory holds; ``None`` where nobody wanted to know."""
    if found.remembered is None:
        return None
    members = ("era", "revision", "learned_at", "patience", "tools")
    return {key: found.remembered[key] for key in members if key in found.remembered}


def _data_of_error(one: Exchanged) -> Any:
    found = (one.reply or {}).get("error") or (one.fault and one.fault.error)
    return found.get("data") if is_error(found) and is_object(found) else None


def _list(holder: Any, key: str) -> list[Any]:
    value = holder.get(key) if is_object(holder) else None
    return cast("list[Any]", value) if isinstance(value, list) else []


def _rounded(seconds: float) -> float:
    return round(seconds, 4)
