"""A form in the terminal, one field after the other.

What is typed is judged field by field with the schema that the whole answer will
be held against, so that a problem is named where it can be corrected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from mcp_anyera.cli.clean import clean_line
from mcp_anyera.cli.prompting import Back, Option, Prompts
from mcp_anyera.forms import Field, fields, problem_with, schema_of

_LEAVE_OUT: Final = object()
_WORDS: Final = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minItems": "at least {}",
    "maxItems": "at most {}",
}
_FORMATS: Final = {
    "email": "an email address",
    "uri": "an address such as https://example.com",
    "date": "a date such as 2026-07-28",
    "date-time": "a time such as 2026-07-28T12:00:00Z",
}


class Form:
    """The fields of one question, and what was typed so far."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        """Read a form."""
        self.fields: tuple[Field, ...] = fields(params)
        self._parts: dict[str, Any] = schema_of(params).get("properties", {})
        self.content: dict[str, Any] = {}

    async def fill(self, prompts: Prompts) -> bool:
        """Ask for each field; ``False`` when Escape was pressed on the way.

        What was typed before is filled in beforehand the next time.
        """
        for field in self.fields:
            value = await self._ask(prompts, field)
            if isinstance(value, Back):
                return False
            if value is _LEAVE_OUT:
                self.content.pop(field.name, None)
            else:
                self.content[field.name] = value
        return True

    def rows(self) -> list[tuple[str, str]]:
        """Return the answers as they are shown before they go out."""
        return [
            (clean_line(field.title), self._shown(field))
            for field in self.fields
            if field.name in self.content
        ]

    def _shown(self, field: Field) -> str:
        value = self.content[field.name]
        titles = {choice.value: choice.title for choice in field.choices}
        if isinstance(value, list):
            chosen = map(str, cast("list[Any]", value))
            return ", ".join(titles.get(one, one) for one in chosen) or "none"
        if isinstance(value, bool):
            return "yes" if value else "no"
        return clean_line(titles.get(str(value), str(value)))

    # -- one field -----------------------------------------------------------------

    async def _ask(self, prompts: Prompts, field: Field) -> Any:
        before = self.content.get(field.name, field.default)
        if field.several:
            return await self._several(prompts, field, before)
        if field.choices or field.kind == "boolean":
            return await self._choice(prompts, field, before)
        return await self._typed(prompts, field, before)

    async def _typed(self, prompts: Prompts, field: Field, before: Any) -> Any:
        text = await prompts.line(
            _title(field),
            default="" if before is None else _text(before),
            hint=_hint(field),
            validate=lambda text: self._problem(field, text),
        )
        return text if isinstance(text, Back) else self._read(field, text)

    def _read(self, field: Field, text: str) -> Any:
        if not text:
            # A default comes back by itself unless something is said in its place.
            keep = field.kind == "string" and field.default is not None
            return "" if keep else _LEAVE_OUT
        if field.kind == "string":
            return text
        return _number(text)

    def _problem(self, field: Field, text: str) -> str | None:
        if not text and field.required:
            return "this one is required"
        value = self._read(field, text)
        if value is _LEAVE_OUT:
            return None
        if value is None:
            return f"this has to be {', '.join(_wanted(field))}"
        return self._unfit(field, value)

    def _unfit(self, field: Field, value: Any) -> str | None:
        part = {"type": "object", "properties": {field.name: self._parts[field.name]}}
        found = problem_with(part, {field.name: value})
        if found is None:
            return None
        # What it has to be says more than what is wrong with it.
        wanted = ", ".join(_wanted(field))
        found = found.removeprefix(f"{field.name}: ")
        return f"this has to be {wanted}" if wanted else clean_line(found)

    async def _choice(self, prompts: Prompts, field: Field, before: Any) -> Any:
        options = [Option(one.value, clean_line(one.title)) for one in field.choices]
        if field.kind == "boolean":
            options = [Option(value=True, title="yes"), Option(value=False, title="no")]
        if not field.required and field.default is None:
            options.append(Option(_LEAVE_OUT, "leave it out"))
        return await prompts.one(_title(field), options, default=before)

    async def _several(self, prompts: Prompts, field: Field, before: Any) -> Any:
        chosen = await prompts.some(
            _title(field),
            [Option(one.value, clean_line(one.title)) for one in field.choices],
            chosen=cast("list[Any]", before) if isinstance(before, list) else [],
            hint=_hint(field),
            validate=lambda values: self._unfit(field, values),
        )
        nothing = not isinstance(chosen, Back) and not chosen
        bare = nothing and not field.required and field.default is None
        return _LEAVE_OUT if bare else chosen


_KINDS: Final = {"integer": "a whole number", "number": "a number"}


def _title(field: Field) -> str:
    title = clean_line(field.title)
    if field.description:
        title = f"{title} – {clean_line(field.description)}"
    return title if title.endswith(("?", ":")) else f"{title}:"


def _wanted(field: Field) -> list[str]:
    words = [_KINDS[field.kind]] if field.kind in _KINDS else []
    known = _FORMATS.get(str(field.limits.get("format")))
    words += [] if known is None else [known]
    return words + [
        _WORDS[name].format(clean_line(str(limit)))
        for name, limit in field.limits.items()
        if name in _WORDS
    ]


def _hint(field: Field) -> str:
    words = _wanted(field) + ([] if field.required else ["optional"])
    return f"({', '.join(words)})" if words else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _number(text: str) -> float | int | None:
    try:
        value = json.loads(text.strip())
    except ValueError:
        return None
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if number else None
