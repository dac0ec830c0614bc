"""Forms: what a server asks for, in one shape, and whether an answer fits.

The specification has had five ways to write down a choice. `fields` reads them all,
for people who draw forms. `complete` and `problem_with` are what a client does with
an answer before it goes out.

Spec: 2026-07-28 ``client/elicitation`` § Requested Schema; 2025-06-18 and 2025-11-25
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import zip_longest
from typing import Any, Final, TypeAlias, cast

JsonObject: TypeAlias = dict[str, Any]

_LIMITS: Final = (
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "format",
    "pattern",
)


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that can be chosen."""

    value: str
    """What goes into the answer."""
    title: str
    """What to show; the value itself where the server gives nothing better."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a form."""

    name: str
    """The key of the field in the answer."""
    kind: str
    """``"string"``, ``"number"``, ``"integer"``, ``"boolean"``, or ``"array"`` for a
    choice of several."""
    title: str
    """What to show; the name where the server gives nothing better."""
    description: str | None
    """A sentence about the field, or ``None``."""
    required: bool
    """Whether an answer must have it."""
    default: Any
    """What to fill in beforehand; ``None`` for nothing."""
    choices: tuple[Choice, ...]
    """What can be chosen; empty for a field that is typed in."""
    several: bool
    """Whether more than one may be chosen; the answer is a list then."""
    limits: Mapping[str, Any]
    """``minLength``, ``maximum``, ``format`` and so on, as the schema has them."""


def fields(params: Any) -> tuple[Field, ...]:
    """Return the fields of a form.

    Args:
        params: What an elicitation callback gets, of either SDK line, or a
            ``requestedSchema`` as JSON.

    Returns:
        The fields in the order of the schema; none for a question in URL mode.
    """
    schema = schema_of(params)
    properties = _object(schema.get("properties"))
    required = _list(schema.get("required"))
    return tuple(
        _field(name, _object(part), required=name in required)
        for name, part in properties.items()
    )


def schema_of(params: Any) -> JsonObject:
    """Return the ``requestedSchema`` of a question as JSON; empty where it has none."""
    if isinstance(params, Mapping):
        plain = dict(cast("Mapping[str, Any]", params))
        asked = "requestedSchema" in plain or "message" in plain
        return _object(plain.get("requestedSchema")) if asked else plain
    # The SDK lines name it differently.
    found = getattr(params, "requestedSchema", None)
    return _object(getattr(params, "requested_schema", found))


def _field(name: str, schema: JsonObject, *, required: bool) -> Field:
    kind = schema.get("type")
    several = kind == "array"
    options = _object(schema.get("items")) if several else schema
    return Field(
        name=name,
        kind=kind if isinstance(kind, str) else "string",
        title=_text(schema.get("title")) or name,
        description=_text(schema.get("description")),
        required=required,
        default=schema.get("default"),
        choices=_choices(options),
        several=several,
        limits={key: schema[key] for key in _LIMITS if key in schema},
    )


def _choices(schema: JsonObject) -> tuple[Choice, ...]:
    for key in ("oneOf", "anyOf"):
        parts = [_object(part) for part in _list(schema.get(key))]
        if parts:
            named = [part for part in parts if "const" in part]
            return tuple(_choice(part["const"], part.get("title")) for part in named)
    values, names = _list(schema.get("enum")), _list(schema.get("enumNames"))
    pairs = zip_longest(values, names[: len(values)])
    return tuple(_choice(value, name) for value, name in pairs)


def _choice(value: object, title: object) -> Choice:
    return Choice(str(value), _text(title) or str(value))


def complete(schema: JsonObject, content: Mapping[str, Any] | None) -> JsonObject:
    """Return an answer with the defaults of the schema where it has nothing."""
    parts = {
        name: _object(part) for name, part in _object(schema.get("properties")).items()
    }
    defaults = {
        name: part["default"] for name, part in parts.items() if "default" in part
    }
    return {**defaults, **(content or {})}


def problem_with(schema: JsonObject, content: JsonObject) -> str | None:
    """Return what is wrong with an answer, as a sentence; ``None`` when it fits.

    A schema that cannot be used, because it is invalid or refers to something
    elsewhere, finds nothing wrong: nothing is ever fetched to judge an answer. A
    ``pattern`` is not tried, for a server could choose one that never ends.
    """
    try:
        error = next(_validator()(schema).iter_errors(content), None)
    except Exception:  # noqa: BLE001 - a schema may be wrong in every way
        return None
    return None if error is None else _sentence(error)


@cache
def _validator() -> Callable[[JsonObject], Any]:
    # Loading it takes a tenth of a second, and few clients need it at all.
    import jsonschema  # noqa: PLC0415

    tools: Any = jsonschema
    unwanted = dict.fromkeys(("pattern", "patternProperties"), _pass)
    kind = tools.validators.extend(tools.Draft202012Validator, unwanted)
    return partial(kind, format_checker=tools.FormatChecker())


def _pass(*_args: object) -> None:
    """Find nothing wrong."""


def _sentence(error: Any) -> str:
    where = ".".join(str(part) for part in error.absolute_path)
    return f"{where}: {error.message}" if where else str(error.message)


def _object(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
