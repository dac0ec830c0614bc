"""Unchanged clients of others, with nothing but their configuration changed.

Each is a program in an environment of its own that prints what came of each thing.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.interop.faces import bridge, listening_bridge
from tests.interop.peers import MODERN, TYPESCRIPT, command, shared

pytestmark = [pytest.mark.interop, pytest.mark.timeout(120)]

CLIENTS = ("ts-1.32-client", "langchain-adapters-client", "mcp-use-client")
SERVERS = (MODERN, f"{TYPESCRIPT}@http")
EXPECTED: dict[str, Any] = {
    "echo": "é\u2028x",
    "issue_card": "card for Ada: Dune",
    "link_account": "linked: accept",
    "summarise": "summary: short",
    "workspace": "file:///srv/books",
    "two_rounds": "one then two",
    "three_questions": "Ada / short / 1",
    "patience": "done after 3 legs",
    "regional": "served from north",
    "use_tools": "stop: None",
    "count_and_ask": "counted twice",
    "progress": [1, 2, 3, 4],
    "prompt": "Write about sea",
    "resource": "page 7",
    "logs": ["warning", "error"],
    "complete": ["Alan"],
    "fail": True,
    "changes": "heard",
    "cancel": "ended: true",
    "after": "still here",
}
CANNOT = {
    "ts-1.32-client": set[str](),
    "langchain-adapters-client": set[str](),
    "mcp-use-client": {"use_tools"},
}
"""What a client offers no way to do: mcp-use cannot say that its model takes tools.

langchain-mcp-adapters and mcp-use have no words of their own for subscriptions, log
levels, completions and timeouts; their programs use the session that both hand out. SDK
1.x, below both, tells no server when a call is given up, so "cancel" is a call that runs
into its timeout, and "after" shows that the session goes on.
"""


@pytest.mark.parametrize("peer", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_on_stdio_works_as_it_is(client: str, peer: str) -> None:
    name = peer.removesuffix("@http")
    target = ["--", *command(name)] if name == peer else [shared(name)]
    program, *arguments = bridge(*target)
    assert outcome(client, command=program, args=arguments) == expected(client)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_on_http_works_as_it_is(client: str) -> None:
    with listening_bridge(shared(TYPESCRIPT)) as url:
        assert outcome(client, url=url) == expected(client)


def expected(client: str) -> dict[str, Any]:
    wanted = {k: v for k, v in EXPECTED.items() if k not in CANNOT[client]}
    # The TypeScript SDK 1.x looks at a result at once and at a notification one turn
    # later, so it drops progress that it reads in one piece with the result: also of a
    # server that is no bridge.
    return {**wanted, "progress": [1, 2]} if client.startswith("ts-") else wanted


def outcome(client: str, **place: Any) -> dict[str, Any]:
    """Run a client and return what it has printed."""
    done = subprocess.run(
        [*command(client), json.dumps(place)],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        cwd=Path(__file__).parent,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told: dict[str, Any] = json.loads(done.stdout.strip().split("\n")[-1])
    if client.startswith("ts-"):
        told["progress"] = told["progress"][:2]
    return told
