"""Pairs of miniature peers, some of which go wrong."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from mcp_anyera.matrix.environments import Environment
from mcp_anyera.matrix.pair import Cell, Client, Pair
from mcp_anyera.matrix.peers import Peer
from mcp_anyera.matrix.scenarios import Scenarios
from mcp_anyera.matrix.stages import Server

HERE = Path(__file__).parent
MINIS = HERE / "minis"
SRC = HERE.parents[1] / "src"
LEGACY_TARGET: dict[str, Any] = {
    "environment": "own",
    "era": "legacy",
    "transports": ["stdio"],
}


def real_client(stack: str = "session") -> Client:
    """A client stack of the matrix on the installed SDK."""
    data = {"stack": stack, "group": "sdk", "environment": "this"}
    variables = {"PYTHONPATH": str(SRC)}
    here = Environment((sys.executable,), Path(os.curdir), {}, variables)
    return Client(Peer(f"real-{stack}", "client", HERE, data), here)


def mini_client(way: str, **more: Any) -> Client:
    """A client stack that goes wrong in one way."""
    command = [sys.executable, str(MINIS / "client.py"), way]
    data = {"command": command, "group": "minis", "required": True}
    data |= {"environment": "own", **more}
    return Client(Peer("mini", "client", HERE, data))


def mini_server(way: str, **more: Any) -> Server:
    """A legacy stdio server that goes wrong in one way, or ``"right"``."""
    command = [sys.executable, str(MINIS / "server.py"), way]
    data = {**LEGACY_TARGET, "start": command, **more}
    return Server(Peer("mini", "server", HERE, data))


def paired(client: Client, server: Server, *ids: str, limit: float = 10.0) -> Pair:
    """Put a client in front of a server."""
    scenarios = Scenarios.load().chosen(ids)
    transport = server.peer.transports[0]
    return Pair(client, server, transport, scenarios, limit)


async def verdicts(pair: Pair, folder: Path) -> dict[str, str]:
    """Run a pair and return its verdicts."""
    heard: dict[str, Cell] = {}
    await pair.run(folder, heard.__setitem__)
    assert heard == pair.cells
    return {name: cell.verdict for name, cell in pair.cells.items()}
