"""Known gaps excuse what they name, and only while it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_anyera.matrix import result as results
from mcp_anyera.matrix import transcript
from mcp_anyera.matrix.gaps import Gaps
from mcp_anyera.matrix.pair import Cell, Pair
from mcp_anyera.matrix.result import Result
from mcp_anyera.matrix.views.terminal import Progress
from tests.matrix.stage import mini_client, mini_server, paired

GAP = """
[[gap]]
clients = ["mini"]
servers = ["*"]
scenarios = ["form"]
reason = "It is wrong on purpose."
links = ["https://example.com"]
"""


def finished(verdict: str) -> Pair:
    pair = paired(mini_client("right"), mini_server("right"), "call", "form")
    pair.cells = {"call": Cell("pass", "hello"), "form": Cell(verdict, "what came")}
    return pair


def judged(verdict: str, gaps: str, folder: Path) -> results.Json:
    file = folder / "gaps.toml"
    file.write_text(gaps)
    pair = finished(verdict)
    result = Result(pair.scenarios, [pair], Gaps.load(file))
    result.add(pair)
    result.complete = True
    return result.data()


def test_a_required_cell_that_fails_fails_the_run(tmp_path: Path) -> None:
    data = judged("fail", GAP.replace('"form"', '"url"'), tmp_path)
    said = "form: what came (expected: card for Ada: Dune)"
    assert results.failures(data) == [f"mini with mini over stdio: {said}"]
    assert results.status(data) == 1
    assert results.reason(data) == "1 required cell failed (mini)"


def test_a_known_gap_is_excused_with_its_reason(tmp_path: Path) -> None:
    data = judged("fail", GAP, tmp_path)
    assert results.status(data) == 0
    gap = data["gaps"][data["pairs"][0]["cells"]["form"]["gap"]]
    assert gap["reason"] == "It is wrong on purpose."


def test_a_gap_that_has_closed_fails_the_run(tmp_path: Path) -> None:
    data = judged("pass", GAP, tmp_path)
    assert results.status(data) == 1
    assert "passes now" in results.failures(data)[0]
    assert results.reason(data) == "known gaps that passed: 1"


def test_a_gap_about_cells_that_were_not_run_is_not_stale(tmp_path: Path) -> None:
    data = judged("pass", GAP.replace('"mini"', '"other"'), tmp_path)
    assert results.status(data) == 0


def test_an_error_is_no_known_gap(tmp_path: Path) -> None:
    data = judged("error", GAP, tmp_path)
    assert results.status(data) == 2
    assert results.errors(data) == ["mini with mini over stdio: what came"]
    assert results.reason(data) == "1 cell could not be tried"


@pytest.mark.parametrize(
    ("group", "whose"),
    [("sdk", "the SDK alone"), ("frameworks", "stacks that are not required")],
)
def test_what_need_not_pass_is_said_not_to_count(
    group: str, whose: str, tmp_path: Path
) -> None:
    data = judged("fail", "", tmp_path)
    data["clients"]["mini"] |= {"required": False, "group": group}
    said = f"no required cell failed; not counted: 1 of {whose}"
    assert results.reason(data) == said


def test_a_run_that_is_not_complete_says_so(tmp_path: Path) -> None:
    data = {**judged("pass", "", tmp_path), "complete": False}
    assert results.reason(data) == "the run is not complete"


def test_progress_shows_known_gaps_in_the_order_of_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gaps.toml").write_text(GAP)
    pair = finished("fail")
    pair.cells = dict(reversed(pair.cells.items()))
    with Progress([pair], Gaps.load(tmp_path / "gaps.toml")) as progress:
        for name, cell in pair.cells.items():
            progress.cell(pair, name, cell)
    assert "✓◐" in capsys.readouterr().err


def test_a_gap_that_is_a_race_is_never_stale(tmp_path: Path) -> None:
    data = judged("pass", f"{GAP}sometimes = true\n", tmp_path)
    assert results.status(data) == 0


def test_pairs_of_a_later_run_replace_those_of_an_earlier(tmp_path: Path) -> None:
    earlier, later = judged("fail", GAP, tmp_path), judged("pass", GAP, tmp_path)
    other = {**earlier["pairs"][0], "transport": "http"}
    earlier["pairs"].append(other)
    gaps = Gaps.load(tmp_path / "gaps.toml")
    data = results.joined(earlier, later, gaps)
    found = [(each["transport"], each["cells"]["form"]) for each in data["pairs"]]
    assert [transport for transport, _ in found] == ["stdio", "http"]
    assert [cell["verdict"] for _, cell in found] == ["pass", "fail"]
    assert results.status(data) == 0
    assert "gap" in found[1][1]


def test_scenarios_that_a_later_run_left_out_are_kept(tmp_path: Path) -> None:
    earlier, later = judged("fail", GAP, tmp_path), judged("pass", GAP, tmp_path)
    del later["pairs"][0]["cells"]["call"]
    sides = ({"call": [1], "form": [2]}, {"form": [3]})
    for data, cuts in zip((earlier, later), sides, strict=True):
        data["pairs"][0]["transcript"] = transcript.packed({"wire": cuts}, {})
    data = results.joined(earlier, later, Gaps())
    [pair] = data["pairs"]
    verdicts = {name: cell["verdict"] for name, cell in pair["cells"].items()}
    assert verdicts == {"call": "pass", "form": "pass"}
    wire = transcript.unpacked(pair["transcript"])["wire"]
    assert wire == {"call": [1], "form": [3]}


def test_no_gap_is_stale_in_front_of_a_server_that_is_no_peer(tmp_path: Path) -> None:
    data = judged("pass", GAP, tmp_path)
    assert data["stale"]
    data["pairs"][0]["server"] = "your-server"
    Gaps.load(tmp_path / "gaps.toml").judge(data)
    assert results.status(data) == 0


def test_what_is_known_of_the_project_excuses_it_in_front_of_any_server() -> None:
    pair = paired(mini_client("right"), mini_server("right"), "call", "form")
    data = Result(pair.scenarios, [pair], Gaps.load()).data()
    cell: results.Json = {"verdict": "fail", "note": ""}
    place = {"client": "adapt-1.30", "server": "your-server", "transport": "stdio"}
    data["pairs"] = [{**place, "cells": {"three-at-once": cell}}]
    Gaps.load().judge(data)
    assert "inside its receive loop" in data["gaps"][cell["gap"]]["reason"]


@pytest.mark.parametrize("key", ["reason", "links", "clients", "servers", "scenarios"])
def test_a_gap_without_all_of_its_facts_is_refused(key: str, tmp_path: Path) -> None:
    lines = [line for line in GAP.splitlines() if not line.startswith(key)]
    with pytest.raises(ValueError, match=key):
        judged("fail", "\n".join(lines), tmp_path)


def test_the_repositorys_gaps_name_what_is_there() -> None:
    from mcp_anyera.matrix.peers import Peers, folders
    from mcp_anyera.matrix.scenarios import Scenarios

    peers, scenarios = Peers.load(folders()), Scenarios.load()
    from fnmatch import filter as matching

    for gap in Gaps.load():
        assert all(matching(peers.clients, each) for each in gap.clients), str(gap)
        assert all(matching(peers.servers, each) for each in gap.servers), str(gap)
        assert all(matching(scenarios, each) for each in gap.scenarios), str(gap)
