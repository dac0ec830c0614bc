"""A server that shows what arrives: ``python mirror.py [deaf]``.

Modern by default. Every request is answered with the exact line that brought it;
``tools/call`` named ``shout`` sends as much as it is asked for, ``crash`` ends it,
``environment`` tells a variable. It writes its process id to ``PEER_PID``.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

DISCOVER = '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mirror","version":"1"}}}'


def main() -> None:
    if "PEER_PID" in os.environ:
        Path(os.environ["PEER_PID"]).write_text(str(os.getpid()))
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        answer = '{"jsonrpc":"2.0","id":%s,"result":%s}\n'
        body = said(message, line.decode().strip())
        sys.stdout.write(answer % (json.dumps(message["id"]), body))
        sys.stdout.flush()
        if "deaf" in sys.argv and message["method"] == "tools/call":
            time.sleep(1.0)


def said(message: dict[str, Any], line: str) -> str:
    if message["method"] == "server/discover":
        return DISCOVER
    params = message.get("params", {})
    arguments = params.get("arguments", {})
    name = params.get("name")
    if name == "crash":
        sys.stderr.write("crashing on request\n")
        sys.stderr.flush()
        os._exit(3)
    if name == "shout":
        text = "x" * arguments["size"]
    elif name == "environment":
        text = os.environ.get(arguments["variable"], "(not set)")
    elif name == "folder":
        text = str(Path.cwd())
    elif name == "verbatim":
        return arguments["json"]
    else:
        text = line
    content = [{"type": "text", "text": text}]
    return json.dumps({"resultType": "complete", "content": content})


if __name__ == "__main__":
    main()
