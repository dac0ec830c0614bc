"""How many messages a second the engine takes on one core.

A call is two messages: the request of the client side and the reply of the
server. Passed through means a legacy wire, translated a modern one in front of a
legacy session; a round adds two messages and their questions.
"""

from __future__ import annotations

import json
import time
from typing import Any

from mcp_anyera.engine import Engine, EngineConfig, ToClient, ToServer

CALLS = 20_000
HELLO: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"roots": {}},
    "clientInfo": {"name": "bench", "version": "1"},
}
DISCOVER = {"supportedVersions": ["2026-07-28"], "capabilities": {}}
ASK = {"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list"}}}


def connected(mode: str) -> Engine:
    """Return an engine whose opening is over."""
    engine = Engine(EngineConfig(mode=mode))
    hello = {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": HELLO}
    (first,) = sent(engine.receive_from_client(hello, 0.0))
    body = DISCOVER if mode == "modern" else HELLO | {"serverInfo": {}}
    engine.receive_from_server(
        {"jsonrpc": "2.0", "id": first["id"], "result": body}, 0.0
    )
    return engine


def sent(effects: list[Any]) -> list[dict[str, Any]]:
    """Return what goes to the server."""
    return [effect.message for effect in effects if isinstance(effect, ToServer)]


def call(engine: Engine, number: int) -> int:
    """Make one call and return the messages that it took."""
    params = {"name": "echo", "arguments": {"text": "x"}}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    (wire,) = sent(engine.receive_from_client(message, 0.0))
    reply = {"jsonrpc": "2.0", "id": wire["id"], "result": {"content": []}}
    engine.receive_from_server(reply, 0.0)
    return 2


def call_with_a_round(engine: Engine, number: int) -> int:
    """Make one call that is answered with a question first."""
    message = {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": "x"},
    }
    (wire,) = sent(engine.receive_from_client(message, 0.0))
    asked = engine.receive_from_server(
        {"jsonrpc": "2.0", "id": wire["id"], "result": ASK}, 0.0
    )
    (question,) = [
        effect.message["id"] for effect in asked if isinstance(effect, ToClient)
    ]
    answer = {"jsonrpc": "2.0", "id": question, "result": {"roots": []}}
    (retry,) = sent(engine.receive_from_client(answer, 0.0))
    reply = {"jsonrpc": "2.0", "id": retry["id"], "result": {"content": []}}
    engine.receive_from_server(reply, 0.0)
    return 4


def rate(mode: str, one: Any) -> float:
    """Return messages a second, the best of five runs."""
    best = 0.0
    for _ in range(5):
        engine = connected(mode)
        began = time.perf_counter()
        messages = sum(one(engine, number) for number in range(CALLS))
        best = max(best, messages / (time.perf_counter() - began))
    return best


def cost_in_flight(calls: int) -> float:
    """Return the seconds that a call costs while so many others are in flight."""
    engine = connected("modern")
    for number in range(calls):
        message = {"jsonrpc": "2.0", "id": f"open {number}", "method": "tools/call"}
        engine.receive_from_client(message | {"params": {"name": "x"}}, 0.0)
    began = time.perf_counter()
    for number in range(CALLS):
        call(engine, number)
    return (time.perf_counter() - began) / CALLS


def main() -> None:
    """Print the figures as JSON."""
    few, many = (min(cost_in_flight(calls) for _ in range(5)) for calls in (10, 10_000))
    figures = {
        "passed through": rate("legacy", call),
        "translated": rate("modern", call),
        "with a round": rate("modern", call_with_a_round),
        "cost with 10 000 in flight": many / few,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
