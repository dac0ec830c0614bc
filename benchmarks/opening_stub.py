"""A server without an SDK, whose opening is of the kind that its argument names."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

MODERN = "2026-07-28"
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "stub", "version": "1"},
}
DISCOVER = {
    "resultType": "complete",
    "supportedVersions": [MODERN],
    "capabilities": {"tools": {}},
    "ttlMs": 0,
    "cacheScope": "private",
}
TOOLS = {"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"}


def answer(kind: str, method: str) -> dict[str, Any] | None:
    """Return the result of a method, or ``None`` for one that is not known."""
    modern = kind in {"modern", "slow"}
    known: dict[str, Any] = {"tools/list": TOOLS if modern else {"tools": []}}
    known |= {"server/discover": DISCOVER} if modern else {"initialize": HELLO}
    return known.get(method)


def main(kind: str, *log: str) -> None:
    """Serve stdin until it ends; what is asked for is noted where that is wanted."""
    if kind == "slow":
        time.sleep(3)
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        for path in log:
            with Path(path).open("a") as notes:
                notes.write(f"{method}\n")
        if method == "server/discover" and kind == "exits":
            sys.exit(1)
        silent = method == "server/discover" and kind == "silent"
        if "id" not in message or silent:
            continue
        result = answer(kind, method)
        error = {"code": -32601, "message": "Method not found"}
        body = {"error": error} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
