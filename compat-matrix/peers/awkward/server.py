"""Servers that are awkward in one way each; they need the standard library only.

Usage: ``python server.py WAY``. ``bare``: modern, and its results have no
``resultType``. ``ends``: legacy, and ends on a request that comes before the
handshake. ``silent``: legacy, and never answers such a request.
"""

import json
import sys
from typing import Any

MODERN = "2026-07-28"
Json = dict[str, Any]


def tool(name: str, *arguments: str) -> Json:
    properties = {each: {"type": "string"} for each in arguments}
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": name, "inputSchema": schema}


TOOLS = [tool("echo", "text"), tool("bare")]
FRESH = {"ttlMs": 0, "cacheScope": "private"}
INFO = {"name": "awkward", "version": "1"}


def called(params: Json) -> Json:
    arguments = params.get("arguments") or {}
    text = arguments.get("text", params["name"])
    return {"content": [{"type": "text", "text": text}]}


def hello(params: Json) -> Json:
    asked = params["protocolVersion"]
    about = {"capabilities": {"tools": {}}, "serverInfo": INFO}
    return {"protocolVersion": asked, **about}


def discovered(params: Json) -> Json:
    about = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}}
    return {**about, "serverInfo": INFO, **FRESH}


def listed(params: Json) -> Json:
    return {"tools": TOOLS, **FRESH}


LEGACY = {
    "initialize": hello,
    "ping": lambda _params: {},
    "tools/list": listed,
    "tools/call": called,
}
BARE = {"server/discover": discovered, "tools/list": listed, "tools/call": called}


def unknown(way: str) -> Json:
    """Answer what is not known, or do not."""
    if way == "ends":
        sys.exit("what is this?")
    data = {"supported": [MODERN], "requested": "?"}
    return {"code": -32022, "message": "Unsupported protocol version", "data": data}


def main(way: str) -> None:
    answers = BARE if way == "bare" else LEGACY
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        reply: Json = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] in answers:
            reply["result"] = answers[message["method"]](message.get("params") or {})
        elif way == "silent":
            continue
        else:
            reply["error"] = unknown(way)
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
