"""What may stand in a ``peer.toml``."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from mcp_anyera.matrix.scenarios import LEGACY, MODERN, Scenarios

Json = Mapping[str, Any]

ERAS: Final[dict[str, tuple[str, ...]]] = {
    "legacy": (LEGACY,),
    "dual": (LEGACY, MODERN),
    "modern": (MODERN,),
}
KINDS: Final = ("client", "server", "bridge-client")
PROGRAMS: Final = {"stdio": "start", "http": "http"}
"""The key with the program of each transport."""
_VALUES: Final = {"kind": KINDS, "era": ERAS, "language": ("python", "node")}
_FIXED: Final = {"id", "sentence", "play", "spec", "legacy"}
"""What makes a scenario the one that it is."""


def faults(file: Path, data: Json) -> Generator[str]:
    """Yield what is wrong with a description, what all else depends on first."""
    needed = {"name", "kind", "environment"}
    needed |= {"group"} if data.get("kind") == "client" else {"era", "transports"}
    if lost := sorted(needed - set(data)):
        yield f"{', '.join(lost)} missing"
    for key, values in _VALUES.items():
        if key in data:
            yield from _unknown(key, [data[key]], values)
    if data["name"] != file.parent.name:
        yield f"name is {data['name']!r} and must be the folder's, {file.parent.name!r}"
    if data["kind"] != "client":
        yield from _unknown("transports", data["transports"], PROGRAMS)
    if data["kind"] == "server":
        yield from _programs(file, data)
    yield from _changes(data.get("scenarios", {}))


def _programs(file: Path, data: Json) -> Generator[str]:
    for transport in data["transports"]:
        key = PROGRAMS[transport]
        program = next(iter(data.get(key, ())), None)
        if program is None:
            yield f"{key} is missing: transports has {transport!r}"
        elif not (file.parent / program).exists():
            yield f"{key} names {program!r}, and there is no such file beside it"


def _changes(changes: Mapping[str, Json]) -> Generator[str]:
    yield from _unknown("[scenarios]", changes, _scenarios())
    for name, change in changes.items():
        yield from _unknown(f"{name} of [scenarios]", change, _changeable())


@cache
def _scenarios() -> Scenarios:
    return Scenarios.load()


@cache
def _changeable() -> list[str]:
    """Return what a server may have in its own way in a scenario."""
    keys = {key for each in _scenarios().values() for key in each.data}
    return sorted((keys - _FIXED) | {"revisions", "unsupported"})


def _unknown(key: str, found: Iterable[str], known: Iterable[str]) -> Generator[str]:
    there = list(known)
    if strange := [repr(each) for each in found if each not in there]:
        yield f"{key} has {', '.join(strange)} and can have: {', '.join(there)}"
