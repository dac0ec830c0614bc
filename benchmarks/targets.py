"""The figures that are promised, and whether a run has kept them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Figures = dict[str, Any]


class Row(NamedTuple):
    """One promise: what, beside whom, how much was wanted, what was measured."""

    what: str
    peer: str
    target: str
    measured: str
    kept: bool

    @property
    def verdict(self) -> str:
        """The last word of a line."""
        return "kept" if self.kept else "**missed**"


class Call(NamedTuple):
    """How much a call may cost beside its peer, in time and in processor time."""

    line: str
    place: str
    case: str
    way: str
    peer: str
    p50: float
    cpu: float


MODERN_HTTP, STDIO = (0.90, 0.75), (0.90, 0.70)
PLAIN, ADAPTED = (1.00, 1.00), (1.05, 1.05)
CALLS = (
    *(
        Call(
            "sdk2", f"{server}, modern HTTP", case, "Client", "mcp.Client", *MODERN_HTTP
        )
        for server, cases in (
            ("stub", ("echo", "one_round")),
            ("mcp 2.3", ("echo", "issue_card")),
        )
        for case in cases
    ),
    *(
        Call("sdk2", place, "echo", "Client", "mcp.Client", *STDIO)
        for place in (
            "stub, modern stdio",
            "mcp 2.3, modern stdio",
            "stub, legacy stdio",
            "mcp 1.30, legacy stdio",
        )
    ),
    *(
        Call("sdk1", f"{server}, legacy {wire}", "echo", "Client", "session", *PLAIN)
        for server in ("stub", "mcp 1.30")
        for wire in ("stdio", "HTTP")
    ),
    *(
        Call(line, f"{server}, legacy {wire}", "echo", "adapt", "session", *ADAPTED)
        for line in ("sdk1", "sdk2")
        for server in ("stub", "mcp 1.30")
        for wire in ("stdio", "HTTP")
    ),
)
PEERS = {"mcp.Client": "`mcp.Client` 2.3", "session": "the SDK's own session"}
CASES = {
    "echo": "a call",
    "one_round": "a call with one round",
    "issue_card": "a call with one round",
}
ENGINE = {"passed through": 100_000, "translated": 30_000, "with a round": 30_000}


def rows(run: Figures) -> Iterator[Row]:
    """Yield a row for each promise that a run says something about."""
    for call in CALLS:
        if "calls" in run:
            yield call_row(call, run["calls"][call.line][call.place][call.case])
    for line, figures in run.get("bridge", {}).items():
        yield from bridge_rows(line, figures)
    yield from question_rows(run.get("questions", {}))
    yield from opening_rows(run.get("openings"))
    yield from engine_rows(run.get("engine"))


def call_row(call: Call, taken: Figures) -> Row:
    """Return what became of a promise about calls."""
    ours, theirs = taken[call.way], taken[call.peer]
    p50, cpu = (ours[key] / theirs[key] for key in ("p50", "cpu"))
    line = {"sdk1": "1.x", "sdk2": "2.x"}[call.line]
    return Row(
        f"{CASES[call.case]} through `{call.way}`, SDK {line}, {call.place}: "
        "p50 / processor time",
        PEERS[call.peer],
        f"≤ {call.p50:.2f} × / ≤ {call.cpu:.2f} ×",
        f"{p50:.2f} × / {cpu:.2f} ×",
        p50 <= call.p50 and cpu <= call.cpu,
    )


def bridge_rows(line: str, figures: Figures) -> Iterator[Row]:
    """Yield the promises about the bridge."""
    name, peer = f"`anyera bridge` ({line})", "`mcp-remote`"
    for server in ("stub", "TypeScript"):
        ours, theirs = (figures[server][who] for who in ("anyera bridge", "mcp-remote"))
        ratios = [ours[key] / theirs[key] for key in ("p50 added, ms", "p99 added, ms")]
        yield Row(
            f"{name}, {server} server: time added to a call, p50 / p99",
            peer,
            "≤ 0.50 × / ≤ 0.50 ×",
            " / ".join(f"{ratio:.2f} ×" for ratio in ratios),
            max(ratios) <= 0.5,
        )
        rates = [one["calls a second, 8 in flight"] for one in (ours, theirs)]
        yield Row(
            f"{name}, {server} server: calls a second, 8 in flight",
            peer,
            "≥ 1.50 ×",
            f"{rates[0]:.0f} / {rates[1]:.0f} = {rates[0] / rates[1]:.2f} ×",
            rates[0] >= 1.5 * rates[1],
        )
    starts = figures["starts, ms"]
    ratio = starts["first line"] / starts["import mcp"]
    what = f"{name} ready to read its first line"
    yield Row(what, "`import mcp`", "≤ 0.50 ×", f"{ratio:.2f} ×", ratio <= 0.5)


def question_rows(figures: Figures) -> Iterator[Row]:
    """Yield the promise that questions are asked side by side."""
    for line, taken in figures.items():
        ratio = taken["Client"] / taken["alone"]
        what = f"a round with five questions, `Client`, {line}"
        yield Row(what, "one question", "≤ 1.10 ×", f"{ratio:.2f} ×", ratio <= 1.1)


def opening_rows(figures: Figures | None) -> Iterator[Row]:
    """Yield the promises about connecting."""
    if figures is None:
        return
    took = figures["openings, s"]["silent on the probe"]
    yield Row(
        "connect to a stdio server that never answers the probe",
        "`mcp.Client` 2.3",
        "≤ 1.0 s more",
        f"{took['Client']:.2f} s (it: {took['mcp.Client']:.2f} s)",
        took["Client"] <= 1.0 + figures["openings, s"]["legacy"]["Client"],
    )
    extra = figures["probes of a remembered server"]
    what = "connect with a remembered verdict: further round trips"
    yield Row(what, "–", "0", str(max(extra)), not any(extra))


def engine_rows(figures: Figures | None) -> Iterator[Row]:
    """Yield the promises about the engine."""
    if figures is None:
        return
    for name, least in ENGINE.items():
        what, rate = f"engine, messages a second, {name}", figures[name]
        yield Row(what, "–", f"≥ {least:,}", f"{rate:,.0f}", rate >= least)
    ratio = figures["cost with 10 000 in flight"]
    what = "engine, cost of a call with 10 000 in flight"
    yield Row(what, "with 10", "≤ 1.20 ×", f"{ratio:.2f} ×", ratio <= 1.2)
