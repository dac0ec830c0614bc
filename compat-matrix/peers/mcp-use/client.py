"""A session of mcp-use, with every callback that it takes.

With ``anyera`` as its first argument, its transports are those of mcp-anyera.
"""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

os.environ["MCP_USE_ANONYMIZED_TELEMETRY"] = "false"

from main import main
from mcp_use import MCPClient
from mcp_use.client.task_managers import stdio, streamable_http
from plays import UnsupportedError
from verbs import Session


class Verbs(Session):
    """The verbs of an mcp-use session, and the SDK's session below for the rest."""

    async def call(
        self,
        tool: str,
        arguments: Any = None,
        *,
        timeout: float | None = None,
        progress: Any = None,
    ) -> str:
        if progress is not None:
            raise UnsupportedError("call_tool() takes no progress callback")
        return await super().call(tool, arguments, timeout=timeout)

    async def names(self, what: str) -> list[str]:
        if what == "templates":
            raise UnsupportedError("it lists no templates")
        found = await getattr(self.raw, f"list_{what}")()
        key = "uri" if what == "resources" else "name"
        return [str(getattr(each, key)) for each in found]

    async def ping(self) -> None:
        raise UnsupportedError("there is no ping")

    async def set_level(self, level: str) -> None:
        raise UnsupportedError("there are no log levels")

    async def subscribe(self, uri: str) -> None:
        raise UnsupportedError("there are no subscriptions")


def config(target: dict[str, Any]) -> dict[str, Any]:
    if "url" in target:
        return {"url": target["url"]}
    command, *args = target["command"]
    return {"command": command, "args": args, "env": target["env"]}


@asynccontextmanager
async def connect(
    target: dict[str, Any], desk: Any, recorder: Any, level: str | None
) -> AsyncGenerator[Session]:
    if level is not None:
        raise UnsupportedError("there are no log levels")
    client = MCPClient(
        {"mcpServers": {"it": config(target)}},
        elicitation_callback=desk.elicit,
        sampling_callback=desk.sample,
        list_roots_callback=desk.list_roots,
        logging_callback=desk.log,
        message_handler=desk.hear,
    )
    try:
        yield Verbs(await client.create_session("it"), "", recorder, old_session=True)
    finally:
        await client.close_all_sessions()


def find(stack: str) -> Any:
    if stack == "anyera":
        from mcp_anyera import transports  # noqa: PLC0415 - with it only

        stdio.stdio_client = transports.stdio_client
        streamable_http.streamable_http_client = transports.streamable_http_client
    return connect


if __name__ == "__main__":
    main(*sys.argv[1:], find=find)
