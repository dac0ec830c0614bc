"""A legacy stdio server in miniature that goes wrong in one way."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

Json = dict[str, Any]
TOOLS = ("echo", "issue_card", "count", "add_tool")


def tell(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(value: str) -> Json:
    return {"content": [{"type": "text", "text": value}]}


class Server:
    def __init__(self, way: str) -> None:
        self.way = way

    def answer(self, method: str, params: Json) -> Json | None:
        if method == "initialize":
            if self.way == "modern only":
                return None
            about: Json = {"protocolVersion": "2025-11-25"}
            about["capabilities"] = {"tools": {}}
            return {**about, "serverInfo": {"name": "mini", "version": "1"}}
        if method == "tools/list":
            schema = {"type": "object"}
            less = {"has less": TOOLS[:1], "has no echo": TOOLS[1:]}
            names = less.get(self.way, TOOLS)
            return {"tools": [{"name": each, "inputSchema": schema} for each in names]}
        if method == "tools/call":
            return self.called(params)
        if self.way == "templates" and method.startswith("resources/"):
            return self.resources(method, params)
        if method == "ping" and self.way == "mutters":
            time.sleep(60)
        return {} if method == "ping" else None

    def resources(self, method: str, params: Json) -> Json:
        if method == "resources/list":
            return {"resources": []}
        if method == "resources/read":
            return {"contents": [{"uri": params["uri"], "text": "page 7"}]}
        return {"resourceTemplates": [{"name": "n", "uriTemplate": "note://{n}"}]}

    def called(self, params: Json) -> Json:
        name: str = params["name"]
        arguments: Json = params.get("arguments") or {}
        if name == "echo":
            said: str = arguments["text"]
            return text(said[::-1] if self.way == "mutters" else said)
        if name == "issue_card":
            return text(self.card())
        if name == "count":
            self.count(params.get("_meta", {}).get("progressToken"))
            return text("counted")
        if self.way != "mutters":
            tell(method="notifications/tools/list_changed")
        return text("added")

    def card(self) -> str:
        if self.way == "mutters":
            return "card for somebody"
        properties = {"name": {"type": "string"}}
        schema = {"type": "object", "properties": properties, "required": ["name"]}
        params = {"message": "Whose?", "requestedSchema": schema}
        tell(id="q", method="elicitation/create", params=params)
        answer = json.loads(sys.stdin.readline())["result"]
        return f"card for {answer['content']['name']}: Dune"

    def count(self, token: Any) -> None:
        for step in (3, 2, 1) if self.way == "mutters" else (1, 2, 3):
            report = {"progressToken": token, "progress": step}
            tell(method="notifications/progress", params=report)


def main(way: str) -> None:
    if way == "cannot start":
        sys.exit("no such thing")
    server = Server(way)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = server.answer(message["method"], message.get("params") or {})
        if result is None:
            tell(id=message["id"], error={"code": -32601, "message": "no such method"})
        else:
            tell(id=message["id"], result=result)


if __name__ == "__main__":
    main(sys.argv[1])
