"""The arguments of a call, as they are typed: ``--arg k=v`` and ``--json``.

A value is text. It is read as JSON where that gives something that the schema
wants and text is not: ``--arg n=5`` is a number for a number, and ``"5"`` for a
string. Whoever wants to be exact uses ``--json``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, cast

from mcp_anyera.cli.trouble import misused
from mcp_anyera.engine.jsonrpc import is_object

_KINDS: Final[tuple[tuple[type, str], ...]] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
    (type(None), "null"),
)
_ANY: Final = frozenset(name for _, name in _KINDS)


def pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names and values of ``--arg``.

    Raises:
        Trouble: One has no ``=``.
    """
    found = [text.partition("=") for text in texts]
    wrong = [name for name, mark, _ in found if not mark or not name]
    if wrong:
        raise misused(f"--arg takes NAME=VALUE; got {wrong[0]!r}")
    return [(name, value) for name, _, value in found]


def json_object(text: str, option: str = "--json") -> dict[str, Any]:
    """Return an object of the command line: JSON, ``@file``, or ``-`` for stdin.

    Raises:
        Trouble: It is none.
    """
    try:
        value = json.loads(_text(text))
    except (OSError, ValueError, RecursionError) as error:
        raise misused(f"{option} cannot be read: {error}") from error
    if not is_object(value):
        raise misused(f"{option} takes a JSON object; got {type(value).__name__}")
    if not _can_be_sent(value):
        raise misused(f"{option} has a number that JSON cannot hold")
    return value


def _can_be_sent(value: object) -> bool:
    # Python reads NaN, and 1e999 as infinity.
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _text(text: str) -> str:
    if text == "-":
        return sys.stdin.read()
    if text.startswith("@"):
        return Path(text[1:]).read_text(encoding="utf-8")
    return text


def arguments(given: list[tuple[str, str]], schema: object) -> dict[str, Any]:
    """Return the arguments that were typed, as the schema wants them.

    A name that is given more than once makes a list, where the schema wants one.

    Args:
        given: Names and values.
        schema: The ``inputSchema`` of the tool; anything else wants everything.

    Raises:
        Trouble: A name is given twice where no list is wanted.
    """
    texts: dict[str, list[str]] = {}
    for name, text in given:
        texts.setdefault(name, []).append(text)
    return {name: _argument(name, parts, schema) for name, parts in texts.items()}


def _argument(name: str, texts: list[str], schema: object) -> Any:
    part = _property(schema, name)
    if len(texts) == 1:
        return value(texts[0], part, schema)
    if "array" not in kinds(part, schema):
        raise misused(f"--arg {name} is given {len(texts)} times, and wants one value")
    items: object = part.get("items", {}) if is_object(part) else {}
    return [value(text, items, schema) for text in texts]


def value(text: str, schema: object, root: object) -> Any:
    """Return one value as its schema wants it."""
    wanted = kinds(schema, root)
    if "string" in wanted and wanted != _ANY:
        return text
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return read if _fits(read, wanted) and _can_be_sent(read) else text


def _fits(read: object, wanted: frozenset[str]) -> bool:
    kind = next(name for known, name in _KINDS if isinstance(read, known))
    return kind in wanted or (kind == "integer" and "number" in wanted)


def _property(schema: object, name: str) -> object:
    for part in _resolved(schema, schema):
        properties = part.get("properties")
        if is_object(properties) and name in properties:
            return properties[name]
    return {}


def kinds(schema: object, root: object) -> frozenset[str]:
    """Return the JSON types that a schema takes; all of them where it says nothing."""
    found: set[str] = set()
    for part in _resolved(schema, root):
        named = part.get("type")
        found |= {named} if isinstance(named, str) else set()
        found |= set(cast("list[str]", named)) if isinstance(named, list) else set()
        values = [part["const"]] if "const" in part else part.get("enum")
        for one in cast("list[Any]", values) if isinstance(values, list) else []:
            found.add(next(name for known, name in _KINDS if isinstance(one, known)))
    return frozenset(found) or _ANY


def _resolved(schema: object, root: object, depth: int = 8) -> Iterator[dict[str, Any]]:
    # What a schema is put together from, as far as it says something about types.
    if not is_object(schema) or not depth:
        return
    yield schema
    yield from _resolved(_referred(schema.get("$ref"), root), root, depth - 1)
    for keyword in ("anyOf", "oneOf", "allOf"):
        parts = schema.get(keyword)
        for part in cast("list[Any]", parts) if isinstance(parts, list) else []:
            yield from _resolved(part, root, depth - 1)


def _referred(reference: object, root: object) -> object:
    # Only inside of the schema itself: nothing is fetched.
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    node = root
    for key in reference[2:].split("/"):
        name = key.replace("~1", "/").replace("~0", "~")
        node = node.get(name) if is_object(node) else None
    return node
