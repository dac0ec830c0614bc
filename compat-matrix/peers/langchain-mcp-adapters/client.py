"""LangChain tools made of an MCP server, by langchain-mcp-adapters.

With ``anyera`` as its first argument, one line of it is another: the transports that
the adapters build their session on.
"""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from langchain_core.tools import ToolException
from langchain_mcp_adapters import sessions
from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from main import main
from plays import UnsupportedError
from verbs import Session, ToolFailedError


class Tools(Session):
    """The verbs of LangChain: tools only, and the session below for the rest."""

    tools: dict[str, Any]

    async def call(
        self,
        tool: str,
        arguments: Any = None,
        *,
        timeout: float | None = None,
        progress: Any = None,
    ) -> str:
        if timeout is not None or progress is not None:
            raise UnsupportedError("a LangChain tool takes neither of these")
        try:
            said = await self.tools[tool].ainvoke(arguments or {})
        except ToolException as failed:
            raise ToolFailedError(str(failed)) from None
        if isinstance(said, str):
            return said
        return " ".join(part.get("text", "") for part in said)


def connection(target: dict[str, Any]) -> dict[str, Any]:
    if "url" in target:
        return {"transport": "streamable_http", "url": target["url"]}
    command, *args = target["command"]
    return {"transport": "stdio", "command": command, "args": args} | {
        "env": target["env"]
    }


@asynccontextmanager
async def connect(
    target: dict[str, Any], desk: Any, recorder: Any, level: str | None
) -> AsyncGenerator[Session]:
    async def elicit(context: Any, params: Any, _where: Any) -> Any:
        return await desk.elicit(context, params)

    async def log(params: Any, _where: Any) -> None:
        await desk.log(params)

    callbacks = Callbacks(on_elicitation=elicit, on_logging_message=log)
    client = MultiServerMCPClient({"it": connection(target)}, callbacks=callbacks)
    async with client.session("it") as session:
        if level is not None:
            await session.set_logging_level(level)
        tools = await load_mcp_tools(session, handle_tool_errors=False)
        made = Tools(session, "", recorder, old_session=True)
        made.tools = {tool.name: tool for tool in tools}
        yield made


def find(stack: str) -> Any:
    if stack == "anyera":
        from mcp_anyera import transports  # noqa: PLC0415 - with it only

        sessions.stdio_client = transports.stdio_client
        sessions.streamable_http_client = transports.streamable_http_client
    return connect


if __name__ == "__main__":
    main(*sys.argv[1:], find=find)
