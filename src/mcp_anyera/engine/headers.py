"""The headers that a request wears over HTTP, derived from its body in one place.

A modern server refuses a request whose headers and body disagree, so nothing
else may set them. ``Mcp-Param-*`` needs the ``inputSchema`` of the tool, which
is learnt from every ``tools/list`` result that comes by; a tool whose
annotations are invalid is taken out of the list, as the specification demands.

Spec: 2026-07-28 ``basic/transports/streamable-http`` § Standard Request Headers,
§ Custom Headers, § Value Encoding; 2025-06-18 and 2025-11-25
``basic/transports`` § Protocol Version Header.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from mcp_anyera.engine.effects import Message
from mcp_anyera.engine.jsonrpc import is_object, meta_of, params_of
from mcp_anyera.engine.metadata import VERSION_KEY
from mcp_anyera.eras import REVISIONS_WITH_HEADER

VERSION_HEADER: Final = "MCP-Protocol-Version"
METHOD_HEADER: Final = "Mcp-Method"
NAME_HEADER: Final = "Mcp-Name"
PARAM_PREFIX: Final = "Mcp-Param-"
ANNOTATION: Final = "x-mcp-header"

NAMED_BY: Final = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
}
"""The param that ``Mcp-Name`` repeats."""

_WRAPPED: Final = re.compile(r"=\?base64\?.*\?=", re.DOTALL).fullmatch
_PLAIN: Final = re.compile(r"[\x20-\x7e]*").fullmatch
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+").fullmatch
_TYPES: Final = frozenset({"string", "integer", "boolean"})
_LARGEST: Final = 2**53 - 1
"""What a JSON number holds exactly everywhere."""

_ONE_SCHEMA: Final = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_MANY_SCHEMAS: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_NAMED_SCHEMAS: Final = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties"}
)
"""Keywords of JSON Schema 2020-12 that hold schemas. Data (``default``, ``enum``,
``examples``) is not walked, for a value may look like an annotation."""

Path: TypeAlias = tuple[str, ...]


def encode(value: str) -> str:
    """Return a text as the value of a header, wrapped in base64 if it must be."""
    plain = _PLAIN(value) and value == value.strip(" ") and not _WRAPPED(value)
    if plain:
        return value
    data = value.encode("utf-8", "surrogatepass")
    return f"=?base64?{base64.b64encode(data).decode()}?="


@dataclass(frozen=True, slots=True)
class Mirror:
    """One argument that is repeated in a header."""

    header: str
    path: Path
    kind: str

    def value_in(self, arguments: object) -> str | None:
        """Return the header value, or ``None`` when there is nothing to repeat.

        A value of another type than the schema says is not repeated either: the
        server has to decide about it, and may do so by its body.
        """
        node = arguments
        for key in self.path:
            node = node.get(key) if is_object(node) else None
        text = _as_text(node, self.kind)
        return None if text is None else encode(text)


def _as_text(value: object, kind: str) -> str | None:
    if kind == "boolean":
        return str(value).lower() if isinstance(value, bool) else None
    if kind == "string":
        return value if isinstance(value, str) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    exact = value == value // 1 and -_LARGEST <= value <= _LARGEST
    return str(int(value)) if exact else None


def mirrors(schema: object) -> tuple[Mirror, ...] | str:
    """Read the annotations of an ``inputSchema``.

    Args:
        schema: The schema, as it came.

    Returns:
        The arguments to repeat, or a phrase that says why the tool is invalid.
    """
    found: dict[str, Mirror] = {}
    for path, node in _schemas(schema):
        if ANNOTATION not in node:
            continue
        problem = _problem(path, node)
        if problem is not None:
            return problem
        name = cast("str", node[ANNOTATION])
        if name.lower() in found:
            return f"two properties are annotated with the header {name!r}"
        found[name.lower()] = Mirror(PARAM_PREFIX + name, path or (), node["type"])
    return tuple(found.values())


def _problem(path: Path | None, node: dict[str, Any]) -> str | None:
    name, kind = node[ANNOTATION], node.get("type")
    if not path:
        return f"{ANNOTATION} is at a place that properties alone do not lead to"
    if not (isinstance(name, str) and _TOKEN(name)):
        return f"{ANNOTATION} of {'.'.join(path)[:80]!r} is not the name of a header"
    if not (isinstance(kind, str) and kind in _TYPES):
        where = ".".join(path)[:80]
        return f"{ANNOTATION} of {where!r} is on no string, integer or boolean"
    return None


def _schemas(schema: object) -> Iterator[tuple[Path | None, dict[str, Any]]]:
    # The path is lost, for good, at every keyword but ``properties``.
    stack: list[tuple[Path | None, object]] = [((), schema)]
    while stack:
        path, node = stack.pop()
        if not is_object(node):
            continue
        yield path, node
        for keyword, value in node.items():
            if keyword == "properties" and is_object(value):
                stack.extend(
                    (None if path is None else (*path, name), part)
                    for name, part in value.items()
                )
            else:
                stack.extend((None, part) for part in _below(keyword, value))


def _below(keyword: str, value: object) -> list[object]:
    if keyword in _NAMED_SCHEMAS and is_object(value):
        return list(value.values())
    if keyword in _MANY_SCHEMAS and isinstance(value, list):
        return cast("list[object]", value)
    return [value] if keyword in _ONE_SCHEMA else []


class Headers:
    """The headers of one connection, and the tools that it has heard of."""

    def __init__(self) -> None:
        self._tools: dict[str, tuple[Mirror, ...]] = {}

    def of(self, message: Message, revision: str | None) -> dict[str, str]:
        """Return the headers of one message.

        Args:
            message: The JSON-RPC message as it goes out.
            revision: The legacy revision in force; ``None`` before that is known.
        """
        params = params_of(message)
        own = meta_of(params).get(VERSION_KEY)
        if "method" in message and isinstance(own, str):
            return self._modern(message["method"], params, own)
        known = revision in REVISIONS_WITH_HEADER
        if revision is None or not known or message.get("method") == "initialize":
            return {}
        return {VERSION_HEADER: revision}

    def _modern(
        self, method: str, params: Mapping[str, Any], revision: str
    ) -> dict[str, str]:
        headers = {VERSION_HEADER: revision, METHOD_HEADER: method}
        name = params.get(NAMED_BY.get(method, ""))
        if isinstance(name, str):
            headers[NAME_HEADER] = encode(name)
            if method == "tools/call":
                headers |= self._mirrored(name, params.get("arguments"))
        return headers

    def _mirrored(self, tool: str, arguments: object) -> dict[str, str]:
        known = self._tools.get(tool, ())
        values = {mirror.header: mirror.value_in(arguments) for mirror in known}
        return {name: value for name, value in values.items() if value is not None}

    def learn(self, result: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Take note of the tools in a ``tools/list`` result.

        Returns:
            The result without the tools whose annotations are invalid, and for
            each of those the reason by its name.
        """
        tools = result.get("tools")
        if not isinstance(tools, list):
            return result, {}
        kept: list[object] = []
        invalid: dict[str, str] = {}
        for tool in cast("list[object]", tools):
            name, found = _read(tool)
            if isinstance(found, str):
                invalid[name] = found
                self._tools.pop(name, None)
                continue
            self._tools[name] = found
            kept.append(tool)
        return ({**result, "tools": kept} if invalid else result), invalid


def _read(tool: object) -> tuple[str, tuple[Mirror, ...] | str]:
    # A tool that is malformed in another way is for the session to judge.
    if not is_object(tool):
        return "", ()
    return str(tool.get("name")), mirrors(tool.get("inputSchema"))
