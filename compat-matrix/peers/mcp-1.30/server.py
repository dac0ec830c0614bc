"""A legacy server on SDK 1.30: it calls the client back in the middle of a call."""

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import anyio
from contract import add_contract_tools
from mcp import types
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.lowlevel.server import (
    InitializationOptions,
    NotificationOptions,
    Server,
)
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import UrlElicitationRequiredError
from pydantic import AnyUrl, BaseModel

logging.disable(logging.WARNING)  # the SDK writes a page for every unknown method

server = FastMCP("anyera-peer", instructions="A peer for tests.")
add_contract_tools(server)
LEVELS = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
levels: WeakKeyDictionary[object, str] = WeakKeyDictionary()  # of each session


class Name(BaseModel):
    name: str


class First(BaseModel):
    first: str


class Second(BaseModel):
    second: str


class Go(BaseModel):
    go: bool


class Topic(BaseModel):
    topic: str


class Page(BaseModel):
    page: str


@server.tool(structured_output=False)
def echo(text: str) -> str:
    return text


@server.tool(structured_output=False)
async def client_features(ctx: Context) -> str:
    params = ctx.session.client_params
    declared = params.capabilities.model_dump(exclude_none=True) if params else {}
    return json.dumps(sorted(declared))


@server.tool(structured_output=False)
async def issue_card(book: str, ctx: Context) -> str:
    answer = await ctx.elicit("Whose card is it?", Name)
    if answer.action != "accept":
        return "declined" if answer.action == "decline" else "cancelled"
    return f"card for {answer.data.name}: {book}"


@server.tool(structured_output=False)
async def link_account(ctx: Context) -> str:
    answer = await ctx.elicit_url("Open the page", "https://example.com/link", "link-1")
    return f"linked: {answer.action}"


async def sample(ctx: Context, text: str, **more: object) -> types.CreateMessageResult:
    content = types.TextContent(type="text", text=f"Summarise: {text}")
    message = types.SamplingMessage(role="user", content=content)
    return await ctx.session.create_message([message], max_tokens=100, **more)


@server.tool(structured_output=False)
async def summarise(text: str, ctx: Context) -> str:
    answer = await sample(ctx, text)
    return f"summary: {answer.content.text}"


@server.tool(structured_output=False)
async def use_tools(ctx: Context) -> str:
    clock = types.Tool(name="clock", inputSchema={"type": "object"})
    choice = types.ToolChoice(mode="auto")
    answer = await sample(ctx, "the time", tools=[clock], tool_choice=choice)
    return f"stop: {answer.stopReason}"


@server.tool(structured_output=False)
async def workspace(ctx: Context) -> str:
    answer = await ctx.session.list_roots()
    return ",".join(str(root.uri) for root in answer.roots)


@server.tool(structured_output=False)
async def two_rounds(ctx: Context) -> str:
    first = (await ctx.elicit("First?", First)).data.first
    second = (await ctx.elicit(f"After {first}?", Second)).data.second
    return f"{first} then {second}"


@server.tool(structured_output=False)
async def three_questions(ctx: Context) -> str:
    got: dict[str, object] = {}

    async def name() -> None:
        got["name"] = (await ctx.elicit("Name?", Name)).data.name

    async def summary() -> None:
        got["summary"] = (await sample(ctx, "three")).content.text

    async def roots() -> None:
        got["roots"] = len((await ctx.session.list_roots()).roots)

    async with anyio.create_task_group() as tasks:
        for question in (name, summary, roots):
            tasks.start_soon(question)
    return f"{got['name']} / {got['summary']} / {got['roots']}"


@server.tool(structured_output=False)
async def endless(ctx: Context) -> str:
    for number in range(1, 151):
        if (await ctx.elicit(f"Question {number}?", Name)).action != "accept":
            return "stopped"
    return "asked 150 times"


@server.tool(structured_output=False)
async def insist(ctx: Context) -> str:
    for _ in range(20):
        if (await ctx.elicit("Do you agree?", Go)).action == "accept":
            return "agreed"
    return "gave up"


@server.tool(structured_output=False)
def regional(region: str) -> str:
    return f"served from {region}"


