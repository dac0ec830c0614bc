"""Scripted servers whose opening is the point; see scripted.py."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

Json = dict[str, Any]
HELLO: Json = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}, "logging": {}},
    "serverInfo": {"name": "scripted", "version": "1"},
}
DISCOVER: Json = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
DONE: Json = {"content": [{"type": "text", "text": "done"}]}
seen: list[str] = []


def reply(message: Json, body: Json) -> Json:
    return {"jsonrpc": "2.0", "id": message["id"], "result": body}


def refuse(message: Json, code: int = -32601, **more: Any) -> Json:
    error = {"code": code, "message": "no", **more}
    return {"jsonrpc": "2.0", "id": message["id"], "error": error}


def note(line: str) -> None:
    """Write what happens where the test can read it."""
    with Path(os.environ["NOTES"]).open("a") as file:
        file.write(line + "\n")


def legacy(message: Json) -> list[Any]:
    """A plain legacy server with one tool."""
    if "id" not in message or "method" not in message:
        return []
    bodies: Json = {
        "initialize": HELLO,
        "tools/list": {"tools": []},
        "tools/call": DONE,
    }
    body = bodies.get(message["method"])
    return [refuse(message) if body is None else reply(message, body)]


def modern(message: Json) -> list[Any]:
    """A plain modern server with one tool, which leaves ``resultType`` out."""
    if "id" not in message:
        return []
    bodies: Json = {
        "server/discover": DISCOVER,
        "tools/list": {"tools": []},
        "tools/call": DONE,
    }
    body = bodies.get(message["method"])
    return [
        refuse(message, -32022, data={"supported": ["2026-07-28"]})
        if body is None
        else reply(message, body)
    ]


def noted(message: Json) -> list[Any]:
    """A server of the era that a file says, which writes down what it is asked."""
    note(message.get("method", "answer"))
    era = Path(os.environ["ERA"]).read_text()
    if era == "legacy":
        return strict(message)
    return modern(message)


def strict(message: Json) -> list[Any]:
    """A legacy server that wants its handshake before anything else."""
    if "id" not in message:
        return []
    if message["method"] == "initialize":
        seen.append("initialize")
    return legacy(message) if seen else [refuse(message, -32602)]


def mute_with_meta(message: Json) -> list[Any]:
    """A legacy server that falls silent at what it cannot read."""
    odd = "_meta" in message.get("params", {})
    return [] if odd else legacy(message)


def slow_handshake(message: Json) -> list[Any]:
    """A legacy server that does not answer the probe, and takes long to shake hands."""
    if message.get("method") == "initialize":
        time.sleep(2)
    return [] if message.get("method") == "server/discover" else legacy(message)


def poisoned(message: Json) -> list[Any]:
    """A legacy server that never recovers from a first message it does not know."""
    seen.append(message.get("method", ""))
    if seen[0] == "initialize":
        return legacy(message)
    return [refuse(message, -32603)] if "id" in message else []


def echoes_modern(message: Json) -> list[Any]:
    """A modern server that also answers a handshake, with a revision that has none."""
    if message.get("method") == "initialize":
        return [reply(message, {**HELLO, "protocolVersion": "2026-07-28"})]
    seen.append(message.get("method", ""))
    if seen == ["server/discover"]:
        return [refuse(message)]
    return modern(message)


def only_older(message: Json) -> list[Any]:
    """A legacy server that refuses the newest handshake in place of an older one."""
    if message.get("method") != "initialize":
        return strict(message)
    asked = message["params"]["protocolVersion"]
    if asked != "2025-03-26":
        return [refuse(message, -32602)]
    seen.append(asked)
    return [reply(message, {**HELLO, "protocolVersion": asked})]


def half_modern(message: Json) -> list[Any]:
    """A legacy server behind something that answers the probe for it."""
    if message.get("method") == "server/discover":
        return [reply(message, DISCOVER)]
    return strict(message)


def mortal(message: Json) -> list[Any]:
    """A modern server that dies of one of its tools."""
    if message.get("method") == "tools/call" and message["params"]["name"] == "die":
        print("last words", file=sys.stderr, flush=True)
        os._exit(3)
    return modern(message)


OPENINGS = (
    noted,
    strict,
    mute_with_meta,
    slow_handshake,
    poisoned,
    echoes_modern,
    only_older,
    half_modern,
    mortal,
)
