"""The result in a terminal, and what is going on while it runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from types import TracebackType
from typing import Any, Final, Self

from mcp_anyera.matrix import result as results
from mcp_anyera.matrix.gaps import Gaps
from mcp_anyera.matrix.pair import Cell, Pair

MARKS: Final = {
    "pass": "✓",
    "gap": "◐",
    "fail": "✗",
    "unsupported": "·",
    "error": "!",
}
LEGEND: Final = "✓ pass  ◐ known gap  ✗ fail  · unsupported  ! error"
_SHOWN: Final = 40
"""Failures that are told one by one."""


class Progress:
    """One line that changes while the matrix runs, or one line a pair."""

    def __init__(self, pairs: Sequence[Pair], gaps: Gaps) -> None:
        """Count what there is to do."""
        self._gaps = gaps
        self._total = sum(len(pair.scenarios) for pair in pairs)
        self._done = 0
        self._live: Any = None
        self._left = {pair.name: len(pair.scenarios) for pair in pairs}

    def __enter__(self) -> Self:
        """Begin to show."""
        if sys.stderr.isatty():
            self._live = _rich_bar(self._total)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop to show."""
        if self._live is not None:
            self._live[0].stop()

    def cell(self, pair: Pair, name: str, _cell: Cell) -> None:
        """Show that a cell is known."""
        self._done += 1
        what = " × ".join(pair.name)
        if self._live is not None:
            bar, task = self._live
            bar.update(task, advance=1, description=f"{what}: {name}")
            return
        self._left[pair.name] -= 1
        if not self._left[pair.name]:
            line = "".join(
                self._mark(pair, each) for each in pair.scenarios if each in pair.cells
            )
            counted = f"{self._done}/{self._total}"
            print(f"{counted:>12}  {what}  {line}", file=sys.stderr, flush=True)

    def _mark(self, pair: Pair, name: str) -> str:
        verdict = pair.cells[name].verdict
        known = verdict == "fail" and self._gaps.excuse(*pair.name, name)
        return MARKS["gap" if known else verdict]


def _rich_bar(total: int) -> Any:
    rich, console = _rich("rich.progress"), _rich("rich.console")
    if rich is None or console is None:
        return None
    columns = (rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeElapsedColumn())
    text = rich.TextColumn("{task.description}")
    on_stderr = console.Console(stderr=True)
    bar = rich.Progress(*columns, text, console=on_stderr, transient=True)
    bar.start()
    return bar, bar.add_task("", total=total)


def _rich(module: str) -> Any:
    """Return a module of rich, which is an extra."""
    try:
        return import_module(module)
    except ImportError:
        return None


def show(data: results.Json) -> None:
    """Print the table, what failed, the counts, and the reason of the exit status."""
    rows = [summary(data, pair) for pair in data["pairs"]]
    header = ("client", "server", "", "revision", *MARKS.values(), "scenarios")
    if not _rich_table(header, rows):
        _plain_table(header, rows)
    for title, lines in (
        ("could not be tried", results.errors(data)),
        ("failed", results.failures(data)),
    ):
        for line in lines[:_SHOWN]:
            print(f"{title}: {line}")
        if len(lines) > _SHOWN:
            print(f"{title}: … and {len(lines) - _SHOWN} more")
    cells = [cell for pair in data["pairs"] for cell in pair["cells"].values()]
    counts = results.counted(cells)
    print(", ".join(f"{number} {name}" for name, number in counts.items()))
    print(results.reason(data))


def summary(data: results.Json, pair: results.Json) -> tuple[str, ...]:
    """Return one row: a pair, its counts, and a mark for each scenario."""
    counts = results.counted(pair["cells"].values())
    marks = "".join(
        mark(pair["cells"][name]) if name in pair["cells"] else " "
        for name in data["scenarios"]
    )
    numbers = (str(counts[name] or "") for name in MARKS)
    names = (pair["client"], pair["server"], pair["transport"])
    return (*names, pair["revision"] or "-", *numbers, marks)


def mark(cell: results.Json) -> str:
    """Return the mark of a cell."""
    return MARKS["gap" if "gap" in cell else cell["verdict"]]


def _rich_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    tables, console = _rich("rich.table"), _rich("rich.console")
    if not sys.stdout.isatty() or tables is None or console is None:
        return False
    table = tables.Table(caption=LEGEND)
    for title in header:
        table.add_column(title, no_wrap=True)
    for row in rows:
        table.add_row(*row, style="red" if "✗" in row[-1] else "green")
    console.Console().print(table)
    return True


def _plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    lines = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        padded = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        print("  ".join(padded).rstrip())
    print(LEGEND)
