"""Hear of changes: one handler, whichever way the server announces them.

A modern server announces changes only to those who listen; with a message handler
registered, the listening is done for you. Run it as ``python messages.py COMMAND...``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import anyio

from mcp_anyera import Client


async def main(command: Sequence[str]) -> None:
    """Have a tool added, and wait for the news of it."""
    changed = anyio.Event()

    async def handle(message: object) -> None:
        print(f"heard of {type(message).__name__}")
        if type(message).__name__ == "ToolListChangedNotification":
            changed.set()

    async with Client(command, message_handler=handle) as client:
        await client.call_tool("add_tool")
        with anyio.fail_after(10):
            await changed.wait()
        tools = await client.list_tools()
        print("extra" in [tool.name for tool in tools.tools])


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
