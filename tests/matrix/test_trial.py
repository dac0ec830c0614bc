"""A server is met once before the client stacks meet it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_anyera.matrix import result as results
from mcp_anyera.matrix import trial
from mcp_anyera.matrix.gaps import Gaps
from mcp_anyera.matrix.ordering import MODERN_ONLY, tried, your_server
from mcp_anyera.matrix.pair import Cell, Pair
from mcp_anyera.matrix.processes import listening
from mcp_anyera.matrix.result import Result
from mcp_anyera.matrix.running import Order, run
from mcp_anyera.matrix.scenarios import Scenarios
from tests.matrix.stage import MINIS, mini_client, mini_server

PROGRAM = str(MINIS / "server.py")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def met(way: str) -> Any:
    """Return what the scenario of the old way is for a server of the user."""
    server = your_server(shlex.join([sys.executable, PROGRAM, way]))
    [server] = tried(Order([], [server], Scenarios.load())).servers
    return server.changes("no-back-channel")


def test_nothing_of_the_legacy_era_is_wanted_of_a_server_that_refuses_it() -> None:
    assert met("modern only") == {"unsupported": MODERN_ONLY}
    assert met("right") == {}


def test_a_server_that_is_silent_is_left_to_the_scenarios(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trial, "ANSWERS_WITHIN", 0.1)
    server = your_server(shlex.join([sys.executable, "-c", "input(); input()"]))
    order = Order([], [server], Scenarios.load())
    assert tried(order).servers == [server]


def test_a_server_that_does_not_start_says_why() -> None:
    with pytest.raises(ValueError, match=r"status 1 instead.*stderr: no such thing"):
        met("cannot start")


@pytest.mark.parametrize(("way", "refuses"), [("refuses", True), ("answers", False)])
async def test_a_server_at_a_url_is_asked_too(
    way: str, refuses: bool, tmp_path: Path
) -> None:
    command = [sys.executable, str(MINIS / "web.py"), way]
    async with listening(command, {}, tmp_path / "err") as url:
        assert await trial.refused_by_url(url) is refuses


def ignored(_pair: Pair, _name: str, _cell: Cell) -> None:
    """Watch nothing."""


async def test_a_peer_that_does_not_start_is_said_once_and_not_played() -> None:
    ids = Scenarios.load().chosen(["connect", "call"])
    own = {"environment": "none", "start": [PROGRAM, "cannot start"]}
    server = mini_server("cannot start", **own)
    clients = [mini_client("right"), mini_client("right")]
    pairs = [Pair(client, server, "stdio", ids, 5.0) for client in clients]
    result = Result(ids, pairs, Gaps())
    await run(pairs, result, 2, ignored)
    [said] = results.errors(result.data())
    assert said.endswith("on stderr: no such thing")
    assert results.status(result.data()) == 2
