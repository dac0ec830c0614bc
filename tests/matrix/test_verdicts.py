"""The harness proves itself: what is wrong on purpose must fail."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mcp_anyera.matrix import pair as pairs
from mcp_anyera.matrix.ordering import your_server
from mcp_anyera.matrix.scenarios import Scenario, Scenarios
from tests.matrix.stage import mini_client, mini_server, paired, real_client, verdicts

IDS = ("connect", "call", "form", "progress", "list-changed", "ping")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("stack", ["session", "client", "adapt"])
async def test_a_server_that_does_everything_right_passes(
    stack: str, tmp_path: Path
) -> None:
    pair = paired(real_client(stack), mini_server("right"), *IDS)
    assert await verdicts(pair, tmp_path) == dict.fromkeys(IDS, "pass")
    assert pair.revision == "2025-11-25"


@pytest.mark.parametrize("stack", ["session", "client"])
async def test_a_server_that_does_everything_wrong_fails(
    stack: str, tmp_path: Path
) -> None:
    pair = paired(real_client(stack), mini_server("mutters"), *IDS, limit=5.0)
    found = await verdicts(pair, tmp_path)
    assert found == {**dict.fromkeys(IDS, "fail"), "connect": "pass"}
    assert pair.cells["call"].outcome == "olleh"
    assert pair.cells["progress"].outcome == "counted; 3 reports, not rising"
    assert pair.cells["list-changed"].outcome == "heard nothing"


async def test_what_a_server_does_not_have_is_unsupported(tmp_path: Path) -> None:
    pair = paired(real_client(), mini_server("has less"), "call", "form", "url")
    found = await verdicts(pair, tmp_path)
    assert found == {"call": "pass", "form": "unsupported", "url": "unsupported"}
    assert pair.cells["form"].outcome == "the server has no issue_card"


async def test_every_tool_that_a_scenario_calls_must_be_there(tmp_path: Path) -> None:
    ids = ("form", "refusal", "slow-human", "reentrant")
    pair = paired(real_client("client"), mini_server("has no echo"), *ids)
    found = await verdicts(pair, tmp_path)
    assert found == {**dict.fromkeys(ids, "unsupported"), "form": "pass"}
    assert pair.cells["refusal"].outcome == "the server has no echo"


@pytest.mark.parametrize(
    ("outcome", "passes"),
    [
        ("declined", True),
        ("tool error: Error executing tool issue_card: elicitation was decline", True),
        ("tool error: Error executing tool issue_card: out of order", False),
        ("error -32603: declined", False),
        ("card for Ada: Dune", False),
    ],
)
def test_a_server_that_is_no_peer_may_end_a_call_that_was_declined(
    outcome: str, passes: bool
) -> None:
    changes = your_server(sys.executable).changes("decline")
    assert Scenarios.load()["decline"].passed(outcome, changes) is passes


async def test_a_resource_that_a_server_does_not_list_is_unsupported(
    tmp_path: Path,
) -> None:
    pair = paired(real_client("client"), mini_server("right"), "resource-asks")
    assert await verdicts(pair, tmp_path) == {"resource-asks": "unsupported"}
    assert pair.cells["resource-asks"].outcome == "the server has no note://asking"


async def test_a_resource_that_a_template_stands_for_is_there(tmp_path: Path) -> None:
    pair = paired(real_client("client"), mini_server("templates"), "resource-asks")
    assert await verdicts(pair, tmp_path) == {"resource-asks": "pass"}


async def test_a_server_without_prompts_and_resources_has_none_to_list(
    tmp_path: Path,
) -> None:
    pair = paired(real_client(), mini_server("right"), "lists")
    await verdicts(pair, tmp_path)
    said = "tools yes, prompts none, resources none"
    assert pair.cells["lists"].outcome == said


async def test_a_server_that_speaks_what_its_description_denies_is_an_error(
    tmp_path: Path,
) -> None:
    server = mini_server("right", era="modern")
    pair = paired(real_client(), server, "call")
    assert await verdicts(pair, tmp_path) == {"call": "error"}
    said = "the server speaks 2025-11-25, its peer.toml says 2026-07-28"
    assert pair.cells["call"].outcome == said


async def test_a_scenario_that_does_not_exist_is_unsupported(tmp_path: Path) -> None:
    data = {"id": "teleport", "play": "teleport", "expect": ".*", "spec": ""}
    scenario = Scenario("teleport", "It teleports.", ("2025-11-25",), data, "")
    pair = paired(real_client(), mini_server("right"), "connect")
    pair.scenarios = Scenarios({**pair.scenarios, "teleport": scenario})
    found = await verdicts(pair, tmp_path)
    assert found == {"connect": "pass", "teleport": "unsupported"}
    assert "no play 'teleport'" in pair.cells["teleport"].outcome


async def test_a_scenario_of_another_era_is_not_tried(tmp_path: Path) -> None:
    pair = paired(mini_client("right"), mini_server("right"), "state-only", "call")
    found = await verdicts(pair, tmp_path)
    assert found == {"state-only": "unsupported", "call": "pass"}


@pytest.mark.parametrize(
    ("way", "verdict", "said"),
    [
        ("right", "pass", "card for Ada: Dune"),
        ("answers wrong", "fail", "card for Bob: Dune"),
        ("crashes", "fail", "the client ended with status 3"),
        ("hangs", "fail", "the client hung"),
        ("prints rubbish", "pass", "card for Ada: Dune"),
        ("talks of something else", "pass", "card for Ada: Dune"),
    ],
)
async def test_a_client_that_goes_wrong_fails_there_and_nowhere_else(
    way: str,
    verdict: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pairs, "GRACE", 2.0)
    pair = paired(
        mini_client(way), mini_server("right"), "call", "form", "ping", limit=1.0
    )
    found = await verdicts(pair, tmp_path)
    assert found == {"call": "pass", "form": verdict, "ping": "pass"}
    assert pair.cells["form"].outcome.startswith(said)


async def test_a_client_that_cannot_start_is_an_error(tmp_path: Path) -> None:
    pair = paired(mini_client("cannot start"), mini_server("right"), "call", "form")
    assert await verdicts(pair, tmp_path) == {"call": "error", "form": "error"}
    assert "no such module" in pair.cells["call"].outcome


async def test_a_server_that_cannot_start_lets_every_scenario_fail(
    tmp_path: Path,
) -> None:
    pair = paired(real_client(), mini_server("cannot start"), "connect", "call")
    found = await verdicts(pair, tmp_path)
    assert found == {"connect": "fail", "call": "fail"}
    assert pair.cells["call"].outcome.startswith("not connected: ")


async def test_an_http_server_that_does_not_listen_is_an_error(tmp_path: Path) -> None:
    server = mini_server("cannot start", transports=["http"])
    server.peer.data["http"] = server.peer.data["start"]  # type: ignore[index]
    pair = paired(real_client(), server, "connect")
    assert await verdicts(pair, tmp_path) == {"connect": "error"}
    said = pair.cells["connect"].outcome
    assert "instead of 'listening on URL', the server said nothing" in said
    assert "no such thing" in said


async def test_a_server_may_word_an_answer_in_its_own_way(tmp_path: Path) -> None:
    changes = {"call": {"arguments": {"text": "abc"}, "expect": "ab."}}
    server = mini_server("right", scenarios=changes)
    pair = paired(real_client(), server, "call")
    assert await verdicts(pair, tmp_path) == {"call": "pass"}


async def test_what_has_no_meaning_for_a_client_is_unsupported(tmp_path: Path) -> None:
    client = mini_client("right", unsupported={"it cannot be asked": ["form"]})
    pair = paired(client, mini_server("right"), "call", "form")
    assert await verdicts(pair, tmp_path) == {"call": "pass", "form": "unsupported"}
    assert pair.cells["form"].outcome == "it cannot be asked"


async def test_both_sides_of_the_layer_are_written_down(tmp_path: Path) -> None:
    pair = paired(real_client("adapt"), mini_server("right"), "connect", "form")
    await verdicts(pair, tmp_path)
    for side in ("wire", "face"):
        methods = [record["m"].get("method") for record in pair.records[side]["form"]]
        assert "tools/call" in methods
        assert "elicitation/create" in methods
    opening = [record["m"].get("method") for record in pair.records["wire"]["connect"]]
    assert "server/discover" in opening
    assert "initialize" in opening
