"""See what a server is told: registering a callback is the declaration.

Run it as ``python client_features.py COMMAND...``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import anyio
from mcp.types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    ListRootsResult,
    TextContent,
)

from mcp_anyera import Client


async def decline(context: object, params: ElicitRequestParams) -> ElicitResult:
    """Answer every form with a no."""
    return ElicitResult(action="decline")


async def sample(
    context: object, params: CreateMessageRequestParams
) -> CreateMessageResult:
    """Answer every prompt with the same words."""
    text = TextContent(type="text", text="No idea.")
    return CreateMessageResult(role="assistant", content=text, model="none")


async def no_roots(context: object) -> ListRootsResult:
    """Share no folder."""
    return ListRootsResult(roots=[])


async def declared(command: Sequence[str], **callbacks: Any) -> str:
    """Return what a server sees of a client with these callbacks."""
    async with Client(command, **callbacks) as client:
        result = await client.call_tool("client_features")
        return result.content[0].text


async def main(command: Sequence[str]) -> None:
    """Show three clients to the server."""
    print(await declared(command))
    print(await declared(command, elicitation_callback=decline))
    print(
        await declared(
            command,
            elicitation_callback=decline,
            sampling_callback=sample,
            list_roots_callback=no_roots,
        )
    )


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
