"""What the stubs answer: prepared texts, so that what is measured is the client.

`Conversation` takes the messages of one client and returns what to send, each with
the id of the call that it belongs to; `stub.py` carries it over stdio and
`http_stub.py` over HTTP.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

TOOLS = 200
NOTIFICATIONS = 100
MEGABYTE = "x" * 2**20
CACHE = {"ttlMs": 0, "cacheScope": "private"}
SERVER = {"name": "stub", "version": "1"}
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}
FORM = {"mode": "form", "message": "Your name?", "requestedSchema": SCHEMA}
ASK = {"method": "elicitation/create", "params": FORM}
# How many rounds each tool takes, and how many questions are asked in one.
ROUNDS = {"one_round": (1, 1), "three_rounds": (3, 1), "five_questions": (1, 5)}


class Line(NamedTuple):
    """A message to send: the call that it belongs to, its text, whether it ends it."""

    call: Any
    text: str
    last: bool = True


def tools() -> list[dict[str, Any]]:
    """Return what ``tools/list`` brings."""
    names = ["echo", "big", "notify", *ROUNDS]
    names += [f"tool_{number}" for number in range(TOOLS - len(names))]
    about = "Does what a tool of its kind does."
    return [
        {"name": name, "description": about, "inputSchema": {"type": "object"}}
        for name in names
    ]


def text(body: str) -> dict[str, Any]:
    """Return the result of a tool."""
    return {"content": [{"type": "text", "text": body}], "isError": False}


def prepared(era: str) -> dict[str, str]:
    """Return the results that are always the same, as JSON."""
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": SERVER,
    }
    discover = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    modern = era == "modern"
    extra = {"resultType": "complete"} if modern else {}
    cached = {**extra, **CACHE} if modern else {}
    bodies = {
        "initialize": None if modern else hello,
        "server/discover": {**discover, **cached} if modern else None,
        "tools/list": {**cached, "tools": tools()},
        "ping": extra,
        "logging/setLevel": extra,
        "done": {**extra, **text("x")},
        "big": {**extra, **text(MEGABYTE)},
    }
    return {name: json.dumps(body) for name, body in bodies.items() if body is not None}


def result(request_id: Any, body: str) -> str:
    """Return the text of a response."""
    return f'{{"jsonrpc":"2.0","id":{json.dumps(request_id)},"result":{body}}}'


class Conversation:
    """The answers of a stub to one client, message by message."""

    def __init__(self, era: str) -> None:
        self._modern = era == "modern"
        self._ready = prepared(era)
        self._asked: dict[str, tuple[Any, int]] = {}
        self._last_id = 0

    def receive(self, message: dict[str, Any]) -> list[Line]:
        """Return what a message is answered with."""
        key = message.get("id")
        if key is None:
            return []
        if "method" not in message:
            return self._answered(key)
        if message["method"] == "tools/call":
            return self._call(key, message["params"])
        body = self._ready.get(message["method"])
        if body is not None:
            return [Line(key, result(key, body))]
        error = {"code": -32601, "message": "Method not found"}
        reply = {"jsonrpc": "2.0", "id": key, "error": error}
        return [Line(key, json.dumps(reply))]

    def _call(self, key: Any, params: dict[str, Any]) -> list[Line]:
        name = params["name"]
        if name in ROUNDS:
            return (
                self._modern_round(key, params)
                if self._modern
                else self._ask(key, name)
            )
        done = Line(key, result(key, self._ready["big" if name == "big" else "done"]))
        return [*self._progress(key, params), done] if name == "notify" else [done]

    def _progress(self, key: Any, params: dict[str, Any]) -> list[Line]:
        token = params.get("_meta", {}).get("progressToken")
        if token is None:
            return []
        head = {"jsonrpc": "2.0", "method": "notifications/progress"}
        bodies = ({"progressToken": token, "progress": n} for n in range(NOTIFICATIONS))
        return [Line(key, json.dumps(head | {"params": b}), last=False) for b in bodies]

    def _modern_round(self, key: Any, params: dict[str, Any]) -> list[Line]:
        rounds, questions = ROUNDS[params["name"]]
        done = int(params.get("requestState", "0"))
        if done == rounds:
            return [Line(key, result(key, self._ready["done"]))]
        asked = {f"q{number}": ASK for number in range(questions)}
        body = {"resultType": "input_required", "inputRequests": asked}
        return [
            Line(key, result(key, json.dumps(body | {"requestState": str(done + 1)})))
        ]

    def _ask(self, key: Any, name: str) -> list[Line]:
        rounds, questions = ROUNDS[name]
        lines = []
        for _ in range(questions):
            self._last_id += 1
            question = f"q{self._last_id}"
            self._asked[question] = (key, rounds)
            asked = json.dumps({"jsonrpc": "2.0", "id": question, **ASK})
            lines.append(Line(key, asked, last=False))
        return lines

    def _answered(self, question: str) -> list[Line]:
        key, rounds = self._asked.pop(question)
        if any(open_call == key for open_call, _ in self._asked.values()):
            return []
        if rounds == 1:
            return [Line(key, result(key, self._ready["done"]))]
        self._last_id += 1
        again = f"q{self._last_id}"
        self._asked[again] = (key, rounds - 1)
        asked = json.dumps({"jsonrpc": "2.0", "id": again, **ASK})
        return [Line(key, asked, last=False)]
