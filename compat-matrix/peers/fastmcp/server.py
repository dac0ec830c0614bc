"""A server on FastMCP, of whichever version is installed beside it."""

from typing import Any

import anyio
from fastmcp import Context, FastMCP

server = FastMCP("anyera-peer", version="1.0", instructions="A peer for tests.")


@server.tool
def echo(text: str) -> str:
    return text


@server.tool
async def issue_card(book: str, ctx: Context) -> str:
    answer = await ctx.elicit("Whose card is it?", str)
    if answer.action != "accept":
        return "declined" if answer.action == "decline" else "cancelled"
    return f"card for {answer.data}: {book}"


@server.tool
async def two_rounds(ctx: Context) -> str:
    first = await ctx.elicit("First?", str)
    second = await ctx.elicit(f"After {first.data}?", str)
    return f"{first.data} then {second.data}"


@server.tool
async def summarise(text: str, ctx: Context) -> str:
    answer = await ctx.sample(f"Summarise: {text}", max_tokens=100)
    return f"summary: {answer.text}"


@server.tool
async def workspace(ctx: Context) -> str:
    return ",".join(str(root.uri) for root in await ctx.list_roots())


@server.tool
async def chatty(ctx: Context) -> str:
    for level in ("debug", "info", "warning", "error"):
        await ctx.log(f"{level} message", level=level)
    return "logged"


@server.tool
async def count(steps: int, ctx: Context) -> str:
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"step {step}")
    return "counted"


@server.tool
async def slow(seconds: float) -> str:
    await anyio.sleep(seconds)
    return "slept"


@server.tool
def fail() -> str:
    raise ValueError("it failed")


@server.prompt
def greeting(name: str) -> str:
    return f"Hello {name}"


@server.resource("note://plain")
def plain() -> str:
    return "a plain note"


def http_app(flags: set[str]) -> tuple[Any, str]:
    return server.http_app(), "/mcp"
