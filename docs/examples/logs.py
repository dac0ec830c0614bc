"""Hear what a server logs, from a level of your choice on.

One ``log_level`` does what each era wants: it is stamped on every request to a
modern server, and a legacy one is told once. Run it as ``python logs.py COMMAND...``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import anyio
from mcp.types import LoggingMessageNotificationParams

from mcp_anyera import Client


async def show(params: LoggingMessageNotificationParams) -> None:
    """Print a log message."""
    print(f"[{params.level}] {params.data}")


async def main(command: Sequence[str]) -> None:
    """Call a tool that logs at four levels; hear of two."""
    async with Client(command, logging_callback=show, log_level="warning") as client:
        await client.call_tool("chatty")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
