"""The memory that connections take: ``python memory.py WAY CONNECTIONS URL``.

Opens so many connections at once in one way, leaves them idle, and prints JSON: the
resident memory of one, in kilobytes, the tasks that it keeps, and the peak of this
process after results of a megabyte, in megabytes.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
from ways import WAYS

AT_ONCE, RESULTS = 25, 10


def resident() -> int:
    """Return the resident memory of this process, in kilobytes."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") // 1024


async def hold(way: str, place: list[str], opened: Any, done: anyio.Event) -> None:
    """Keep one connection open until all are done."""
    async with AsyncExitStack() as stack:
        client = await WAYS[way](stack, place)
        await opened.send(client)
        await done.wait()


async def main(way: str, count: int, place: list[str]) -> None:
    """Open the connections and print the figures as JSON."""
    done, (opened, arrived) = anyio.Event(), anyio.create_memory_object_stream[Any](0)
    clients = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hold, way, place, opened, done)
        clients.append(await arrived.receive())
        before, running = resident(), len(asyncio.all_tasks())
        for begun in range(0, count, AT_ONCE):
            for _ in range(min(AT_ONCE, count - begun)):
                tasks.start_soon(hold, way, place, opened, done)
            clients += [
                await arrived.receive() for _ in range(min(AT_ONCE, count - begun))
            ]
        figures = {
            "each": (resident() - before) / count,
            "tasks": (len(asyncio.all_tasks()) - running) / count,
        }
        for _ in range(RESULTS):
            await clients[0].call_tool("big", {})
        done.set()
    figures["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({name: round(figure, 1) for name, figure in figures.items()}))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], int(sys.argv[2]), sys.argv[3:])
