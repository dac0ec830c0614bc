"""The ways to reach a server that are compared: the SDK alone, and ours beside it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import mcp
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

from mcp_anyera import Client, adapt

SDK2 = hasattr(mcp, "Client")
Way = Callable[[AsyncExitStack, list[str]], Any]


async def answer(_context: object, _params: object) -> ElicitResult:
    """Answer as fast as can be."""
    return ElicitResult(action="accept", content={"name": "Ada"})


def parameters(place: list[str]) -> StdioServerParameters:
    """Return what the SDK calls a command."""
    return StdioServerParameters(command=place[0], args=place[1:])


def over_http(place: list[str]) -> bool:
    """Tell whether a place is a URL."""
    return place[0].startswith("http")


def transport(place: list[str]) -> AbstractAsyncContextManager[Any]:
    """Return the SDK's transport, not yet entered."""
    if over_http(place):
        return streamable_http_client(place[0])
    return stdio_client(parameters(place))


async def session(stack: AsyncExitStack, streams: Any) -> Any:
    """Open the SDK's session on streams."""
    read, write, *_ = await stack.enter_async_context(streams)
    made = ClientSession(read, write, elicitation_callback=answer)
    opened = await stack.enter_async_context(made)
    await opened.initialize()
    return opened


async def alone(stack: AsyncExitStack, place: list[str]) -> Any:
    """Open the SDK's session on the SDK's streams; legacy servers only."""
    return await session(stack, transport(place))


async def adapted(stack: AsyncExitStack, place: list[str]) -> Any:
    """Open the SDK's session on adapted streams."""
    return await session(stack, adapt(transport(place)))


async def ours(stack: AsyncExitStack, place: list[str]) -> Any:
    """Open our client."""
    server = place[0] if over_http(place) else parameters(place)
    made = Client(server, elicitation_callback=answer)
    return await stack.enter_async_context(made)


async def theirs(stack: AsyncExitStack, place: list[str]) -> Any:
    """Open the client of SDK 2.x."""
    server = place[0] if over_http(place) else transport(place)
    made = mcp.Client(server, elicitation_callback=answer)
    return await stack.enter_async_context(made)


WAYS: dict[str, Way] = {
    "Client": ours,
    "mcp.Client": theirs,
    "adapt": adapted,
    "session": alone,
}


async def open_all(stack: AsyncExitStack, place: list[str]) -> dict[str, Any]:
    """Open one connection in each way that works with this server."""
    first = await ours(stack, place)
    found = {"Client": first}
    if SDK2:
        found["mcp.Client"] = await theirs(stack, place)
    if first.era.value == "legacy":
        found["adapt"] = await adapted(stack, place)
        found["session"] = await alone(stack, place)
    return found
