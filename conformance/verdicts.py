"""What came of a scenario, and whether it was to be expected.

A gap excuses single checks and not a whole scenario, so that a scenario with a gap
still fails when anything else in it goes wrong.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TypeAlias

DONE: Final = "done"
"""What the client prints last; the suite takes a client that was killed for one
that has ended well."""
BAD: Final = frozenset({"FAILURE", "WARNING"})


@dataclass(frozen=True, order=True, slots=True)
class Case:
    """One scenario at one revision of the protocol."""

    scenario: str
    spec: str

    def __str__(self) -> str:
        """Return the case as messages name it."""
        return f"{self.scenario} at {self.spec}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: a check of the suite, or one of ours."""

    check: str
    text: str

    def __str__(self) -> str:
        """Return the problem as messages name it."""
        return f"{self.check}: {self.text}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one case."""

    case: Case
    problems: tuple[Problem, ...]
    log: str


Gaps: TypeAlias = Mapping[Case, Sequence[str]]
"""Which checks are known not to pass; a name may end in a ``*``."""


# -- judging -----------------------------------------------------------------------


def judge(case: Case, status: int | None, folder: Path, log: str) -> Outcome:
    """Judge a case by what is left of it.

    Args:
        case: The case.
        status: The suite's exit status; ``None`` if it had to be ended.
        folder: Where it has put its files.
        log: What it has printed.
    """
    problems = [*_of_checks(folder), *_of_client(folder)]
    if status is None:
        problems.append(Problem("time-limit", "the suite had to be ended"))
    elif status and not problems:
        problems.append(Problem("exit-status", f"the suite ended with {status}"))
    # Without checks, the suite itself has failed, and says why.
    printed = _left(folder, "stderr.txt") if _left(folder, "checks.json") else log
    return Outcome(case, tuple(problems), printed)


def _of_checks(folder: Path) -> Iterator[Problem]:
    checks: list[dict[str, Any]] = json.loads(_left(folder, "checks.json") or "[]")
    for check in checks:
        if check["status"] in BAD:
            text = check.get("errorMessage") or check["description"]
            yield Problem(check["id"], text)
    # Messages that are well-formed are not yet the right ones.
    of_scenario = [check for check in checks if not check["id"].startswith("wire-")]
    if not any(check["status"] == "SUCCESS" for check in of_scenario):
        yield Problem("no-success", "the client did nothing that could be checked")


def _of_client(folder: Path) -> Iterator[Problem]:
    if _left(folder, "stdout.txt").strip() != DONE:
        yield Problem("client-end", "the client has failed, or hung")


def _left(folder: Path, name: str) -> str:
    # The suite puts a folder with the time in its name in between.
    return "".join(path.read_text("utf-8") for path in folder.rglob(name))


# -- gaps --------------------------------------------------------------------------


def read_gaps(path: Path, sdk: str) -> Gaps:
    """Return what is known not to pass with a version of the SDK."""
    line = f"{sdk.partition('.')[0]}.x"
    gaps: dict[Case, list[str]] = {}
    for gap in tomllib.loads(path.read_text("utf-8"))["gap"]:
        for scenario in gap["scenarios"] if gap["sdk"] == line else ():
            gaps.setdefault(Case(scenario, gap["spec"]), []).extend(gap["checks"])
    return gaps


def unexpected(outcome: Outcome, gaps: Gaps) -> list[Problem]:
    """Return the problems that no gap excuses."""
    known = gaps.get(outcome.case, ())
    return [
        problem
        for problem in outcome.problems
        if not any(fnmatchcase(problem.check, pattern) for pattern in known)
    ]


def stale(outcome: Outcome, gaps: Gaps) -> list[str]:
    """Return what is listed as a gap and is none."""
    return [
        pattern
        for pattern in gaps.get(outcome.case, ())
        if not any(fnmatchcase(problem.check, pattern) for problem in outcome.problems)
    ]


# -- reporting ---------------------------------------------------------------------


def report(sdk: str, outcomes: Sequence[Outcome], gaps: Gaps) -> bool:
    """Print the table, what is wrong, and the count.

    Returns:
        Whether everything is as expected.
    """
    print_table(outcomes, gaps)
    wrong = [each for each in outcomes if word(each, gaps) in {"FAILED", "STALE GAP"}]
    for outcome in wrong:
        print_outcome(outcome, gaps)
    passed = sum(not outcome.problems for outcome in outcomes)
    known = sum(word(outcome, gaps) == "known gap" for outcome in outcomes)
    aside = f"; known gaps: {known}" if known else ""
    print(f"\nmcp {sdk}: {passed} of {len(outcomes)}{aside}")
    return not wrong


def word(outcome: Outcome, gaps: Gaps) -> str:
    """Return the table's word for an outcome."""
    if unexpected(outcome, gaps):
        return "FAILED"
    if stale(outcome, gaps):
        return "STALE GAP"
    return "known gap" if outcome.problems else "passed"


def print_table(outcomes: Sequence[Outcome], gaps: Gaps) -> None:
    """Print one line for each scenario and one column for each revision."""
    words = {outcome.case: word(outcome, gaps) for outcome in outcomes}
    specs = sorted({case.spec for case in words})
    width = max(len(case.scenario) for case in words)
    _print_row(width, "scenario", specs)
    for name in dict.fromkeys(case.scenario for case in words):
        _print_row(width, name, (words.get(Case(name, spec), "-") for spec in specs))


def _print_row(width: int, name: str, cells: Iterable[str]) -> None:
    print("  ".join([name.ljust(width), *(cell.ljust(10) for cell in cells)]).rstrip())


def print_outcome(outcome: Outcome, gaps: Gaps) -> None:
    """Print what was not expected, and the end of what the client has printed."""
    print(f"\n{outcome.case}:")
    problems = unexpected(outcome, gaps)
    for problem in problems:
        print(f"  {problem}")
    # What is in the way of a check must not make it look mended.
    for pattern in [] if problems else stale(outcome, gaps):
        print(f"  {pattern}: passes now; take it out of known-gaps.toml")
    for line in outcome.log.splitlines()[-30:]:
        print(f"  | {line}")
