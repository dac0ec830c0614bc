"""The result of a run: one JSON file that every view is made from."""

from __future__ import annotations

import json
import platform
import sys
import tempfile
from collections import Counter
from collections.abc import Container, Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, cast

from mcp_anyera.matrix import transcript
from mcp_anyera.matrix.environments import cache_folder
from mcp_anyera.matrix.gaps import Gaps
from mcp_anyera.matrix.pair import Pair
from mcp_anyera.matrix.peers import Peer, clone
from mcp_anyera.matrix.scenarios import Scenarios

SCHEMA: Final = 1
"""Goes up when a reader of the file must change, or a frozen set of scenarios has."""
VERDICTS: Final = ("pass", "fail", "unsupported", "error")

Json = dict[str, Any]


class Result:
    """Grows while the matrix runs, and is valid at any time."""

    def __init__(self, scenarios: Scenarios, pairs: list[Pair], gaps: Gaps) -> None:
        """Begin with what will be tried."""
        self._scenarios = scenarios
        self._pairs = pairs
        self._gaps = gaps
        self._started = datetime.now(UTC).replace(microsecond=0)
        self.done: list[Pair] = []
        self.complete = False

    def add(self, pair: Pair) -> None:
        """Take a pair that has come to its end."""
        self.done.append(pair)

    def data(self) -> Json:
        """Return everything as JSON."""
        seconds = datetime.now(UTC) - self._started
        pairs = [self._pair(each) for each in sorted(self.done, key=self._place)]
        data: Json = {
            "schema": SCHEMA,
            "complete": self.complete,
            "started": self._started.isoformat(),
            "seconds": round(seconds.total_seconds()),
            "project": _own_version(),
            "python": sys.version.split()[0],
            "platform": f"{platform.system()} {platform.machine()}",
            "scenarios": self._described(),
            "clients": self._peers("client"),
            "servers": self._peers("server"),
            "pairs": pairs,
        }
        self._gaps.judge(data)
        return data

    def _place(self, pair: Pair) -> int:
        return self._pairs.index(pair)

    def _described(self) -> Json:
        return {
            name: {
                "sentence": each.sentence,
                "links": each.links,
                "revisions": list(each.revisions),
            }
            for name, each in self._scenarios.items()
        }

    def _peers(self, kind: str) -> Json:
        found: Json = {}
        for pair in self._pairs:
            party = pair.client if kind == "client" else pair.server
            peer = party.peer
            environment = party.environment
            about = _about(peer)
            about["versions"] = {} if environment is None else environment.versions
            found.setdefault(peer.name, about)
        return found

    def _pair(self, pair: Pair) -> Json:
        client, server, transport = pair.name
        cells = {
            name: _cell(pair, name) for name in self._scenarios if name in pair.cells
        }
        text = json.dumps(cells, ensure_ascii=False)
        scrub = places()
        for place, instead in scrub.items():
            text = text.replace(place, instead)
        return {
            "client": client,
            "server": server,
            "transport": transport,
            "revision": pair.revision,
            "started": self._started.isoformat(),
            "seconds": pair.seconds,
            "cells": json.loads(text),
            "transcript": transcript.packed(pair.records, scrub),
        }


def _cell(pair: Pair, name: str) -> Json:
    cell = pair.cells[name]
    made: Json = {"verdict": cell.verdict, "outcome": cell.outcome}
    if cell.verdict == "fail":
        made["expected"] = pair.scenarios[name].expected(pair.server.peer.changes(name))
    return made | ({"seconds": round(cell.seconds, 3)} if cell.seconds else {})


def _about(peer: Peer) -> Json:
    wanted = ("title", "group", "required", "era", "transports", "language", "links")
    return {key: peer.data[key] for key in wanted if key in peer.data}


def places() -> dict[str, str]:
    """Return places on this machine that a result must not name."""
    found = {str(cache_folder()): "ENVIRONMENTS", str(Path.home()): "HOME"}
    found |= {str(clone()): "CLONE", tempfile.gettempdir(): "TMP"}
    found |= {sys.prefix: "PYTHON", sys.base_prefix: "PYTHON"}
    wanted = {place: name for place, name in found.items() if len(place) > 1}
    return dict(sorted(wanted.items(), key=lambda each: -len(each[0])))


def _own_version() -> str:
    try:
        return version("mcp-anyera")
    except PackageNotFoundError:
        return "0"


def save(data: Json, path: Path) -> None:
    """Write a result."""
    text = json.dumps(data, ensure_ascii=False, indent=1, sort_keys=False)
    path.write_text(text + "\n", "utf-8")


def load(path: Path) -> Json:
    """Read a result.

    Raises:
        ValueError: It is none, or of another version.
    """
    data: Any = json.loads(path.read_text("utf-8"))
    if not isinstance(data, dict) or cast("Json", data).get("schema") != SCHEMA:
        raise ValueError(f"{path} is no result of schema {SCHEMA}")
    return cast("Json", data)


