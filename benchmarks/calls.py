"""The cost of a call: the SDK alone, through `adapt`, through `Client`.

``python calls.py TOOL COMMAND...`` (or a URL in place of the command) opens one
connection in each way and calls in turns, so that whatever else the machine does
hits all alike. The tool is ``echo``, or ``issue_card``, which asks once. Prints, for
each way, the median time of a call and the processor time that this process spent
on one, in microseconds.
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
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

from mcp_anyera import Client, adapt

BLOCKS = 40
CALLS = 50
TOOLS = {"echo": {"text": "x"}, "issue_card": {"book": "x"}}


async def answer(_context: object, _params: object) -> ElicitResult:
    """Answer as fast as can be."""
    return ElicitResult(action="accept", content={"name": "Ada"})


async def open_session(stack: AsyncExitStack, transport: Any) -> Any:
    """Return the SDK's session on a transport."""
    read, write, *_ = await stack.enter_async_context(transport)
    made = ClientSession(read, write, elicitation_callback=answer)
    session = await stack.enter_async_context(made)
    await session.initialize()
    return session


def transport(place: list[str]) -> Any:
    """Return the SDK's transport to a command or a URL, not yet entered."""
    if place[0].startswith("http"):
        return streamable_http_client(place[0])
    return stdio_client(StdioServerParameters(command=place[0], args=place[1:]))


async def ways(stack: AsyncExitStack, place: list[str]) -> dict[str, Any]:
    """Open one connection in each way that works with this server."""
    found: dict[str, Any] = {}
    found["adapt"] = await open_session(stack, adapt(transport(place)))
    ours = Client(transport(place), elicitation_callback=answer)
    found["Client"] = await stack.enter_async_context(ours)
    if ours.era.value == "legacy":
        found["session alone"] = await open_session(stack, transport(place))
    if hasattr(mcp, "Client"):
        theirs = mcp.Client(transport(place), elicitation_callback=answer)
        found["mcp.Client alone"] = await stack.enter_async_context(theirs)
    return found


async def block(client: Any, tool: str) -> tuple[list[float], float]:
    """Make some calls; return the time of each and the processor time of all."""
    times: list[float] = []
    spent = time.process_time()
    for _ in range(CALLS):
        began = time.perf_counter()
        await client.call_tool(tool, TOOLS[tool])
        times.append(time.perf_counter() - began)
    return times, time.process_time() - spent


async def main(tool: str, place: list[str]) -> None:
    """Measure in turns and print the figures as JSON."""
    async with AsyncExitStack() as stack:
        clients = await ways(stack, place)
        times: dict[str, list[float]] = {name: [] for name in clients}
        spent: dict[str, list[float]] = {name: [] for name in clients}
        for client in clients.values():
            await block(client, tool)
        for _ in range(BLOCKS):
            for name, client in clients.items():
                some, cpu = await block(client, tool)
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
    anyio.run(main, sys.argv[1], sys.argv[2:])
