"""A server without an SDK, so that what is measured is the client.

``python stub.py legacy|modern`` answers on stdio with prepared lines.
"""

from __future__ import annotations

import json
import sys

ERA = sys.argv[1]
BODIES = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "stub", "version": "1"},
    },
    "server/discover": {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "ttlMs": 0,
        "cacheScope": "private",
    },
    "tools/list": {
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "tools": [{"name": "echo", "inputSchema": {"type": "object"}}],
    },
    "tools/call": {
        "resultType": "complete",
        "content": [{"type": "text", "text": "x"}],
        "isError": False,
    },
}
UNKNOWN = "initialize" if ERA == "modern" else "server/discover"
REFUSED = json.dumps({"code": -32601, "message": "Method not found"})
READY = {
    method: json.dumps(
        {k: v for k, v in body.items() if ERA == "modern" or k != "resultType"}
    )
    for method, body in BODIES.items()
    if method != UNKNOWN
}

for line in sys.stdin.buffer:
    message = json.loads(line)
    if "id" in message:
        body = READY.get(message["method"])
        tail = f'"error":{REFUSED}' if body is None else f'"result":{body}'
        reply = f'{{"jsonrpc":"2.0","id":{json.dumps(message["id"])},{tail}}}\n'
        sys.stdout.write(reply)
        sys.stdout.flush()
