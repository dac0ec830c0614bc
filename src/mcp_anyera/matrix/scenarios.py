"""What is tried in a cell, and which protocol revision has it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("scenarios.toml")
LEGACY: Final = "2025-11-25"
MODERN: Final = "2026-07-28"
_ABOUT: Final = {"sentence", "spec", "legacy"}
"""What a program that runs a scenario has no use for."""


@dataclass(frozen=True)
class Scenario:
    """One thing that must be true of a client in front of a server."""

    id: str
    sentence: str
    revisions: tuple[str, ...]
    """The revisions whose frozen set has it."""
    data: Mapping[str, Any]
    """Everything that the file says about it."""
    spec: str
    """Where the specifications are."""

    @cached_property
    def links(self) -> list[str]:
        """The pages of the specification, the newest last."""
        links = [f"{self.spec}/{MODERN}/{self.data['spec']}"]
        older = [each for each in self.revisions if each != MODERN]
        if not older:
            return links
        page = self.data.get("legacy", self.data["spec"])
        old = f"{self.spec}/{max(older)}/{page}"
        return [old, *links] if MODERN in self.revisions else [old]

    def step(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a program is told.

        Args:
            changes: What the server's ``peer.toml`` says about it.
        """
        told = {key: value for key, value in self.data.items() if key not in _ABOUT}
        told["revisions"] = list(self.revisions)
        told |= {key: value for key, value in changes.items() if key != "expect"}
        del told["expect"]
        return told

    def expected(self, changes: Mapping[str, Any]) -> str:
        """Return what must come of it, as a regular expression."""
        return str(changes.get("expect", self.data["expect"]))

    def passed(self, outcome: str, changes: Mapping[str, Any]) -> bool:
        """Tell whether an outcome is the one that must be."""
        expected = self.expected(changes)
        return re.fullmatch(expected, outcome, re.DOTALL) is not None


class Scenarios(dict[str, Scenario]):
    """All scenarios by their ids, in the order of the file."""

    @classmethod
    def load(cls, file: Path = FILE) -> Scenarios:
        """Read the file.

        Raises:
            ValueError: It contradicts itself.
        """
        read = tomllib.loads(file.read_text("utf-8"))
        frozen: dict[str, list[str]] = read["revisions"]
        made = cls()
        for data in read["scenario"]:
            name = data["id"]
            if name in made:
                raise ValueError(f"{file.name}: {name!r} is there twice")
            has = tuple(each for each, names in frozen.items() if name in names)
            made[name] = Scenario(name, data["sentence"], has, data, read["spec"])
        made.check(frozen)
        return made

    def check(self, frozen: Mapping[str, Iterable[str]]) -> None:
        """Refuse a set that names what is not there, or leaves something out.

        Raises:
            ValueError: It does.
        """
        named = {name for names in frozen.values() for name in names}
        if lost := sorted(named ^ set(self)):
            raise ValueError(
                f"{', '.join(lost)}: in [[scenario]] only, or in [revisions] only"
            )

    def chosen(self, ids: Iterable[str] | None) -> Scenarios:
        """Return some of them.

        Raises:
            ValueError: One is not there.
        """
        wanted = list(self) if ids is None else list(ids)
        if lost := [each for each in wanted if each not in self]:
            raise ValueError(f"no such scenario: {', '.join(lost)}")
        return Scenarios({name: each for name, each in self.items() if name in wanted})
