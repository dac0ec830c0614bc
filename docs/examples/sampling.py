"""Lend a server your model: it asks for a text, your callback has it written.

Run it as ``python sampling.py COMMAND...``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import anyio
from mcp.types import CreateMessageRequestParams, CreateMessageResult, TextContent

from mcp_anyera import Client


async def write(
    context: object, params: CreateMessageRequestParams
) -> CreateMessageResult:
    """Stand in for a model: give back the first words of what was asked."""
    prompt = params.messages[0].content
    words = prompt.text.split() if isinstance(prompt, TextContent) else []
    text = TextContent(type="text", text=" ".join(words[:4]))
    return CreateMessageResult(role="assistant", content=text, model="first-four-words")


async def main(command: Sequence[str]) -> None:
    """Call a tool that needs a model."""
    async with Client(command, sampling_callback=write) as client:
        result = await client.call_tool(
            "summarise", {"text": "the sea is wide and deep"}
        )
        print(result.content[0].text)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
