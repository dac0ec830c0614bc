"""Servers in memory, of either era, for tests of code that uses this layer.

A tool is a plain function. One that asks is a generator: it yields questions and
gets the answers, and the same generator serves both eras::

    def issue_card(book):
        answer = yield form("Whose card is it?", name={"type": "string"})
        return f"card for {answer['content']['name']}: {book}"

    server = ScriptedServer(Era.MODERN, tools=[issue_card])
    async with Client(server, elicitation_callback=...) as client:
        await client.call_tool("issue_card", {"book": "Dune"})
    assert server.transcript.methods("server") == []

`ScriptedServer` is a transport, so it goes wherever one does: into `Client`, into
`adapt`, or, when it is legacy, straight under a session of the SDK.
"""

from __future__ import annotations

from mcp_anyera.testing.server import ScriptedServer
from mcp_anyera.testing.steps import (
    SILENCE,
    Asked,
    Script,
    ServerError,
    Told,
    form,
    log,
    page,
    progress,
    roots,
    sample,
)
from mcp_anyera.testing.transcript import Entry, Transcript

__all__ = [
    "SILENCE",
    "Asked",
    "Entry",
    "Script",
    "ScriptedServer",
    "ServerError",
    "Told",
    "Transcript",
    "form",
    "log",
    "page",
    "progress",
    "roots",
    "sample",
]
