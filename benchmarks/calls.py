"""What calls cost: the SDK alone, through `adapt`, through `Client`.

``python calls.py SCALE CASES COMMAND...`` (or a URL in place of the command) opens one
connection in each way and calls in turns, so that whatever else the machine does hits
all alike. Prints JSON: for each case and way the median and the 99th percentile of the
time of a call, how far apart the middle half of the blocks lies, and the processor time
that this process spent on a call, all in microseconds.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

import anyio
from ways import open_all

Call = Callable[[Any], Awaitable[object]]


class Case(NamedTuple):
    """One thing to do: in so many blocks, so many times in each."""

    blocks: int
    calls: int
    call: Call


def tool(name: str, **arguments: str) -> Call:
    """Return the call of a tool."""
    return lambda client: client.call_tool(name, arguments)


async def hear(_progress: float, _total: float | None, _message: str | None) -> None:
    """Take a progress notification."""


def listened(client: Any) -> Awaitable[object]:
    """Call the tool that notifies a hundred times."""
    return client.call_tool("notify", {}, progress_callback=hear)


CASES = {
    "echo": Case(40, 50, tool("echo", text="x")),
    "issue_card": Case(30, 20, tool("issue_card", book="x")),
    "one_round": Case(30, 25, tool("one_round")),
    "three_rounds": Case(20, 15, tool("three_rounds")),
    "list": Case(20, 6, lambda client: client.list_tools()),
    "big": Case(12, 4, tool("big")),
    "notify": Case(15, 3, listened),
}


async def block(client: Any, case: Case) -> tuple[list[float], float]:
    """Make the calls of a block; return the time of each, and the processor time."""
    times: list[float] = []
    spent = time.process_time()
    for _ in range(case.calls):
        began = time.perf_counter()
        await case.call(client)
        times.append(time.perf_counter() - began)
    return times, (time.process_time() - spent) / case.calls


async def measure(clients: dict[str, Any], case: Case) -> dict[str, Any]:
    """Run the blocks of a case in turns."""
    taken: dict[str, list[tuple[list[float], float]]] = {way: [] for way in clients}
    for number in range(case.blocks + 1):
        for way, client in clients.items():
            one = await block(client, case)
            if number:  # the first block warms up
                taken[way].append(one)
    return {way: figures(blocks) for way, blocks in taken.items()}


def figures(blocks: list[tuple[list[float], float]]) -> dict[str, float]:
    """Return what became of one way's blocks, in microseconds."""
    times = [one for some, _ in blocks for one in some]
    low, _, high = statistics.quantiles([statistics.median(b[0]) for b in blocks], n=4)
    seconds = {
        "p50": statistics.median(times),
        "p99": statistics.quantiles(times, n=100)[98],
        "spread": high - low,
        "cpu": statistics.median([cpu for _, cpu in blocks]),
    }
    return {name: round(figure * 1e6, 1) for name, figure in seconds.items()}


async def main(scale: float, cases: list[str], place: list[str]) -> None:
    """Measure each case and print the figures as JSON."""
    found = {}
    async with AsyncExitStack() as stack:
        clients = await open_all(stack, place)
        for name in cases:
            case = CASES[name]
            fewer = case._replace(blocks=max(3, round(case.blocks * scale)))
            found[name] = await measure(clients, fewer)
    print(json.dumps(found))


if __name__ == "__main__":
    anyio.run(main, float(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:])
