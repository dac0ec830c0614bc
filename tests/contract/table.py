"""What a row of the behaviour contract is, and the cells that it must hold in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from mcp_anyera._sdk import SDK1
from tests.interop.faces import connected
from tests.interop.peers import LEGACY, MODERN

LINE = "1.x" if SDK1 else "2.x"
ERAS = ("legacy", "modern")
TRANSPORTS = ("stdio", "HTTP")


@dataclass(frozen=True)
class Cell:
    """One kind of server, met with the installed SDK line."""

    era: str
    transport: str

    @property
    def peer(self) -> str:
        """The real server of this kind."""
        name = LEGACY if self.era == "legacy" else MODERN
        return name if self.transport == "stdio" else f"{name}@http"

    def client(self, **options: Any) -> AbstractAsyncContextManager[Any]:
        """Return a client of that server."""
        return connected("client", self.peer, **options)

    def __str__(self) -> str:
        return f"{self.era} {self.transport}"


CELLS = tuple(Cell(era, transport) for era in ERAS for transport in TRANSPORTS)
Scene = Callable[[Cell], Awaitable[Any]]


@dataclass(frozen=True)
class Row:
    """One promise: the same outcome in every cell where the situation exists."""

    name: str
    situation: str
    outcome: Any
    scene: Scene
    eras: tuple[str, ...]


ROWS: list[Row] = []


def row(
    name: str, situation: str, outcome: Any, eras: tuple[str, ...] = ERAS
) -> Callable[[Scene], Scene]:
    """Register a scene that plays a situation and returns what came of it."""

    def register(scene: Scene) -> Scene:
        ROWS.append(Row(name, situation, outcome, scene, eras))
        return scene

    return register
