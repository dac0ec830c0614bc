from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine.backchannel import missing

PYTHON = "Cannot send 'roots/list': this transport context has no back-channel for server-initiated requests."
TYPESCRIPT = (
    "Server-to-client requests are not available on protocol revision 2026-07-28: "
    "'sampling/createMessage' cannot be sent while serving a request on that revision. "
    "Return inputRequired({ ... }) from the handler instead"
)
FASTMCP = "elicitation via server-initiated requests is unavailable on 2026-07-28 connections."


def tool_error(*texts: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text} for text in texts]
    return {"result": {"isError": True, "content": content}}


@pytest.mark.parametrize(
    "reply",
    [
        {"error": {"code": -32600, "message": PYTHON}},
        tool_error(TYPESCRIPT),
        tool_error(FASTMCP),
    ],
)
def test_the_errors_of_three_sdks_are_known(reply: Any) -> None:
    assert missing(reply)


@pytest.mark.parametrize(
    "reply",
    [
        {"error": {"code": -32603, "message": PYTHON}},
        {"error": {"code": -32600, "message": "there is no back-channel here"}},
        {"error": {"code": -32600, "message": PYTHON.replace("roots/list", "ping")}},
        tool_error(TYPESCRIPT, "and more"),
        tool_error(f"It failed: {FASTMCP}"),
        tool_error(None),
        {"result": {"isError": True, "content": [7]}},
        {"result": {"isError": True, "content": TYPESCRIPT}},
        {"result": {"content": [{"type": "text", "text": FASTMCP}]}},
        {"result": 7},
        {},
    ],
)
def test_nothing_else_is_taken_for_one(reply: Any) -> None:
    assert not missing(reply)
