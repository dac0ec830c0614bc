"""What is known not to pass, and why."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from mcp_anyera.matrix.pair import Pair

_KEYS = {"clients", "servers", "scenarios", "reason", "links"}


@dataclass
class Gap:
    """Cells that are known to fail, and why."""

    clients: list[str]
    servers: list[str]
    scenarios: list[str]
    reason: str
    links: list[str]
    transports: list[str] = field(default_factory=lambda: ["*"])
    sometimes: bool = False
    """A race that may also be won; it is never stale."""
    used: bool = False
    met: bool = False
    """The run had a cell that it names."""

    def names(self, pair: Pair, scenario: str) -> bool:
        """Tell whether it is about a cell."""
        client, server, transport = pair.name
        return (
            _any(client, self.clients)
            and _any(server, self.servers)
            and _any(transport, self.transports)
            and _any(scenario, self.scenarios)
        )

    def __str__(self) -> str:
        """Render what it is about."""
        return f"{', '.join(self.scenarios)}: {self.clients} with {self.servers}"


def _any(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


class Gaps(list[Gap]):
    """All of them."""

    @classmethod
    def load(cls, file: Path | None) -> Gaps:
        """Read them.

        Raises:
            ValueError: One lacks its reason, its links or what it is about.
        """
        if file is None or not file.exists():
            return cls()
        entries: list[dict[str, Any]] = tomllib.loads(file.read_text("utf-8"))["gap"]
        for entry in entries:
            if lost := sorted(key for key in _KEYS if not entry.get(key)):
                raise ValueError(f"{file.name}: a gap without {', '.join(lost)}")
        return cls(Gap(**entry) for entry in entries)

    def excuse(self, pair: Pair, scenario: str) -> Gap | None:
        """Return the gap that excuses a cell that has failed, and remember its use."""
        for gap in self:
            if gap.names(pair, scenario):
                gap.used = True
                return gap
        return None

    def meet(self, pair: Pair) -> None:
        """Remember which gaps a finished pair is about."""
        for gap in self:
            tried = (
                name
                for name, cell in pair.cells.items()
                if cell.verdict in {"pass", "fail"}
            )
            gap.met = gap.met or any(gap.names(pair, name) for name in tried)

    def stale(self) -> list[Gap]:
        """Return those that the run has met and that excused nothing."""
        return [gap for gap in self if gap.met and not (gap.used or gap.sometimes)]
