"""Answers from a file, for scripts: ``--answers FILE``.

::

    {"answers": [
      {"kind": "form", "message": "Whose card*", "content": {"name": "Ada"}},
      {"kind": "url", "host": "example.com", "action": "decline"},
      {"kind": "sampling", "text": "A short summary."}
    ]}

The first entry that matches a question answers it. ``kind`` must be there; what
else an entry names has to match too, ``message`` and ``host`` with ``*`` and ``?``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

from mcp_anyera.cli.trouble import misused
from mcp_anyera.engine.jsonrpc import is_object

_MATCHES: Final = ("message", "key", "tool", "host")
_ACTIONS: Final = ("accept", "decline", "cancel")
_MEMBERS: Final = {
    "form": {"action", "content"},
    "url": {"action"},
    "sampling": {"action", "text", "model"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, as people and files tell one from another."""

    kind: str
    """``"form"``, ``"url"`` or ``"sampling"``."""
    message: str
    key: str
    caller: str | None
    """The tool, prompt or resource that asks, where that is known."""
    round: int = 0
    params: dict[str, Any] = field(repr=False)
    problem: str | None = None
    """What was wrong with the last answer."""

    @property
    def host(self) -> str:
        """The host of the page that has to be visited."""
        return urlsplit(str(self.params.get("url", ""))).hostname or ""

    def __str__(self) -> str:
        """Name the question in a sentence."""
        where = f" ({self.host})" if self.kind == "url" else ""
        return f"{self.kind} {self.message!r}{where}"


@dataclass(slots=True)
class Entry:
    """One answer of the file."""

    kind: str
    matches: dict[str, str]
    given: dict[str, Any] = field(repr=False)
    once: bool = False
    used: bool = False

    @property
    def action(self) -> str:
        """What is done: accept, decline or cancel."""
        return self.given.get("action", "accept")

    def fits(self, asked: Asked) -> bool:
        """Tell whether this answers a question."""
        if self.kind != asked.kind or (self.once and self.used):
            return False
        facts = {
            "message": asked.message,
            "key": asked.key,
            "tool": asked.caller or "",
            "host": asked.host,
        }
        return all(fnmatchcase(facts[name], one) for name, one in self.matches.items())


class Answers:
    """The answers of one file."""

    def __init__(self, entries: list[Entry]) -> None:
        self._entries = entries

    def find(self, asked: Asked) -> Entry | None:
        """Return the entry that answers a question, and count it as used."""
        for entry in self._entries:
            if entry.fits(asked):
                entry.used = True
                return entry
        return None


def read(path: str) -> Answers:
    """Read a file of answers.

    Raises:
        Trouble: It cannot be read, or something in it makes no sense.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise misused(f"--answers {path} cannot be read: {error}") from error
    listed = content.get("answers") if is_object(content) else content
    if not isinstance(listed, list):
        raise misused(f'--answers {path} must hold {{"answers": [...]}} or a list')
    entries = cast("list[object]", listed)
    return Answers([_entry(path, n, one) for n, one in enumerate(entries, 1)])


def _entry(path: str, number: int, one: object) -> Entry:
    where = f"--answers {path}, answer {number}"
    kind = one.get("kind") if is_object(one) else None
    if not is_object(one) or kind not in _MEMBERS:
        known = ", ".join(map(repr, _MEMBERS))
        raise misused(f"{where}: kind must be one of {known}")
    unknown = sorted(set(one) - {"kind", "once", *_MATCHES} - _MEMBERS[kind])
    if unknown:
        raise misused(f"{where}: {kind} has no {unknown[0]!r}")
    problem = _problem(kind, one)
    if problem is not None:
        raise misused(f"{where}: {problem}")
    matches = {name: str(one[name]) for name in _MATCHES if name in one}
    given = {name: one[name] for name in _MEMBERS[kind] if name in one}
    return Entry(kind, matches, given, once=one.get("once") is True)


def _problem(kind: str, one: dict[str, Any]) -> str | None:
    action = one.get("action", "accept")
    if action not in _ACTIONS:
        return f"action must be one of {', '.join(map(repr, _ACTIONS))}"
    if kind == "form" and not is_object(one.get("content", {})):
        return "content must be an object"
    if kind == "sampling" and action == "accept" and not _is_text(one.get("text")):
        return "text must be there, or another action"
    return None


def _is_text(value: object) -> bool:
    return isinstance(value, str)
