"""Results of modern servers: what they must say, and how a legacy session reads them.

Absent ``resultType`` means complete, an unknown one makes the response invalid
(2026-07-28 ``basic`` § ResultType). A legacy face gets the result without what
its revision does not know; values that are passed on are passed by identity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, cast

from mcp_anyera.engine.failures import INVALID_PARAMS, RESOURCE_NOT_FOUND
from mcp_anyera.engine.jsonrpc import is_object, meta_of
from mcp_anyera.engine.metadata import SERVER_INFO_KEY, SUBSCRIPTION_KEY

_MODERN_ONLY: Final = frozenset({"resultType", "ttlMs", "cacheScope"})
_MODERN_META: Final = frozenset({SERVER_INFO_KEY, SUBSCRIPTION_KEY})


class ResultKind(Enum):
    """What a modern result says about itself."""

    COMPLETE = "complete"
    INPUT_REQUIRED = "input_required"


def kind_of(result: Mapping[str, Any]) -> ResultKind | None:
    """Return the kind of a modern result, or ``None`` for one nobody knows."""
    value = result.get("resultType", "complete")
    try:
        return ResultKind(value)
    except ValueError:
        return None


_CACHEABLE: Final = frozenset(
    {
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "server/discover",
        "tools/list",
    }
)
_COMPLETE: Final[dict[str, Any]] = {"resultType": "complete"}
_UNCACHED: Final[dict[str, Any]] = {**_COMPLETE, "ttlMs": 0, "cacheScope": "private"}
"""Nothing said about caching means: stale now, and nobody else's (CAC-2)."""


def for_native_face(method: str, result: dict[str, Any]) -> dict[str, Any]:
    """Return a modern result with what a strict session requires.

    Servers leave the type and the cache hints out, and `ClientSession` of SDK 2.x
    refuses such results; absent has a meaning, so it is said.
    """
    required = _UNCACHED if method in _CACHEABLE else _COMPLETE
    return result if required.keys() <= result.keys() else {**required, **result}


def for_legacy_face(method: str, result: dict[str, Any]) -> dict[str, Any]:
    """Return a complete modern result as the legacy result of the same method."""
    plain = {key: value for key, value in result.items() if key not in _MODERN_ONLY}
    _strip_meta(plain)
    adapt = _ADAPTERS.get(method)
    return plain if adapt is None else adapt(plain)


def _strip_meta(plain: dict[str, Any]) -> None:
    own = meta_of(plain)
    if _MODERN_META.isdisjoint(own):
        return
    kept = {key: value for key, value in own.items() if key not in _MODERN_META}
    plain["_meta"] = kept
    if not kept:
        del plain["_meta"]


def _without_open_schemas(result: dict[str, Any]) -> dict[str, Any]:
    # Legacy says that an outputSchema describes an object, and the 1.x session
    # refuses anything else, so a schema that allows more is not shown at all;
    # `_without_open_content` hides the value in the same way.
    tools = result.get("tools")
    if not isinstance(tools, list):
        return result
    listed = cast("list[Any]", tools)
    return {**result, "tools": [_without_open_schema(tool) for tool in listed]}


def _without_open_schema(tool: Any) -> Any:
    if not is_object(tool) or "outputSchema" not in tool:
        return tool
    schema = tool["outputSchema"]
    if is_object(schema) and schema.get("type") == "object":
        return tool
    return {key: value for key, value in tool.items() if key != "outputSchema"}


def _without_open_content(result: dict[str, Any]) -> dict[str, Any]:
    if is_object(result.get("structuredContent", {})):
        return result
    return {key: value for key, value in result.items() if key != "structuredContent"}


_ADAPTERS: Final[dict[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "tools/list": _without_open_schemas,
    "tools/call": _without_open_content,
}


def legacy_error(
    method: str, params: Mapping[str, Any], error: dict[str, Any]
) -> dict[str, Any]:
    """Return a modern error as a legacy session expects it.

    Only "no such resource" has another number (2026-07-28 ``server/resources``
    § Error Handling), and only an error that names the requested URI is that.
    """
    data = error.get("data")
    missing = (
        method == "resources/read"
        and error["code"] == INVALID_PARAMS
        and is_object(data)
        and data.get("uri") == params.get("uri")
    )
    return {**error, "code": RESOURCE_NOT_FOUND} if missing else error