def joined(earlier: Json, later: Json, gaps: Gaps) -> Json:
    """Return a result in which the cells of a later run replace those of an earlier.

    Each pair says when it was run. The whole is as complete as both runs are.
    """
    new = {_name(pair): pair for pair in later["pairs"]}
    kept = [_renewed(pair, new.pop(_name(pair), None)) for pair in earlier["pairs"]]
    data = {**later, "complete": earlier["complete"] and later["complete"]}
    data["seconds"] = earlier["seconds"] + later["seconds"]
    for kind in ("scenarios", "clients", "servers"):
        data[kind] = {**earlier[kind], **later[kind]}
    clients, servers = list(data["clients"]), list(data["servers"])
    data["pairs"] = sorted(
        [*kept, *new.values()],
        key=lambda pair: (
            servers.index(pair["server"]),
            pair["transport"] != "stdio",
            clients.index(pair["client"]),
        ),
    )
    gaps.judge(data)
    return data


def only(data: Json, names: Container[tuple[str, str, str]]) -> Json:
    """Return a result with some of its pairs, judged as a part of the whole."""
    return {**data, "pairs": [each for each in data["pairs"] if _name(each) in names]}


def _name(pair: Json) -> tuple[str, str, str]:
    return pair["client"], pair["server"], pair["transport"]


def _renewed(earlier: Json, later: Json | None) -> Json:
    """Return a pair whose cells are the later ones, where there are any."""
    if later is None:
        return earlier
    cells = {**earlier["cells"], **later["cells"]}
    told, more = (transcript.unpacked(each["transcript"]) for each in (earlier, later))
    for side, cuts in more.items():
        told[side] = {**told.get(side, {}), **cuts}
    return {**later, "cells": cells, "transcript": transcript.packed(told, {})}


def counted(cells: Iterable[Json]) -> dict[str, int]:
    """Count cells by verdict, known gaps apart."""
    counts = Counter("gap" if "gap" in cell else cell["verdict"] for cell in cells)
    return {
        name: counts[name] for name in ("pass", "gap", "fail", "unsupported", "error")
    }


def failures(data: Json) -> list[str]:
    """Return what makes the run a failure: required cells, and stale gaps."""
    wrong = [
        f"{pair['client']} with {pair['server']} over {pair['transport']}: "
        f"{name}: {cell['outcome']}" + _instead(cell)
        for pair, name, cell in _failed(data)
        if _required(data, pair)
    ]
    return wrong + [
        f"passes now, take it out of the gaps: {each}" for each in data["stale"]
    ]


def _failed(data: Json) -> list[tuple[Json, str, Json]]:
    """Return all cells that failed and are no known gaps."""
    return [
        (pair, name, cell)
        for pair in data["pairs"]
        for name, cell in pair["cells"].items()
        if cell["verdict"] == "fail" and "gap" not in cell
    ]


def _required(data: Json, pair: Json) -> bool:
    return bool(data["clients"][pair["client"]].get("required"))


def _instead(cell: Json) -> str:
    """Say what should have come; results of before did not keep it."""
    return f" (expected: {cell['expected']})" if "expected" in cell else ""


def errors(data: Json) -> list[str]:
    """Return the reasons why some cells could not be tried, each of them once."""
    found: dict[str, list[str]] = {}
    for pair in data["pairs"]:
        name = f"{pair['client']} with {pair['server']} over {pair['transport']}"
        for cell in pair["cells"].values():
            if cell["verdict"] == "error":
                found.setdefault(cell["outcome"], []).append(name)
    return sorted(f"{_first(names)}: {reason}" for reason, names in found.items())


def _first(names: list[str]) -> str:
    more = len({*names}) - 1
    return f"{names[0]} and {more} more" if more else names[0]


def reason(data: Json) -> str:
    """Say in one line why the exit status is what it is."""
    failed = [pair["client"] for pair, _, _ in _failed(data) if _required(data, pair)]
    names = ", ".join(dict.fromkeys(failed))
    cells = [cell for pair in data["pairs"] for cell in pair["cells"].values()]
    untried = counted(cells)["error"]
    found = [
        "" if data["complete"] else "the run is not complete",
        f"{_cells(untried)} could not be tried" if untried else "",
        f"{_cells(len(failed), 'required ')} failed ({names})" if failed else "",
        f"known gaps that passed: {len(data['stale'])}" if data["stale"] else "",
    ]
    why = ", ".join(filter(None, found)) or "no required cell failed"
    return f"{why}{_beside(data)}"


def _cells(number: int, which: str = "") -> str:
    return f"{number} {which}cell{'' if number == 1 else 's'}"


def _beside(data: Json) -> str:
    """Say how many failures do not count."""
    groups = [
        data["clients"][pair["client"]].get("group")
        for pair, _, _ in _failed(data)
        if not _required(data, pair)
    ]
    if not groups:
        return ""
    whose = "the SDK alone" if {*groups} == {"sdk"} else "stacks that are not required"
    return f"; not counted: {len(groups)} of {whose}"


def status(data: Json) -> int:
    """Return the exit status: 2 not completed, 1 a required cell failed, else 0."""
    if not data["complete"] or errors(data):
        return 2
    return 1 if failures(data) else 0
