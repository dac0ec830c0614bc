"""Lists of a server, all pages, as JSON; and how they are shown."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp_anyera._sdk import dump
from mcp_anyera.cli.clean import clean_line
from mcp_anyera.client import Client
from mcp_anyera.engine.jsonrpc import is_object

MAX_PAGES: Final = 200
_WIDTH: Final = 72


async def everything(
    page: Callable[..., Awaitable[Any]], member: str
) -> list[dict[str, Any]]:
    """Return all items of a list.

    Args:
        page: The verb of a client that lists one page.
        member: Where the items are in a page.
    """
    found: list[dict[str, Any]] = []
    cursor = None
    for _ in range(MAX_PAGES):
        result = dump(await page(cursor=cursor))
        found += result.get(member, [])
        cursor = result.get("nextCursor")
        if cursor is None:
            break
    return found


async def tools(client: Client) -> list[dict[str, Any]]:
    """Return the tools of a server."""
    return await everything(client.list_tools, "tools")


async def prompts(client: Client) -> list[dict[str, Any]]:
    """Return the prompts of a server."""
    return await everything(client.list_prompts, "prompts")


async def resources(client: Client) -> list[dict[str, Any]]:
    """Return the resources of a server, and its templates behind them."""
    found = await everything(client.list_resources, "resources")
    templates = client.list_resource_templates
    return found + await everything(templates, "resourceTemplates")


def described(item: dict[str, Any]) -> str:
    """Return a tool, a prompt or a resource in one line."""
    name = clean_line(
        str(item.get("uri") or item.get("uriTemplate") or item.get("name"))
    )
    said = clean_line(str(item.get("description") or item.get("title") or ""))
    short = said if len(said) <= _WIDTH else said[: _WIDTH - 1] + "…"
    wants = " ".join(_wanted(item))
    return "  ".join(part for part in (f"{name} {wants}".strip(), short) if part)


def _wanted(item: dict[str, Any]) -> list[str]:
    if "arguments" in item:
        listed = [(one.get("name"), one.get("required")) for one in item["arguments"]]
    else:
        schema = item.get("inputSchema", {})
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        names = properties if is_object(properties) else {}
        listed = [(name, name in required) for name in names]
    return [f"{name}=" if needed else f"[{name}=]" for name, needed in listed]


def hint(name: str, known: list[str]) -> str:
    """Return what may have been meant by a name that is not in a list."""
    if name in known or not known:
        return ""
    close = difflib.get_close_matches(name, known, 1)
    meant = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
    return f" (the server lists no {name!r}; {meant})"
