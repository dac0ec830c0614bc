"""Runs pairs, a few at a time, and keeps the result valid whatever happens."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from mcp_anyera.matrix import trial
from mcp_anyera.matrix.environments import MissingError, for_client, for_server
from mcp_anyera.matrix.gaps import Gaps
from mcp_anyera.matrix.pair import Cell, Client, Pair
from mcp_anyera.matrix.peers import Peer
from mcp_anyera.matrix.processes import NotStartedError
from mcp_anyera.matrix.result import Result
from mcp_anyera.matrix.scenarios import Scenarios
from mcp_anyera.matrix.stages import Server

LIMIT: Final = 10.0
"""Seconds that one scenario may take."""
JOBS: Final = 2
MAKERS: Final = 2
"""Environments that are made at a time."""

Watch = Callable[[Pair, str, Cell], None]
Making = Coroutine[Any, Any, str | None]


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


def paired(order: Order) -> list[Pair]:
    """Pair everybody with everybody.

    Raises:
        ValueError: There is no pair.
    """
    clients = [Client(each) for each in order.clients]
    servers = [Server(each) for each in order.servers]
    pairs = [
        Pair(client, server, transport, order.scenarios, order.limit)
        for server in servers
        for transport in server.peer.transports
        if transport in order.transports
        for client in clients
    ]
    if not pairs:
        raise ValueError("no client stack and server meet on these transports")
    return pairs


async def run(pairs: Sequence[Pair], result: Result, jobs: int, watch: Watch) -> None:
    """Run every pair, each when the environments of its two are there.

    Args:
        pairs: What to run.
        result: Takes each pair when it is done, and each that was begun when the
            run is interrupted.
        jobs: How many at a time.
        watch: Hears of each cell.
    """
    with tempfile.TemporaryDirectory(prefix="anyera-matrix-") as scratch:
        running = _Run(result, asyncio.Semaphore(jobs), Path(scratch), watch)
        tasks = [
            asyncio.ensure_future(running.one(pair, str(number)))
            for number, pair in enumerate(pairs)
        ]
        try:
            await asyncio.gather(*tasks)
            result.complete = True
        finally:
            await _all_ended([*tasks, *running.made.values()])


async def _all_ended(tasks: Iterable[asyncio.Future[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _tried(server: Server) -> str | None:
    """Start a server of the repository; the user's own has been met before."""
    if server.peer.data["environment"] == "own":
        return None
    try:
        await trial.refused_by_command(server.command("start"))
    except NotStartedError as error:
        return str(error)
    return None


class _Run:
    """What the pairs of a run share."""

    def __init__(
        self, result: Result, gate: asyncio.Semaphore, scratch: Path, watch: Watch
    ) -> None:
        self.made: dict[str, asyncio.Task[str | None]] = {}
        """By what is done; a result is the reason why a peer cannot be had."""
        self._result = result
        self._gate = gate
        self._makers = asyncio.Semaphore(MAKERS)
        self._scratch = scratch
        self._watch = watch

    async def one(self, pair: Pair, name: str) -> None:
        """Run a pair when its turn comes."""
        waits = [self._ready(pair.client), self._ready(pair.server)]
        reasons = await asyncio.gather(*waits)
        if pair.transport == "stdio" and not any(reasons):
            reasons.append(await self._starts(pair.server))
        async with self._gate:
            folder = self._scratch / name
            folder.mkdir()
            try:
                if not self._absent(pair, reasons):
                    await pair.run(folder, partial(self._watch, pair))
            finally:
                if pair.cells:
                    self._result.add(pair)

    async def _ready(self, party: Client | Server) -> str | None:
        """Wait until an environment is made."""
        peer = party.peer
        return await self._once(f"{peer.kind} {peer.name}", partial(self._make, party))

    async def _starts(self, server: Server) -> str | None:
        """Wait until it is known that a stdio server starts."""
        return await self._once(f"try {server.peer.name}", partial(_tried, server))

    async def _once(self, what: str, do: Callable[[], Making]) -> str | None:
        """Wait for what the first to want it has done."""
        if what not in self.made:
            self.made[what] = asyncio.ensure_future(do())
        return await asyncio.shield(self.made[what])

    async def _make(self, party: Client | Server) -> str | None:
        peer = party.peer
        if peer.data["environment"] == "own":
            return None
        make = for_client if peer.kind == "client" else for_server
        async with self._makers:
            try:
                party.environment = await asyncio.to_thread(make, peer)
            except MissingError as error:
                return str(error)
        return None

    def _absent(self, pair: Pair, reasons: Iterable[str | None]) -> bool:
        """Settle a pair of which one is missing: that is an error and no skip."""
        reason = next(filter(None, reasons), None)
        if reason is None:
            return False
        for name in pair.scenarios:
            pair.cells[name] = Cell("error", reason)
            self._watch(pair, name, pair.cells[name])
        return True
