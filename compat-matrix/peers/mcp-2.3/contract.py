"""Tools that ask as the rows of the behaviour contract want to be asked.

They ask by hand, since what the SDK resolves looks at the declaration first.
"""

from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel

STATES = ("", "ü ☃ \n", '{"a": 1.0}', "x" * 100_000)


class Vendor(BaseModel):
    method: str
    params: dict[str, Any]


def add_contract_tools(server: MCPServer) -> None:
    """Give the server the tools of the contract."""
    tools = (
        ask,
        several,
        interview,
        open_page,
        keep_state,
        vendor,
        flood,
        members_only,
    )
    for tool in tools:
        server.add_tool(tool)


def form(message: str, name: str, kind: str = "string") -> ElicitRequest:
    schema = {
        "type": "object",
        "properties": {name: {"type": kind}},
        "required": [name],
    }
    return ElicitRequest(
        params=ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def page(url: str) -> ElicitRequest:
    return ElicitRequest(
        params=ElicitRequestURLParams(message="Open the page", url=url)
    )


def required(question: Any, state: str | None = None) -> InputRequiredResult:
    return InputRequiredResult(input_requests={"q": question}, request_state=state)


def answered(ctx: Context) -> Any:
    return (ctx.input_responses or {}).get("q")


async def ask(kind: str, ctx: Context) -> str | InputRequiredResult:
    if answered(ctx) is not None:
        return "answered"
    if kind == "elicitation":
        return required(form("?", "name"))
    if kind == "roots":
        return required(ListRootsRequest())
    message = SamplingMessage(role="user", content=TextContent(text="?"))
    params = CreateMessageRequestParams(messages=[message], max_tokens=1)
    return required(CreateMessageRequest(params=params))


async def several(count: int, ctx: Context) -> str | InputRequiredResult:
    """Ask so many questions at once."""
    answers = ctx.input_responses
    if answers is None:
        asked = {str(n): form(f"Name {n}?", "name") for n in range(count)}
        return InputRequiredResult(input_requests=asked)
    return ",".join(answers[str(n)].content["name"] for n in range(count))


async def interview(who: str, ctx: Context) -> str | InputRequiredResult:
    """Ask two rounds of questions about somebody."""
    answer = answered(ctx)
    if answer is None:
        return required(form(f"first of {who}", "name"))
    name = answer.content["name"]
    if ctx.request_state is None:
        return required(form(f"second of {who}", "name"), name)
    return f"{ctx.request_state}, {name}"


async def open_page(url: str, ctx: Context) -> str | InputRequiredResult:
    answer = answered(ctx)
    return required(page(url)) if answer is None else f"opened: {answer.action}"


async def members_only(visits: int, ctx: Context) -> str | InputRequiredResult:
    """Want a page visited, and take notice at the last of so many looks."""
    looks = int(ctx.request_state or 0)
    answer = answered(ctx)
    if answer is not None and answer.action != "accept":
        return "stay out"
    if looks < visits:
        return required(page("https://example.com/join"), str(looks + 1))
    return "welcome"


async def keep_state(ctx: Context) -> str | InputRequiredResult:
    """Hand out one state after the other and want each back as it was."""
    state = ctx.request_state
    if state is not None and state not in STATES:
        return "changed"
    following = 0 if state is None else STATES.index(state) + 1
    if following == len(STATES):
        return "kept"
    return required(ListRootsRequest(), STATES[following])


async def vendor(ctx: Context) -> str:
    message: Any = Vendor(method="notifications/acme/thing", params={"a": 1})
    await ctx.session.send_notification(message, related_request_id=ctx.request_id)
    return "sent"


async def flood(messages: int, ctx: Context) -> str:
    for number in range(messages):
        await ctx.session.send_log_message("info", f"message {number}", "peer")
    await ctx.notify_tools_changed()
    return "flooded"
