"""A server on SDK 2.3: dual-era, or with ``--modern-only`` modern only.

The SDK always serves both eras, so "modern only" is a middleware that refuses
the handshake with the error that the specification has for it.
"""

import json
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import anyio
from contract import add_contract_tools
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    Completion,
    CompletionArgument,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    EmptyResult,
    InputRequiredResult,
    ListRootsResult,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    Tool,
    ToolChoice,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

logging.disable(logging.WARNING)
warnings.simplefilter("ignore")  # what is deprecated here is what is tested

MODERN = "2026-07-28"
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
subscribed: set[str] = set()


async def refuse_handshake(ctx: Any, call_next: Any) -> Any:
    if ctx.method == "initialize":
        asked = (ctx.params or {}).get("protocolVersion", "")
        data = {"supported": [MODERN], "requested": asked}
        raise MCPError(-32022, "Unsupported protocol version", data)
    return await call_next(ctx)


server = MCPServer(
    "anyera-peer",
    version="1.0",
    instructions="A peer for tests.",
    log_level="CRITICAL",
    middleware=[refuse_handshake] if "--modern-only" in sys.argv else [],
)
add_contract_tools(server)


class Name(BaseModel):
    name: str


class First(BaseModel):
    first: str


class Second(BaseModel):
    second: str


class Go(BaseModel):
    go: bool


def kept(ctx: Any) -> dict[str, Any]:
    """Return what is kept for a connection, which many sessions may share."""
    return ctx.session._connection.state  # noqa: SLF001


def is_modern(ctx: Context) -> bool:
    return ctx.protocol_version == MODERN


def form(message: str, name: str) -> ElicitRequest:
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"}},
        "required": [name],
    }
    return ElicitRequest(
        params=ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def answered(ctx: Context, key: str) -> Any:
    return (ctx.input_responses or {}).get(key)


@server.tool(structured_output=False)
def echo(text: str) -> str:
    return text


@server.tool(structured_output=False)
async def client_features(ctx: Context) -> str:
    declared = ctx.client_capabilities
    features = declared.model_dump(exclude_none=True) if declared else {}
    return json.dumps(sorted(features))


@server.tool()
async def issue_card(book: str, ctx: Context) -> str | InputRequiredResult:
    if not is_modern(ctx):
        answer: Any = await ctx.elicit("Whose card is it?", Name)
        name = answer.data.name if answer.action == "accept" else None
    elif (answer := answered(ctx, "name")) is None:
        return InputRequiredResult(
            input_requests={"name": form("Whose card is it?", "name")}
        )
    else:
        name = (answer.content or {}).get("name")
    if answer.action != "accept":
        return "declined" if answer.action == "decline" else "cancelled"
    return f"card for {name}: {book}"


@server.tool()
async def link_account(ctx: Context) -> str | InputRequiredResult:
    url = "https://example.com/link"
    if not is_modern(ctx):
        answer: Any = await ctx.elicit_url("Open the page", url, "link-1")
    elif (answer := answered(ctx, "link")) is None:
        question = ElicitRequest(
            params=ElicitRequestURLParams(message="Open the page", url=url)
        )
        return InputRequiredResult(input_requests={"link": question})
    return f"linked: {answer.action}"


def sampling(text: str, **more: Any) -> Sample:
    content = TextContent(text=f"Summarise: {text}")
    return Sample(
        [SamplingMessage(role="user", content=content)], max_tokens=100, **more
    )


async def ask_model(text: str) -> Sample:
    return sampling(text)


@server.tool(structured_output=False)
async def summarise(
    text: str, answer: Annotated[CreateMessageResult, Resolve(ask_model)]
) -> str:
    return f"summary: {answer.content.text}"


async def ask_model_with_tools() -> Sample:
    clock = Tool(name="clock", input_schema={"type": "object"})
    return sampling("the time", tools=[clock], tool_choice=ToolChoice(mode="auto"))


@server.tool(structured_output=False)
async def use_tools(
    answer: Annotated[CreateMessageResultWithTools, Resolve(ask_model_with_tools)],
) -> str:
    return f"stop: {answer.stop_reason}"


async def ask_roots() -> ListRoots:
    return ListRoots()


@server.tool(structured_output=False)
async def workspace(answer: Annotated[ListRootsResult, Resolve(ask_roots)]) -> str:
    return ",".join(str(root.uri) for root in answer.roots)


async def ask_first() -> Elicit[First]:
    return Elicit("First?", First)


async def ask_second(first: Annotated[First, Resolve(ask_first)]) -> Elicit[Second]:
    return Elicit(f"After {first.first}?", Second)


@server.tool(structured_output=False)
async def two_rounds(
    first: Annotated[First, Resolve(ask_first)],
    second: Annotated[Second, Resolve(ask_second)],
) -> str:
    return f"{first.first} then {second.second}"


async def ask_name() -> Elicit[Name]:
    return Elicit("Name?", Name)


async def ask_model_for_three() -> Sample:
    return sampling("three")


@server.tool(structured_output=False)
async def three_questions(
    name: Annotated[Name, Resolve(ask_name)],
    summary: Annotated[CreateMessageResult, Resolve(ask_model_for_three)],
    roots: Annotated[ListRootsResult, Resolve(ask_roots)],
) -> str:
    return f"{name.name} / {summary.content.text} / {len(roots.roots)}"


@server.tool()
async def endless(ctx: Context) -> str | InputRequiredResult:
    if is_modern(ctx):
        number = int(ctx.request_state or 0) + 1
        question = form(f"Question {number}?", "name")
        return InputRequiredResult(
            input_requests={f"q{number}": question}, request_state=str(number)
        )
    for number in range(1, 151):
        if (await ctx.elicit(f"Question {number}?", Name)).action != "accept":
            return "stopped"
    return "asked 150 times"


@server.tool()
async def insist(ctx: Context) -> str | InputRequiredResult:
    if is_modern(ctx):
        answer = answered(ctx, "agree")
        if answer is not None and answer.action == "accept":
            return "agreed"
        return InputRequiredResult(input_requests={"agree": form("Agree?", "name")})
    for _ in range(20):
        if (await ctx.elicit("Do you agree?", Go)).action == "accept":
            return "agreed"
    return "gave up"


InHeader = Field(json_schema_extra={"x-mcp-header": "Region"})


@server.tool(structured_output=False)
def regional(region: Annotated[str, InHeader]) -> str:
    return f"served from {region}"


@server.tool(structured_output=False)
async def old_way(ctx: Context) -> str:
    answer = await ctx.elicit("Whose card is it?", Name)
    return f"card for {answer.data.name}"


@server.tool()
async def patience(legs: int, ctx: Context) -> str | InputRequiredResult:
    waited = int(ctx.request_state or 0)
    if is_modern(ctx) and waited < legs:
        return InputRequiredResult(request_state=str(waited + 1))
    return f"done after {legs} legs"


@server.tool(structured_output=False)
async def chatty(ctx: Context) -> str:
    wanted = LEVELS.index(kept(ctx).get("level", "debug"))
    for level in ("debug", "info", "warning", "error"):
        if is_modern(ctx) or LEVELS.index(level) >= wanted:
            await ctx.session.send_log_message(level, f"{level} message", "peer")
    return "logged"


@server.tool(structured_output=False)
async def count(steps: int, ctx: Context) -> str:
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"step {step}")
    return "counted"


