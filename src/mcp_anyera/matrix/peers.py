"""Client stacks and servers, each described by a ``peer.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mcp_anyera.matrix.descriptions import ERAS, faults

OWN: Final = Path(__file__).with_name("stacks")
"""The client stacks that come with the package."""
_SERVERS: Final = Path("compat-matrix", "peers")
"""The others, in a clone of the repository."""


@dataclass(frozen=True)
class Peer:
    """What ``peer.toml`` says."""

    name: str
    kind: str
    """``"client"`` or ``"server"``."""
    home: Path
    data: Mapping[str, Any]

    @classmethod
    def read(cls, file: Path) -> Peer:
        """Read one.

        Raises:
            ValueError: It lacks something, or has what it cannot have.
        """
        try:
            data = tomllib.loads(file.read_text("utf-8"))
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
        if (fault := next(faults(file, data), None)) is not None:
            raise ValueError(f"{file}: {fault}")
        return cls(data["name"], data["kind"], file.parent, data)

    @property
    def title(self) -> str:
        """Its name as people write it."""
        return str(self.data.get("title", self.name))

    @property
    def group(self) -> str:
        """Of a client: what it is selected with."""
        return str(self.data.get("group", "servers"))

    @property
    def required(self) -> bool:
        """Of a client: a cell that fails fails the run."""
        return bool(self.data.get("required", False))

    def lacks(self, scenario: str) -> str | None:
        """Of a client: why a scenario has no meaning for it, if it has none."""
        reasons: Mapping[str, list[str]] = self.data.get("unsupported", {})
        found = (reason for reason, names in reasons.items() if scenario in names)
        return next(found, None)

    @property
    def transports(self) -> tuple[str, ...]:
        """Of a server: how it can be met."""
        return tuple(self.data["transports"])

    @property
    def revisions(self) -> tuple[str, ...]:
        """Of a server: the newest revision of each era that it speaks."""
        return tuple(self.data.get("revisions", ERAS[self.data["era"]]))

    def changes(self, scenario: str) -> Mapping[str, Any]:
        """Of a server: what is different in a scenario."""
        changes: Mapping[str, Any] = self.data.get("scenarios", {}).get(scenario, {})
        return changes


@dataclass
class Peers:
    """All that are known."""

    clients: dict[str, Peer] = field(default_factory=dict[str, Peer])
    servers: dict[str, Peer] = field(default_factory=dict[str, Peer])

    @classmethod
    def load(cls, folders: Iterable[Path]) -> Peers:
        """Read every ``peer.toml`` in folders of folders."""
        peers = cls()
        for folder in folders:
            for file in sorted(folder.glob("*/peer.toml")):
                peer = Peer.read(file)
                # What else there is belongs to the tests of the bridge.
                kinds = {"client": peers.clients, "server": peers.servers}
                kinds.get(peer.kind, {})[peer.name] = peer
        return peers

    def in_groups(self, groups: Iterable[str]) -> list[Peer]:
        """Return the client stacks of some groups, in the order of the groups."""
        return [
            each
            for group in groups
            for each in self.clients.values()
            if each.group == group
        ]


def clone() -> Path | None:
    """Return the folder of the repository, if there is one.

    It is where this package runs from, or else where its user is.
    """
    here = Path.cwd()
    roots = (Path(__file__).parents[3], here, *here.parents)
    return next((root for root in roots if (root / _SERVERS).is_dir()), None)


def folders() -> list[Path]:
    """Return where peers are described."""
    root = clone()
    return [OWN] if root is None else [OWN, root / _SERVERS]


def picked(known: Mapping[str, Peer], names: Iterable[str]) -> list[Peer]:
    """Return peers by their names.

    Raises:
        ValueError: One is not there.
    """
    wanted = list(names)
    if lost := [name for name in wanted if name not in known]:
        there = ", ".join(known) or "none"
        raise ValueError(f"no such peer: {', '.join(lost)} (there are: {there})")
    return [known[name] for name in wanted]
