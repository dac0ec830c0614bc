"""Tools that ask as the rows of the behaviour contract want to be asked."""

from typing import Any

import anyio
from mcp import types
from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel


class Name(BaseModel):
    name: str


class Vendor(BaseModel):
    method: str
    params: dict[str, Any]


def add_contract_tools(server: FastMCP) -> None:
    """Give the server the tools of the contract."""
    tools = (
        ask,
        several,
        interview,
        open_page,
        keep_state,
        vendor,
        flood,
        giving_up,
    )
    for tool in tools:
        server.add_tool(tool, structured_output=False)


async def ask(kind: str, ctx: Context) -> str:
    """Ask without a look at what was declared."""
    session, request = ctx.session, ctx.request_id
    if kind == "elicitation":
        await session.elicit_form("?", Name.model_json_schema(), request)
    elif kind == "sampling":
        text = types.TextContent(type="text", text="?")
        message = types.SamplingMessage(role="user", content=text)
        await session.create_message(
            [message], max_tokens=1, related_request_id=request
        )
    else:
        await session.list_roots()
    return "answered"


async def several(count: int, ctx: Context) -> str:
    """Ask so many questions at once."""
    names = [""] * count

    async def one(number: int) -> None:
        names[number] = (await ctx.elicit(f"Name {number}?", Name)).data.name

    async with anyio.create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(one, number)
    return ",".join(names)


async def interview(who: str, ctx: Context) -> str:
    """Ask two rounds of questions about somebody."""
    first = (await ctx.elicit(f"first of {who}", Name)).data.name
    second = (await ctx.elicit(f"second of {who}", Name)).data.name
    return f"{first}, {second}"


async def open_page(url: str, ctx: Context) -> str:
    answer = await ctx.elicit_url("Open the page", url, "page-1")
    return f"opened: {answer.action}"


def keep_state() -> str:
    return "kept"


async def vendor(ctx: Context) -> str:
    message: Any = Vendor(method="notifications/acme/thing", params={"a": 1})
    await ctx.session.send_notification(message, related_request_id=ctx.request_id)
    return "sent"


async def flood(messages: int, ctx: Context) -> str:
    for number in range(messages):
        await ctx.session.send_log_message("info", f"message {number}", "peer")
    await ctx.session.send_tool_list_changed()
    return "flooded"


async def giving_up(ctx: Context) -> str:
    """Take the question back after a moment, and answer all the same."""
    number = ctx.session._request_id  # noqa: SLF001
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ctx.elicit, "Still there?", Name)
        await anyio.sleep(0.3)
        tasks.cancel_scope.cancel()
    params = types.CancelledNotificationParams(requestId=number, reason="too late")
    gone = types.CancelledNotification(params=params)
    await ctx.session.send_notification(
        types.ServerNotification(gone), related_request_id=ctx.request_id
    )
    return "without an answer"