@server.tool()
async def count_and_ask(steps: int, ctx: Context) -> str | InputRequiredResult:
    modern = is_modern(ctx)
    last = steps if modern else 2 * steps
    for step in range(1, last + 1):
        await ctx.report_progress(step, last, f"step {step}")
        if step == steps and not modern:
            await ctx.elicit("Go on?", Go)
    if modern and answered(ctx, "go") is None:
        return InputRequiredResult(input_requests={"go": form("Go on?", "go")})
    return "counted twice"


def extra() -> str:
    return "extra"


@server.tool(structured_output=False)
async def add_tool(ctx: Context) -> str:
    server.add_tool(extra)
    if is_modern(ctx):
        await ctx.notify_tools_changed()
    else:
        await ctx.session.send_tool_list_changed()
    return "added"


@server.tool(structured_output=False)
async def touch(uri: str, ctx: Context) -> str:
    if is_modern(ctx):
        await ctx.notify_resource_updated(uri)
    elif uri in subscribed:
        await ctx.session.send_resource_updated(uri)
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


class Topic(BaseModel):
    topic: str


class Page(BaseModel):
    page: str


@server.prompt()
async def asking_prompt(ctx: Context) -> Any:
    if not is_modern(ctx):
        topic = (await ctx.elicit("Topic?", Topic)).data.topic
    elif (answer := answered(ctx, "topic")) is None:
        return InputRequiredResult(input_requests={"topic": form("Topic?", "topic")})
    else:
        topic = answer.content["topic"]
    return f"Write about {topic}"


@server.resource("note://plain")
def plain() -> str:
    return "a plain note"


# Only a template gets the context, so the one resource that asks is a template
# whose single value is spelt out in the tests.
@server.resource("note://{asking}")
async def asking(asking: str, ctx: Context) -> Any:
    if not is_modern(ctx):
        page = (await ctx.elicit("Page?", Page)).data.page
    elif (answer := answered(ctx, "page")) is None:
        return InputRequiredResult(input_requests={"page": form("Page?", "page")})
    else:
        page = answer.content["page"]
    return f"page {page}"


@server.completion()
async def complete(
    ref: object, argument: CompletionArgument, context: object
) -> Completion:
    names = [name for name in ("Ada", "Alan") if name.startswith(argument.value)]
    return Completion(values=names)


# What MCPServer has no decorator for; a modern connection never gets here.

low = server._lowlevel_server  # noqa: SLF001


async def set_level(ctx: Any, params: SetLevelRequestParams) -> EmptyResult:
    kept(ctx)["level"] = params.level
    return EmptyResult()


async def subscribe(ctx: object, params: SubscribeRequestParams) -> EmptyResult:
    subscribed.add(str(params.uri))
    return EmptyResult()


async def unsubscribe(ctx: object, params: UnsubscribeRequestParams) -> EmptyResult:
    subscribed.discard(str(params.uri))
    return EmptyResult()


low.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
low.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)


plain_options = low.create_initialization_options
low.create_initialization_options = lambda *_args, **_kwargs: plain_options(
    NotificationOptions(tools_changed=True)
)


class ModernGate:
    """Refuses, as a modern-only server does, what does not name the revision."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or pass the request on."""
        asked = dict(scope.get("headers", [])).get(b"mcp-protocol-version", b"")
        if scope["type"] != "http" or asked == MODERN.encode():
            await self.app(scope, receive, send)
            return
        data = {"supported": [MODERN], "requested": asked.decode()}
        error = {
            "code": -32022,
            "message": "Unsupported protocol version",
            "data": data,
        }
        body = {"jsonrpc": "2.0", "id": None, "error": error}
        await JSONResponse(body, status_code=400)(scope, receive, send)


def http_app(flags: set[str]) -> tuple[Any, str]:
    app = server.streamable_http_app(json_response="--json" in flags)
    return (ModernGate(app) if "--modern-only" in flags else app), "/mcp"


async def main() -> None:
    async with stdio_server() as (read, write):
        await low.run(read, write, low.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