@server.tool(structured_output=False)
def patience(legs: int) -> str:
    return f"done after {legs} legs"


@server.tool(structured_output=False)
async def chatty(ctx: Context) -> str:
    wanted = LEVELS.index(levels.get(ctx.session, "debug"))
    for level in ("debug", "info", "warning", "error"):
        if LEVELS.index(level) >= wanted:
            await ctx.session.send_log_message(level, f"{level} message", "peer")
    return "logged"


@server.tool(structured_output=False)
async def count(steps: int, ctx: Context) -> str:
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"step {step}")
    return "counted"


@server.tool(structured_output=False)
async def count_and_ask(steps: int, ctx: Context) -> str:
    for step in range(1, 2 * steps + 1):
        await ctx.report_progress(step, 2 * steps, f"step {step}")
        if step == steps:
            await ctx.elicit("Go on?", Go)
    return "counted twice"


def extra() -> str:
    return "extra"


@server.tool(structured_output=False)
async def add_tool(ctx: Context) -> str:
    server.add_tool(extra)
    await ctx.session.send_tool_list_changed()
    return "added"


@server.tool(structured_output=False)
async def touch(uri: str, ctx: Context) -> str:
    if uri in subscribed:
        await ctx.session.send_resource_updated(AnyUrl(uri))
    return "touched"


@server.tool(structured_output=False)
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


left = {"visits": 0}


@server.tool(structured_output=False)
def members_only(visits: int) -> str:
    left["visits"] = left["visits"] or visits + 1
    left["visits"] -= 1
    if not left["visits"]:
        return "welcome"
    page = types.ElicitRequestURLParams(
        mode="url",
        message="Join",
        url="https://example.com/join",
        elicitationId="join-1",
    )
    raise UrlElicitationRequiredError([page])


@server.tool(structured_output=False)
def fail() -> str:
    raise ValueError("it failed")


@server.tool(structured_output=False)
def crash() -> str:
    print("crashing on request", file=sys.stderr, flush=True)
    os._exit(3)


@server.prompt()
def greeting(name: str) -> str:
    return f"Hello {name}"


@server.prompt()
async def asking_prompt(ctx: Context) -> str:
    answer = await ctx.elicit("Topic?", Topic)
    return f"Write about {answer.data.topic}"


@server.resource("note://plain")
def plain() -> str:
    return "a plain note"


@server.resource("note://asking")
async def asking() -> str:
    answer = await server.get_context().elicit("Page?", Page)
    return f"page {answer.data.page}"


@server.completion()
async def complete(
    ref: object, argument: types.CompletionArgument, context: object
) -> types.Completion:
    names = [name for name in ("Ada", "Alan") if name.startswith(argument.value)]
    return types.Completion(values=names)


# What FastMCP has no decorator for.

low: Server = server._mcp_server  # noqa: SLF001
low.version = "1.0"
subscribed: set[str] = set()


@low.set_logging_level()
async def set_level(level: types.LoggingLevel) -> None:
    levels[low.request_context.session] = level


@low.subscribe_resource()
async def subscribe(uri: AnyUrl) -> None:
    subscribed.add(str(uri))


@low.unsubscribe_resource()
async def unsubscribe(uri: AnyUrl) -> None:
    subscribed.discard(str(uri))


def options(*_args: object, **_kwargs: object) -> InitializationOptions:
    made = plain_options(NotificationOptions(tools_changed=True))
    # The SDK has the handlers but always says that it cannot subscribe.
    made.capabilities.resources.subscribe = True
    return made


plain_options = low.create_initialization_options
low.create_initialization_options = options


def http_app(flags: set[str]) -> tuple[Any, str]:
    if "--sse" in flags:
        return server.sse_app(), server.settings.sse_path
    server.settings.stateless_http = "--stateless" in flags
    server.settings.json_response = "--json" in flags
    return server.streamable_http_app(), server.settings.streamable_http_path


async def main() -> None:
    async with stdio_server() as (read, write):
        await low.run(read, write, options())


if __name__ == "__main__":
    anyio.run(main)
