"""A server on FastMCP, of whichever version is installed beside it."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
from fastmcp import Context, FastMCP
from fastmcp.tools import Tool
from mcp import types
from pydantic import BaseModel

MODERN = "2026-07-28"
server = FastMCP("anyera-peer", version="1.0", instructions="A peer for tests.")


class Go(BaseModel):
    go: bool


class Topic(BaseModel):
    topic: str


class Page(BaseModel):
    page: str


@server.tool
def echo(text: str) -> str:
    return text


@server.tool
async def client_features(ctx: Context) -> str:
    params = ctx.session.client_params
    declared = params.capabilities.model_dump(exclude_none=True) if params else {}
    return json.dumps(sorted(declared))


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
async def link_account(ctx: Context) -> str:
    url = "https://example.com/link"
    answer = await ctx.session.elicit_url("Open the page", url, "link-1")
    return f"linked: {answer.action}"


# FastMCP 4 has neither ctx.sample() nor ctx.list_roots(). On a legacy connection its
# session asks; on a modern one the tool returns its question.
if hasattr(Context, "sample"):

    @server.tool
    async def summarise(text: str, ctx: Context) -> str:
        answer = await ctx.sample(f"Summarise: {text}", max_tokens=100)
        return f"summary: {answer.text}"

    @server.tool
    async def workspace(ctx: Context) -> str:
        return ",".join(str(root.uri) for root in await ctx.list_roots())

else:

    def must_return(ctx: Context, name: str, question: Any) -> Any:
        """Return the question as a result if that is the only way to ask it."""
        if ctx.session.protocol_version != MODERN or ctx.input_responses:
            return None
        return types.InputRequiredResult(input_requests={name: question})

    @server.tool
    async def summarise(text: str, ctx: Context) -> str | types.InputRequiredResult:
        content = types.TextContent(text=f"Summarise: {text}")
        messages = [types.SamplingMessage(role="user", content=content)]
        params = types.CreateMessageRequestParams(messages=messages, max_tokens=100)
        question = types.CreateMessageRequest(params=params)
        if asked := must_return(ctx, "summary", question):
            return asked
        answer = (ctx.input_responses or {}).get("summary")
        answer = answer or await ctx.session.create_message(messages, max_tokens=100)
        return f"summary: {answer.content.text}"

    @server.tool
    async def workspace(ctx: Context) -> str | types.InputRequiredResult:
        if asked := must_return(ctx, "roots", types.ListRootsRequest()):
            return asked
        answer = (ctx.input_responses or {}).get("roots")
        answer = answer or await ctx.session.list_roots()
        return ",".join(str(root.uri) for root in answer.roots)


@server.tool
def patience(legs: int) -> str:
    return f"done after {legs} legs"


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
async def count_and_ask(steps: int, ctx: Context) -> str:
    for step in range(1, 2 * steps + 1):
        await ctx.report_progress(step, 2 * steps, f"step {step}")
        if step == steps:
            await ctx.elicit("Go on?", Go)
    return "counted twice"


def extra() -> str:
    return "extra"


@server.tool
async def add_tool(ctx: Context) -> str:
    server.add_tool(Tool.from_function(extra))
    if hasattr(ctx, "send_notification"):  # FastMCP 2 tells of it by itself
        await ctx.send_notification(types.ToolListChangedNotification())
    return "added"


@server.tool
async def slow(seconds: float) -> str:
    note("started slow")
    try:
        await anyio.sleep(seconds)
    except anyio.get_cancelled_exc_class():
        note("cancelled slow")
        raise
    return "slept"


def note(line: str) -> None:
    path = os.environ.get("PEER_LOG")
    if path:
        with Path(path).open("a") as file:
            file.write(line + "\n")


@server.tool
def fail() -> str:
    raise ValueError("it failed")


@server.tool
def crash() -> str:
    print("crashing on request", file=sys.stderr, flush=True)
    os._exit(3)


@server.prompt
def greeting(name: str) -> str:
    return f"Hello {name}"


@server.prompt
async def asking_prompt(ctx: Context) -> str:
    answer = await ctx.elicit("Topic?", Topic)
    return f"Write about {answer.data.topic}"


@server.resource("note://plain")
def plain() -> str:
    return "a plain note"


@server.resource("note://asking")
async def asking(ctx: Context) -> str:
    answer = await ctx.elicit("Page?", Page)
    return f"page {answer.data.page}"


def http_app(flags: set[str]) -> tuple[Any, str]:
    return server.http_app(), "/mcp"
