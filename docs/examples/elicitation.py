"""Answer a server's question: the library asks whose card it is to issue.

Run it as ``python elicitation.py COMMAND...``, with the command of any server that
has the tool ``issue_card``, of either era.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import anyio
from mcp.types import ElicitRequestParams, ElicitResult

from mcp_anyera import CallbackContext, Client


async def answer(context: CallbackContext, params: ElicitRequestParams) -> ElicitResult:
    """Say who the card is for."""
    print(f"{context.call.name if context.call else 'someone'} asks: {params.message}")
    return ElicitResult(action="accept", content={"name": "Ada Lovelace"})


async def main(command: Sequence[str]) -> None:
    """Call the tool that asks."""
    async with Client(command, elicitation_callback=answer) as client:
        result = await client.call_tool("issue_card", {"book": "Dune"})
        print(result.content[0].text)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
