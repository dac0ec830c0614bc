"""What a call costs while many others are in flight.

``python flight.py LIMIT COMMAND...`` starts 1, 10, 100, 1 000 … calls at a time, up to
the limit, in each way in turns, and prints JSON: for each number and way the processor
time of this process and the time on the clock that one of the calls took, in
microseconds, the best of the turns.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import AsyncExitStack
from typing import Any

import anyio
from ways import open_all

TURNS, LEAST_CALLS = 3, 400


async def call(client: Any) -> None:
    """Make one call."""
    await client.call_tool("echo", {"text": "x"})


async def together(client: Any, count: int) -> None:
    """Make calls that are all in flight at the same time."""
    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(call, client)


async def cost(client: Any, count: int) -> dict[str, float]:
    """Return what one call costs while so many are in flight."""
    rounds = max(1, LEAST_CALLS // count)
    began, spent = time.perf_counter(), time.process_time()
    for _ in range(rounds):
        await together(client, count)
    calls = rounds * count / 1e6
    cpu, wall = time.process_time() - spent, time.perf_counter() - began
    return {"cpu": round(cpu / calls, 1), "wall": round(wall / calls, 1)}


async def main(limit: int, place: list[str]) -> None:
    """Measure each number of calls and print the figures as JSON."""
    found: dict[int, dict[str, dict[str, float]]] = {}
    async with AsyncExitStack() as stack:
        clients = await open_all(stack, place)
        for client in clients.values():
            await together(client, LEAST_CALLS)
        for power in range(len(str(limit))):
            taken: dict[str, list[dict[str, float]]] = {way: [] for way in clients}
            for _ in range(TURNS):
                for way, client in clients.items():
                    taken[way].append(await cost(client, 10**power))
            found[10**power] = {
                way: min(some, key=lambda one: one["cpu"])
                for way, some in taken.items()
            }
    print(json.dumps(found))


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]), sys.argv[2:])
