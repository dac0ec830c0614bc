"""A server that does what its arguments say: faults that no real server makes on demand.

``python scripted.py NAME`` runs one of the scripts below. Each gets one message
after the other and answers with a list of messages, or does something worse.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from opening_scripts import (
    OPENINGS,
    legacy,
    modern,
    reply,
)

Json = dict[str, Any]
Script = Callable[[Json], list[Any]]


def dies_on_probe(message: Json) -> list[Any]:
    """A legacy server that ends on any first message but ``initialize``, and runs alone."""
    lock = Path(os.environ["LOCK"])
    if message["method"] == "server/discover":
        print("unexpected message", file=sys.stderr, flush=True)
        time.sleep(0.1)
        lock.unlink()
        os._exit(1)
    return legacy(message)


def dies_always(message: Json) -> list[Any]:
    """A server that never starts."""
    print(f"ModuleNotFoundError after {message['method']}", file=sys.stderr, flush=True)
    os._exit(2)


def mute_on_probe(message: Json) -> list[Any]:
    """A legacy server that does not answer what it does not know."""
    return [] if message["method"] == "server/discover" else legacy(message)


def deaf_to_levels(message: Json) -> list[Any]:
    """A legacy server that says it logs and never answers when told the level."""
    return [] if message.get("method") == "logging/setLevel" else legacy(message)


def slow_modern(message: Json) -> list[Any]:
    """A modern server whose first answer takes longer than the patience."""
    if message["method"] == "server/discover":
        time.sleep(1.5)
    return modern(message)


def malformed(message: Json) -> list[Any]:
    """A modern server that says a lot of nonsense around its answers."""
    noise = [
        "not json",
        "[1, 2]",
        '{"jsonrpc": "2.0"}',
        '{"id": 99999, "result": {}}',
        "",
    ]
    if message["method"] == "tools/call" and message["params"]["name"] == "bad":
        return [*noise, {"jsonrpc": "2.0", "id": message["id"], "result": [1]}]
    return [*noise, *modern(message)]


def bad_rounds(message: Json) -> list[Any]:
    """A modern server whose questions are wrong in the way that the tool is called."""
    if message.get("method") != "tools/call":
        return modern(message)
    bodies: Json = {
        "neither": {},
        "unknown": {"inputRequests": {"a": {"method": "ping"}}},
        "params": {
            "inputRequests": {"a": {"method": "elicitation/create", "params": {}}}
        },
        "url": {
            "inputRequests": {
                "a": {
                    "method": "elicitation/create",
                    "params": {"mode": "url", "message": "m", "url": "javascript:x"},
                }
            }
        },
        "endless": {"inputRequests": {"a": {"method": "roots/list"}}},
    }
    body = {"resultType": "input_required", **bodies[message["params"]["name"]]}
    return [reply(message, body)]


def insists(message: Json) -> list[Any]:
    """A modern server that asks until it gets a yes."""
    if message.get("method") != "tools/call":
        return modern(message)
    answers = message["params"].get("inputResponses", {})
    if answers.get("a", {}).get("action") == "accept":
        return modern(message)
    params: Json = {
        "message": "Yes?",
        "requestedSchema": {"type": "object", "properties": {}},
    }
    question: Json = {"method": "elicitation/create", "params": params}
    return [
        reply(
            message, {"resultType": "input_required", "inputRequests": {"a": question}}
        )
    ]


def vendor(message: Json) -> list[Any]:
    """A modern server that has its own notifications."""
    if message.get("method") != "tools/call":
        return modern(message)
    note: Json = {
        "jsonrpc": "2.0",
        "method": "notifications/acme/thing",
        "params": {"a": 1},
    }
    return [note, *modern(message)]


def flood(message: Json) -> list[Any]:
    """A legacy server that logs a lot in one call, with changes in between."""
    if message.get("method") != "tools/call":
        return legacy(message)
    logs: list[Any] = [
        {
            "jsonrpc": "2.0",
            "method": "notifications/message",
            "params": {"level": "info", "data": n},
        }
        for n in range(3000)
    ]
    change: Json = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    return [change, *logs, change, *legacy(message)]


def unlisted(message: Json) -> list[Any]:
    """A modern server whose list of tools is no list."""
    if message.get("method") == "tools/list":
        return [reply(message, {"tools": 7})]
    if message.get("method") != "tools/call":
        return modern(message)
    return [reply(message, {"content": [{"type": "text", "text": "fine"}]})]


def huge(message: Json) -> list[Any]:
    """A modern server with a result of several megabytes."""
    if message.get("method") != "tools/call":
        return modern(message)
    return [reply(message, {"content": [{"type": "text", "text": "é" * 3_000_000}]})]


SCRIPTS: dict[str, Script] = {
    script.__name__: script
    for script in (
        legacy,
        modern,
        dies_on_probe,
        dies_always,
        mute_on_probe,
        deaf_to_levels,
        slow_modern,
        malformed,
        bad_rounds,
        insists,
        vendor,
        flood,
        huge,
        unlisted,
        *OPENINGS,
    )
}


def main(name: str) -> None:
    lock = os.environ.get("LOCK")
    if lock is not None:
        with Path(lock).open("x") as file:  # a second copy fails here
            file.write(str(os.getpid()))
    for line in sys.stdin:
        for answer in SCRIPTS[name](json.loads(line)):
            text = answer if isinstance(answer, str) else json.dumps(answer)
            sys.stdout.write(text + "\n")
        sys.stdout.flush()
    if lock is not None:
        Path(lock).unlink()


class Web(BaseHTTPRequestHandler):
    """The same script over HTTP: one POST, and its answers as events."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        answers = SCRIPTS[sys.argv[1]](json.loads(self.rfile.read(length)))
        events = "".join(f"data: {json.dumps(answer)}\n\n" for answer in answers)
        body = events.encode()
        self.send_response(200 if answers else 202)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_response(405)
        self.send_header("content-length", "0")
        self.end_headers()

    do_DELETE = do_GET  # noqa: N815 - the standard library's names

    def log_message(self, format: str, *_args: Any) -> None:  # noqa: A002 - its name
        return


def listen() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    print(f"listening on http://127.0.0.1:{server.server_port}/mcp", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    if "--http" in sys.argv:
        listen()
    else:
        main(sys.argv[1])
