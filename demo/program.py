"""One client program with one set of callbacks; prints what arrived, as JSON.

``run.py`` runs it on both SDK lines against each server. Nothing in here knows
which line it runs on or what the server speaks.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp.types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    Root,
    TextContent,
)
from pydantic import FileUrl

from mcp_anyera import Client

heard: dict[str, str] = {}
changed = anyio.Event()

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "form": ("issue_card", {"book": "Dune"}),
    "URL": ("link_account", {}),
    "sampling": ("summarise", {"text": "a long story"}),
    "roots": ("workspace", {}),
    "three at once": ("three_questions", {}),
    "log": ("chatty", {}),
    "list change": ("add_tool", {}),
}
"""What is shown, and the tool that makes the server do it."""


async def elicit(context: object, params: Any) -> ElicitResult:
    """Answer a form, or agree to a URL."""
    if params.mode == "url":
        return ElicitResult(action="accept")
    return ElicitResult(action="accept", content={"name": "Ada"})


async def sample(context: object, params: Any) -> CreateMessageResult:
    """Stand in for a model."""
    text = TextContent(type="text", text="ok")
    return CreateMessageResult(role="assistant", content=text, model="none")


async def list_roots(context: object) -> ListRootsResult:
    """Share one folder."""
    return ListRootsResult(roots=[Root(uri=FileUrl("file:///srv/books"))])


async def log(params: Any) -> None:
    """Hear a log message."""
    heard["log"] = ", ".join(filter(None, [heard.get("log"), params.level]))


async def hear(message: object) -> None:
    """Hear of a change."""
    if type(message).__name__ == "ToolListChangedNotification":
        heard["list change"] = "heard"
        changed.set()


async def main(place: list[str]) -> None:
    """Call the tools that ask, log and change, of a command or a URL."""
    async with Client(
        place[0] if place[0].startswith("http") else place,
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=list_roots,
        logging_callback=log,
        log_level="warning",
        message_handler=hear,
    ) as client:
        row = {"era": client.era.value}
        for name, (tool, arguments) in CALLS.items():
            result = await client.call_tool(tool, arguments)
            row[name] = result.content[0].text
        with anyio.fail_after(10):
            await changed.wait()
    print(json.dumps(row | heard))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
