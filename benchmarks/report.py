"""The tables that a run is shown as, in Markdown.

``python report.py`` writes the page of the documentation again, from the run that is
kept in ``results/latest.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import plot
import targets
from places import HERE, ROOT

LATEST = HERE / "results" / "latest.json"
PAGE = ROOT / "docs" / "explanation" / "speed.md"
PICTURE = ROOT / "docs" / "pictures" / "in-flight.svg"
MARK = "<!-- measured: written by `make bench-docs` -->"


def markdown(run: dict[str, Any]) -> str:
    """Return everything that a run says."""
    parts = [promises(run), *details(run)]
    return "\n\n".join(part for part in parts if part)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table."""
    heads = list(head)
    lines = [heads, ["---"] * len(heads), *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def promises(run: dict[str, Any]) -> str:
    """Return what was promised and what was measured."""
    rows = (
        (row.what, row.peer, row.target, row.measured, row.verdict)
        for row in targets.rows(run)
    )
    head = table(("what", "beside", "target", "measured", "verdict"), rows)
    return f"{about(run)}\n\n{head}"


def about(run: dict[str, Any]) -> str:
    """Return where a run was made, and with what."""
    mcp = " and ".join(run["mcp"].values())
    turns = "few turns" if run["scale"] < 1 else "all turns"
    place = f"{run['machine']}, Python {run['python']}, mcp {mcp}"
    return f"Measured {run['date']} with {turns}: {place}."


def details(run: dict[str, Any]) -> Iterator[str]:
    """Yield the tables behind the promises."""
    if "calls" in run:
        yield "Every case, in microseconds: p50 (p99, spread of p50), processor time."
        head = ("SDK", "server", "case", "way", "p50", "p99", "spread", "processor")
        yield table(head, call_lines(run["calls"]))
    if "flight" in run:
        yield "Processor time of a call in microseconds, by calls in flight."
        head = ("server", "in flight", *plot.WAYS)
        yield table(head, flight_lines(run["flight"]))
    if "memory" in run:
        yield "Idle connections to a modern server over HTTP, in one process."
        head = ("way", "memory of each, KB", "tasks of each", "peak, MB")
        yield table(head, memory_lines(run["memory"]))
    for line, figures in run.get("bridge", {}).items():
        yield f"Bridges on {line}."
        yield from bridge_tables(figures)
    if "openings" in run:
        yield "Connecting, from nothing to the first list, in seconds."
        yield table(("server", "Client", "mcp.Client"), opening_lines(run["openings"]))


def call_lines(figures: dict[str, Any]) -> Iterator[Iterable[str]]:
    """Yield a line for each case and way."""
    for line, places in figures.items():
        for place, cases in places.items():
            for case, ways in cases.items():
                for way, one in ways.items():
                    keys = ("p50", "p99", "spread", "cpu")
                    yield line, place, case, way, *(f"{one[key]:.0f}" for key in keys)


def flight_lines(figures: dict[str, Any]) -> Iterator[Iterable[str]]:
    """Yield a line for each number of calls in flight."""
    for era, counts in figures.items():
        for count, ways in counts.items():
            costs = (ways.get(way, {}).get("cpu") for way in plot.WAYS)
            yield era, count, *("" if cost is None else f"{cost:.0f}" for cost in costs)


def memory_lines(figures: dict[str, Any]) -> Iterator[Iterable[str]]:
    """Yield a line for each way."""
    for way, one in figures.items():
        yield way, *(f"{one[key]:.0f}" for key in ("each", "tasks", "peak"))


def bridge_tables(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the tables of one line's bridges."""
    for server in ("stub", "TypeScript"):
        taken = dict(figures[server])
        straight = taken.pop("straight")["p50, ms"]
        keys = list(next(iter(taken.values())))
        rows = (
            (name, *(f"{one[key]:.2f}" for key in keys)) for name, one in taken.items()
        )
        yield table((f"{server}, alone {straight:.2f} ms", *keys), rows)
    outcomes = figures["outcomes"]
    keys = list(next(iter(outcomes.values())))
    rows = ((name, *said.values()) for name, said in outcomes.items())
    yield table(("bridge", *keys), rows)
    starts = figures["starts, ms"]
    yield table(starts, [[f"{took:.0f} ms" for took in starts.values()]])


def opening_lines(figures: dict[str, Any]) -> Iterator[Iterable[str]]:
    """Yield a line for each kind of server."""
    for kind, ways in figures["openings, s"].items():
        times = (ways["Client"], ways["mcp.Client"])
        yield kind, *("fails" if took is None else f"{took:.3f}" for took in times)


def page(run: dict[str, Any]) -> str:
    """Return the page of the documentation, with the figures of a run."""
    text = PAGE.read_text("utf-8").partition(MARK)[0]
    return f"{text}{MARK}\n\n{markdown(run)}\n"


if __name__ == "__main__":
    latest = json.loads(LATEST.read_text("utf-8"))
    PAGE.write_text(page(latest), "utf-8")
    PICTURE.write_text(plot.picture(latest["flight"]), "utf-8")
