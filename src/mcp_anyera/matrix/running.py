"""Runs pairs, a few at a time, and keeps the result valid whatever happens."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mcp_anyera.matrix.environments import (
    Environment,
    MissingError,
    for_client,
    for_server,
)
from mcp_anyera.matrix.gaps import Gaps
from mcp_anyera.matrix.pair import Cell, Client, Pair
from mcp_anyera.matrix.peers import Peer
from mcp_anyera.matrix.result import Result
from mcp_anyera.matrix.scenarios import Scenarios
from mcp_anyera.matrix.stages import Server

LIMIT: Final = 10.0
"""Seconds that one scenario may take."""
JOBS: Final = 2

Watch = Callable[[Pair, str, Cell], None]


@dataclass
class Order:
    """What is to be run."""

    clients: Sequence[Peer]
    servers: Sequence[Peer]
    scenarios: Scenarios
    gaps: Gaps = field(default_factory=Gaps)
    jobs: int = JOBS
    limit: float = LIMIT
    transports: Sequence[str] = ("stdio", "http")


@dataclass
class Prepared:
    """Pairs that can run, and why the others cannot."""

    pairs: list[Pair]
    missing: dict[str, str]
    """By the name of a peer."""


def prepare(order: Order) -> Prepared:
    """Make the environments and pair everybody with everybody."""
    missing: dict[str, str] = {}
    clients = [Client(each, _made(each, missing)) for each in order.clients]
    servers = [Server(each, _made(each, missing)) for each in order.servers]
    pairs = [
        Pair(client, server, transport, order.scenarios, order.limit)
        for server in servers
        for transport in server.peer.transports
        if transport in order.transports
        for client in clients
    ]
    return Prepared(pairs, missing)


def _made(peer: Peer, missing: dict[str, str]) -> Environment | None:
    if peer.data["environment"] == "own":
        return None
    try:
        return for_client(peer) if peer.kind == "client" else for_server(peer)
    except MissingError as error:
        missing[peer.name] = str(error)
        return None


async def run(prepared: Prepared, result: Result, jobs: int, watch: Watch) -> None:
    """Run every pair.

    Args:
        prepared: The pairs.
        result: Takes each pair when it is done, and each that was begun when the
            run is interrupted.
        jobs: How many at a time.
        watch: Hears of each cell.
    """
    gate = asyncio.Semaphore(jobs)
    with tempfile.TemporaryDirectory(prefix="anyera-matrix-") as scratch:
        tasks = [
            asyncio.ensure_future(
                _one(pair, prepared, result, gate, Path(scratch) / str(number), watch)
            )
            for number, pair in enumerate(prepared.pairs)
        ]
        try:
            await asyncio.gather(*tasks)
            result.complete = True
        finally:
            await _all_ended(tasks)


async def _all_ended(tasks: Iterable[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _one(
    pair: Pair,
    prepared: Prepared,
    result: Result,
    gate: asyncio.Semaphore,
    folder: Path,
    watch: Watch,
) -> None:
    async with gate:
        folder.mkdir()  # noqa: ASYNC240 - at once
        try:
            if not _absent(pair, prepared.missing, watch):
                await pair.run(folder, lambda name, cell: watch(pair, name, cell))
        finally:
            if pair.cells:
                result.add(pair)


def _absent(pair: Pair, missing: dict[str, str], watch: Watch) -> bool:
    """Settle a pair of which one is missing: that is an error and no skip."""
    client, server, _ = pair.name
    reasons = [missing[name] for name in (client, server) if name in missing]
    for reason in reasons[:1]:
        for name in pair.scenarios:
            pair.cells[name] = Cell("error", reason)
            watch(pair, name, pair.cells[name])
    return bool(reasons)
