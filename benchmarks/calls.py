"""The cost of a call on stdio: the SDK alone, through `adapt`, through `Client`.

``python calls.py COMMAND...`` opens one connection in each way to a server of its
own and calls in turns, so that whatever else the machine does hits all alike.
Prints, for each way, the median time of a call and the processor time that this
process spent on one, in microseconds.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from contextlib import AsyncExitStack
from typing import Any

import anyio
import mcp
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_anyera import Client, adapt

BLOCKS = 40
CALLS = 50


async def open_session(stack: AsyncExitStack, transport: Any) -> Any:
    """Return the SDK's session on a transport."""
    read, write = await stack.enter_async_context(transport)
    session = await stack.enter_async_context(ClientSession(read, write))
    await session.initialize()
    return session


async def ways(
    stack: AsyncExitStack, parameters: StdioServerParameters
) -> dict[str, Any]:
    """Open one connection in each way that works with this server."""
    found: dict[str, Any] = {}
    found["adapt"] = await open_session(stack, adapt(stdio_client(parameters)))
    ours = await stack.enter_async_context(Client(parameters))
    found["Client"] = ours
    if ours.era.value == "legacy":
        found["session alone"] = await open_session(stack, stdio_client(parameters))
    if hasattr(mcp, "Client"):
        theirs = mcp.Client(stdio_client(parameters))
        found["mcp.Client alone"] = await stack.enter_async_context(theirs)
    return found


async def block(client: Any) -> tuple[list[float], float]:
    """Make some calls; return the time of each and the processor time of all."""
    times: list[float] = []
    spent = time.process_time()
    for _ in range(CALLS):
        began = time.perf_counter()
        await client.call_tool("echo", {"text": "x"})
        times.append(time.perf_counter() - began)
    return times, time.process_time() - spent


async def main(command: list[str]) -> None:
    """Measure in turns and print the figures as JSON."""
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    async with AsyncExitStack() as stack:
        clients = await ways(stack, parameters)
        times: dict[str, list[float]] = {name: [] for name in clients}
        spent: dict[str, list[float]] = {name: [] for name in clients}
        for client in clients.values():
            await block(client)
        for _ in range(BLOCKS):
            for name, client in clients.items():
                some, cpu = await block(client)
                times[name] += some
                spent[name].append(cpu / CALLS)
        figures = {
            name: {
                "p50": statistics.median(times[name]) * 1e6,
                "p99": statistics.quantiles(times[name], n=100)[98] * 1e6,
                "cpu": statistics.median(spent[name]) * 1e6,
            }
            for name in clients
        }
    print(json.dumps(figures))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
