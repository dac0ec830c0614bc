"""Tell a server which folders it may work in.

Run it as ``python roots.py COMMAND...``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import anyio
from mcp.types import ListRootsResult, Root
from pydantic import FileUrl

from mcp_anyera import Client


async def folders(context: object) -> ListRootsResult:
    """Share two folders; they are asked for each time they are needed."""
    uris = ("file:///srv/books", "file:///srv/maps")
    return ListRootsResult(roots=[Root(uri=FileUrl(uri)) for uri in uris])


async def main(command: Sequence[str]) -> None:
    """Call a tool that wants to know."""
    async with Client(command, list_roots_callback=folders) as client:
        result = await client.call_tool("workspace")
        print(result.content[0].text)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
