"""What is known not to pass, and why."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]

KNOWN: Final = Path(__file__).with_name("known-gaps.toml")
"""What is known of mcp-anyera, in front of the peers and of any other server."""
YOURS: Final = ("your-client", "your-server")
"""What a client or a server is called that is no peer."""
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

    def names(self, pair: Json, scenario: str) -> bool:
        """Tell whether it is about a cell of a pair of a result."""
        return (
            _any(pair["client"], self.clients)
            and _any(pair["server"], self.servers)
            and _any(pair["transport"], self.transports)
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
    def load(cls, file: Path = KNOWN) -> Gaps:
        """Read them.

        Raises:
            ValueError: There is no such file, or one lacks its reason, its links or
                what it is about.
        """
        if not file.exists():
            raise ValueError(f"there is no file {file}")
        read = tomllib.loads(file.read_text("utf-8"))
        entries: list[dict[str, Any]] = read.get("gap", [])
        for entry in entries:
            if lost := sorted(key for key in _KEYS if not entry.get(key)):
                raise ValueError(f"{file.name}: a gap without {', '.join(lost)}")
        return cls(Gap(**entry) for entry in entries)

    def excuse(self, client: str, server: str, transport: str, scenario: str) -> bool:
        """Tell whether a cell is known to fail."""
        pair = {"client": client, "server": server, "transport": transport}
        return any(gap.names(pair, scenario) for gap in self)

    def judge(self, data: Json) -> None:
        """Mark the failures of a result that are excused, and the gaps that are stale.

        What the result says about gaps so far is forgotten. With a client or a server
        that is no peer, none is stale: nobody has said that it fails there.
        """
        used: set[int] = set()
        met: set[int] = set()
        for pair in data["pairs"]:
            for name, cell in pair["cells"].items():
                cell.pop("gap", None)
                if cell["verdict"] not in {"pass", "fail"}:
                    continue
                about = [at for at, gap in enumerate(self) if gap.names(pair, name)]
                if not {pair["client"], pair["server"]}.intersection(YOURS):
                    met.update(about)
                if cell["verdict"] == "fail" and about:
                    used.update(about)
                    cell["gap"] = about[0]
        data["gaps"] = [
            {"reason": gap.reason.strip(), "links": gap.links} for gap in self
        ]
        stale = [at for at in met - used if not self[at].sometimes]
        data["stale"] = [str(self[at]) for at in sorted(stale) if data["complete"]]
