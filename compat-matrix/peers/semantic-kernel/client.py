"""An MCP plugin of Semantic Kernel, used without a model.

With ``anyera`` as its first argument, its transports are those of mcp-anyera. The
plugin answers sampling, which is what it can be asked; the rest it does not offer.
"""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from main import main
from plays import UnsupportedError
from semantic_kernel.connectors import mcp
from verbs import Session


class Verbs(Session):
    """The plugin's tools; the session below for the rest."""

    plugin: Any

    async def call(
        self,
        tool: str,
        arguments: Any = None,
        *,
        timeout: float | None = None,
        progress: Any = None,
    ) -> str:
        if timeout is not None or progress is not None:
            raise UnsupportedError("a plugin's tool takes neither of these")
        parts = await self.plugin.call_tool(tool, **(arguments or {}))
        return " ".join(str(getattr(part, "text", "")) for part in parts)


def plugin(target: dict[str, Any], desk: Any) -> Any:
    url = "url" in target
    kind = mcp.MCPStreamableHttpPlugin if url else mcp.MCPStdioPlugin

    class Plugin(kind):
        async def sampling_callback(self, context: Any, params: Any) -> Any:
            return await desk.sample(context, params)

        async def logging_callback(self, params: Any) -> None:
            await desk.log(params)

        async def message_handler(self, message: Any) -> None:
            await desk.hear(message)

    if url:
        return Plugin(name="it", url=target["url"])
    command, *args = target["command"]
    return Plugin(name="it", command=command, args=args, env=target["env"])


@asynccontextmanager
async def connect(
    target: dict[str, Any], desk: Any, recorder: Any, level: str | None
) -> AsyncGenerator[Session]:
    async with plugin(target, desk) as connected:
        if level is not None:
            await connected.session.set_logging_level(level)
        made = Verbs(connected.session, "", recorder, old_session=True)
        made.plugin = connected
        yield made


def find(stack: str) -> Any:
    if stack == "anyera":
        from mcp_anyera import transports  # noqa: PLC0415 - with it only

        mcp.stdio_client = transports.stdio_client
        mcp.streamablehttp_client = transports.streamablehttp_client
    return connect


if __name__ == "__main__":
    main(*sys.argv[1:], find=find)
