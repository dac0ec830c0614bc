"""The MCP client of CrewAI, used without a model.

With ``anyera`` as its first argument, its transports are those of mcp-anyera.
"""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"

from crewai.mcp.client import MCPClient
from crewai.mcp.transports.http import HTTPTransport
from crewai.mcp.transports.stdio import StdioTransport
from main import main
from mcp import StdioServerParameters
from plays import UnsupportedError
from verbs import Session, ToolFailedError


class Verbs(Session):
    """The verbs that CrewAI's client has."""

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
        result = await self.raw.call_tool_result(tool, arguments or {})
        if result.is_error:
            raise ToolFailedError(result.content)
        return str(result.content)

    async def prompt(self, name: str) -> str:
        result = await self.raw.get_prompt(name)
        return str(result["messages"][0]["content"].text)

    async def resource(self, uri: str) -> str:
        raise UnsupportedError("it has no resources")

    async def names(self, what: str) -> list[str]:
        if what == "resources":
            raise UnsupportedError("it has no resources")
        return [each["name"] for each in await getattr(self.raw, f"list_{what}")()]

    async def ping(self) -> None:
        raise UnsupportedError("there is no ping")

    async def set_level(self, level: str) -> None:
        raise UnsupportedError("there are no log levels")

    async def subscribe(self, uri: str) -> None:
        raise UnsupportedError("there are no subscriptions")


def adapted() -> tuple[Any, Any]:
    from mcp_anyera import transports  # noqa: PLC0415 - with it only

    class Stdio(StdioTransport):
        async def connect(self) -> Any:
            server = StdioServerParameters(
                command=self.command, args=self.args, env=self.env
            )
            self._transport_context = transports.stdio_client(server)
            read, write = await self._transport_context.__aenter__()
            self._set_streams(read=read, write=write)
            return self

    class Http(HTTPTransport):
        async def connect(self) -> Any:
            self._transport_context = transports.streamable_http_client(self.url)
            read, write, *_ = await self._transport_context.__aenter__()
            self._set_streams(read=read, write=write)
            return self

    return Stdio, Http


def find(stack: str) -> Any:
    stdio, http = adapted() if stack == "anyera" else (StdioTransport, HTTPTransport)

    def transport(target: dict[str, Any]) -> Any:
        if "url" in target:
            return http(url=target["url"])
        command, *args = target["command"]
        return stdio(command=command, args=args, env=target["env"])

    @asynccontextmanager
    async def connect(
        target: dict[str, Any], _desk: Any, recorder: Any, level: str | None
    ) -> AsyncGenerator[Session]:
        if level is not None:
            raise UnsupportedError("there are no log levels")
        async with MCPClient(transport(target)) as client:
            yield Verbs(client, "", recorder)

    return connect


if __name__ == "__main__":
    main(*sys.argv[1:], find=find)
