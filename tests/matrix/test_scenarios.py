"""Scenarios and peers are data, and the sets of released revisions are frozen."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from mcp_anyera.matrix.environments import LOCKS
from mcp_anyera.matrix.peers import OWN, Peer, Peers, clone, folders, picked
from mcp_anyera.matrix.scenarios import FILE, Scenarios

FROZEN = {
    "2024-11-05": "f3b21839458d",
    "2025-03-26": "5aadd01fff49",
    "2025-06-18": "01151fe02e6d",
    "2025-11-25": "101f34cd055d",
    "2026-07-28": "d5c796a7eb10",
}
"""The first letters of a digest of each set; see the end of ``scenarios.toml``."""


def digests() -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for name, scenario in Scenarios.load().items():
        for revision in scenario.revisions:
            found.setdefault(revision, []).append(name)
    return {
        revision: hashlib.sha256(" ".join(sorted(names)).encode()).hexdigest()[:12]
        for revision, names in sorted(found.items())
    }


def test_the_sets_of_released_revisions_are_frozen() -> None:
    assert not changed(digests())


def changed(found: dict[str, str]) -> list[str]:
    """Say what is to be written where for each set that is not the frozen one."""
    place = f"FROZEN of {Path(__file__).name}"
    return [
        f'the set of {revision} has changed: if it must, write "{revision}": '
        f'"{digest}" into {place}, and raise SCHEMA in matrix/result.py'
        for revision, digest in found.items()
        if FROZEN.get(revision) != digest
    ] + [f"the set of {revision} is gone" for revision in sorted({*FROZEN} - {*found})]


def test_a_set_that_has_changed_says_what_to_write_where() -> None:
    [said] = changed({**digests(), "2025-06-18": "0123456789ab"})
    assert '"2025-06-18": "0123456789ab" into FROZEN of test_scenarios.py' in said
    found = digests()
    del found["2024-11-05"]
    assert changed(found) == ["the set of 2024-11-05 is gone"]


def test_every_scenario_can_be_played() -> None:
    plays = (FILE.parent / "programs" / "plays.py").read_text()
    for scenario in Scenarios.load().values():
        assert f'    "{scenario.data["play"]}": ' in plays, scenario.id


def test_every_scenario_links_to_the_specification() -> None:
    for scenario in Scenarios.load().values():
        assert scenario.links
        for link in scenario.links:
            assert link.startswith("https://modelcontextprotocol.io/specification/20")


def test_a_set_that_names_no_scenario_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "scenarios.toml"
    file.write_text(FILE.read_text("utf-8").replace('"connect", "call"', '"conect"', 1))
    with pytest.raises(ValueError, match="conect"):
        Scenarios.load(file)


def test_a_scenario_that_is_asked_for_must_be_there() -> None:
    assert list(Scenarios.load().chosen(["url", "call"])) == ["call", "url"]
    with pytest.raises(ValueError, match="no such scenario: teleport"):
        Scenarios.load().chosen(["call", "teleport"])


def test_every_peer_is_described_completely() -> None:
    peers = Peers.load(folders())
    root = clone()
    assert root is not None
    for client in Peers.load([OWN]).clients.values():
        assert (LOCKS / f"{client.data['environment']}.txt").exists(), client.name
    for peer in [*peers.clients.values(), *peers.servers.values()]:
        assert peer.data["links"], peer.name
        assert peer.home.name == peer.name
        for scenario in peer.data.get("scenarios", {}):
            assert scenario in Scenarios.load(), peer.name
    for client in peers.clients.values():
        lacking: dict[str, list[str]] = client.data.get("unsupported", {})
        assert all(set(names) <= set(Scenarios.load()) for names in lacking.values())
        assert (client.home / client.data.get("program", "peer.toml")).exists()
    for server in peers.servers.values():
        for transport in server.transports:
            program = server.data["start" if transport == "stdio" else "http"][0]
            assert (server.home / program).exists(), server.name


def test_the_reduced_matrix_has_both_lines_and_all_eras() -> None:
    peers = Peers.load(folders())
    quick = [each for each in peers.servers.values() if each.data.get("quick")]
    assert {each.data["era"] for each in quick} == {"legacy", "dual", "modern"}
    stacks = [each for each in peers.clients.values() if each.data.get("quick")]
    assert {"mcp-1.30", "mcp-2.3"} <= {each.data["environment"] for each in stacks}


def test_a_peer_that_lacks_something_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "peer.toml"
    file.write_text('name = "x"\nkind = "server"\nenvironment = "y"\n')
    with pytest.raises(ValueError, match="era, transports missing"):
        Peer.read(file)


SERVER = """\
name = "mine"
kind = "server"
environment = "none"
era = "legacy"
language = "python"
transports = ["stdio"]
start = ["server.py"]
"""


def described(folder: Path, text: str) -> Peer:
    home = folder / "mine"
    home.mkdir()
    (home / "server.py").touch()
    (home / "peer.toml").write_text(text)
    return Peer.read(home / "peer.toml")


def test_a_description_of_a_server_is_read(tmp_path: Path) -> None:
    peer = described(tmp_path, f'{SERVER}[scenarios]\nform = {{ tool = "ask" }}\n')
    assert peer.changes("form") == {"tool": "ask"}


@pytest.mark.parametrize(
    ("line", "instead", "said"),
    [
        ("legacy", "both", "era has 'both' and can have: legacy, dual, modern"),
        ('"stdio"', '"tcp"', "transports has 'tcp' and can have: stdio, http"),
        ('"stdio"', '"stdio", "http"', "http is missing: transports has 'http'"),
        ("server.py", "nosuch.py", "start names 'nosuch.py', and there is no"),
        ('"mine"', '"yours"', "name is 'yours' and must be the folder's, 'mine'"),
        ('"server"', '"servant"', "kind has 'servant' and can have: client, server"),
        ("python", "perl", "language has 'perl' and can have: python, node"),
        ('["server.py"]', "[", "Invalid value"),
    ],
)
def test_a_description_that_cannot_be_is_refused(
    line: str, instead: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as refused:
        described(tmp_path, SERVER.replace(line, instead))
    assert str(tmp_path / "mine" / "peer.toml") in str(refused.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('frm = { tool = "ask" }', "[scenarios] has 'frm' and can have: connect, "),
        ('form = { tol = "ask" }', "form of [scenarios] has 'tol' and can have: alive"),
    ],
)
def test_a_change_of_what_is_not_there_is_refused(
    change: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        described(tmp_path, f"{SERVER}[scenarios]\n{change}\n")


def test_a_peer_that_is_asked_for_must_be_there() -> None:
    with pytest.raises(ValueError, match="no such peer: nobody"):
        picked(Peers.load(folders()).servers, ["nobody"])
