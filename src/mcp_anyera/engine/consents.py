"""Visits to web pages: the error that asks for one (-32042), read as questions.

A legacy server may refuse a call until its user has been somewhere, and wants the
call again afterwards. That is a round in other words: each page is a question, and a
page that was agreed to is not shown again while the server waits for its user.

Spec: 2025-11-25 ``client/elicitation`` § URL Elicitation Required Error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from mcp_anyera.engine.jsonrpc import is_object

URL_REQUIRED: Final = -32042


def pages_in(error: dict[str, Any]) -> dict[str, dict[str, Any]] | None:
    """Return the pages that an error asks for, as questions by key.

    Args:
        error: The JSON-RPC error of a call.

    Returns:
        Requests as in an ``InputRequiredResult``; ``None`` when it is another error,
        or one that names no page.
    """
    data = error.get("data")
    listed = data.get("elicitations") if is_object(data) else None
    if error["code"] != URL_REQUIRED or not isinstance(listed, list) or not listed:
        return None
    pages = cast("list[object]", listed)
    if not all(is_object(page) and page.get("mode") == "url" for page in pages):
        return None
    return {
        f"page-{number}": {"method": "elicitation/create", "params": page}
        for number, page in enumerate(pages)
    }


def page_of(request: Mapping[str, Any]) -> str | None:
    """Return the page that a question wants visited; ``None`` for any other."""
    params = request.get("params")
    if not is_object(params) or params.get("mode") != "url":
        return None
    url = params.get("url")
    return url if isinstance(url, str) else None
