"""An MCP server of the OpenAI Agents SDK, used without a model.

With ``anyera`` as its first argument, the server's streams are those of mcp-anyera.
"""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from desk import dumped
from main import main
from plays import UnsupportedError
from verbs import Session, ToolFailedError


class Tools(Session):
    """The verbs of the SDK's servers."""

    async def call(
        self,
        tool: str,
        arguments: Any = None,
        *,
        timeout: float | None = None,
        progress: Any = None,
    ) -> str:
        if timeout is not None or progress is not None:
            raise UnsupportedError("call_tool() takes neither of these")
        result = dumped(await self.raw.call_tool(tool, arguments or {}))
        text = " ".join(part.get("text", "") for part in result["content"])
        if result.get("isError"):
            raise ToolFailedError(text)
        return text

    async def names(self, what: str) -> list[str]:
        if what != "tools":
            return await super().names(what)
        return [tool.name for tool in await self.raw.list_tools()]

    async def ping(self) -> None:
        raise UnsupportedError("there is no ping")

    async def set_level(self, level: str) -> None:
        raise UnsupportedError("there are no log levels")

    async def subscribe(self, uri: str) -> None:
        raise UnsupportedError("there are no subscriptions")


def server(target: dict[str, Any], desk: Any, kinds: tuple[Any, Any]) -> Any:
    stdio, http = kinds
    options: dict[str, Any] = {"message_handler": desk.hear}
    options["client_session_timeout_seconds"] = 20
    if "url" in target:
        return http(params={"url": target["url"]}, **options)
    command, *args = target["command"]
    params = {"command": command, "args": args, "env": target["env"]}
    return stdio(params=params, **options)


def adapted() -> tuple[Any, Any]:
    from mcp_anyera import transports  # noqa: PLC0415 - with it only

    class Stdio(MCPServerStdio):
        def create_streams(self) -> Any:
            return transports.stdio_client(self.params)

    class Http(MCPServerStreamableHttp):
        def create_streams(self) -> Any:
            return transports.streamable_http_client(self.params["url"])

    return Stdio, Http


def find(stack: str) -> Any:
    plain = (MCPServerStdio, MCPServerStreamableHttp)
    kinds = adapted() if stack == "anyera" else plain

    @asynccontextmanager
    async def connect(
        target: dict[str, Any], desk: Any, recorder: Any, level: str | None
    ) -> AsyncGenerator[Session]:
        if level is not None:
            raise UnsupportedError("there are no log levels")
        async with server(target, desk, kinds) as connected:
            yield Tools(connected, "", recorder)

    return connect


if __name__ == "__main__":
    main(*sys.argv[1:], find=find)
