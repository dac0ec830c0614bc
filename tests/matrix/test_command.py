"""``anyera matrix run`` as a user meets it, with its exit statuses."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mcp_anyera.cli import main
from mcp_anyera.matrix import peers
from mcp_anyera.matrix import result as results
from tests.matrix.stage import MINIS

PYTHON = shlex.quote(sys.executable)
SERVER = shlex.join([sys.executable, str(MINIS / "server.py"), "right"])
CLIENT = shlex.join([sys.executable, str(MINIS / "client.py")])


def run(*arguments: str, client: str = "right", only: str = "call,form") -> int:
    mini = f"{CLIENT} {shlex.quote(client)}"
    command = ["matrix", "run", "--client", mini, "--server", SERVER]
    return main([*command, "--only", only, *arguments])


def test_a_run_in_which_everything_passes_ends_with_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "result.json", tmp_path / "page.html"
    assert run("--json", str(file), "--html", str(page)) == 0
    data = results.load(file)
    assert data["complete"]
    assert [pair["client"] for pair in data["pairs"]] == ["your-client"]
    said = capsys.readouterr()
    assert "2 pass, 0 gap, 0 fail" in said.out
    assert "your-client × your-server × stdio" in said.err
    assert "<dialog" in page.read_text("utf-8")


def test_a_required_cell_that_fails_ends_with_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(client="answers wrong") == 1
    said = capsys.readouterr().out
    assert "form: card for Bob: Dune (expected: card for Ada: Dune)" in said
    assert said.splitlines()[-1] == "1 required cell failed (your-client)"


def test_a_run_that_cannot_be_completed_ends_with_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(client="cannot start") == 2
    assert "could not be tried: your-client" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "teleport"], "no such scenario: teleport"),
        (["--servers", "nobody"], "no such peer: nobody"),
        (["--clients", "nobody", "--server", "x"], "no such peer: nobody"),
        (["--gaps", "/nowhere/gaps.toml"], "no file /nowhere/gaps.toml"),
        (["--only", ","], "',' names nothing"),
        (["--clients", ""], "'' names nothing"),
        (["--server", ""], "there is no program ''"),
        (["--server", "no-such-program --flag"], "no program 'no-such-program'"),
        (["--server", f"{PYTHON} nosuch.py"], "nosuch.py"),
        (["--server", f"{PYTHON} -c 'raise SystemExit(7)'"], "ended with status 7"),
        (["--client", "no-such-program"], "no program 'no-such-program'"),
        (["--client", "'unbalanced"], "No closing quotation"),
        (["--server", "ftp://example.com"], "no http(s) URL"),
        (["--server", "http://127.0.0.1:9/mcp"], "cannot be reached"),
        (["--server", sys.executable, "--transport", "http"], "no client stack and"),
        (["--json", "/nowhere/result.json"], "result.json cannot be written"),
        (["--html", "/nowhere/page.html"], "page.html cannot be written"),
        (["--html", "/"], "/ cannot be written"),
        (["--into", "/nowhere/result.json"], "result.json"),
    ],
)
def test_a_command_line_that_names_nothing_ends_with_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["matrix", "run", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--jobs", "0"],
        ["--jobs", "many"],
        ["--timeout", "-1"],
        ["--server", "x", "--servers", "mcp-1.30"],
        ["--client", "x", "--clients", "client-2.3"],
    ],
)
def test_a_command_line_that_makes_no_sense_ends_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["matrix", "run", *arguments])
    assert ended.value.code == 2


def test_a_missing_prerequisite_is_an_error_and_no_skip(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from mcp_anyera.matrix import environments

    monkeypatch.setattr(environments, "LOCKS", tmp_path)
    command = ["matrix", "run", "--server", SERVER, "--clients", "client-2.3"]
    assert main([*command, "--only", "call"]) == 2
    assert "client-2.3 has no requirements.txt" in capsys.readouterr().out


def test_views_are_made_of_a_result_that_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "result.json", tmp_path / "page.md"
    run("--json", str(file))
    assert main(["matrix", "page", str(file), "--markdown", str(page)]) == 0
    assert page.read_text("utf-8").startswith("# The compat matrix")
    assert main(["matrix", "page", str(file), "--html", str(tmp_path)]) == 2
    assert "cannot be written" in capsys.readouterr().err
    file.write_text("{}")
    assert main(["matrix", "page", str(file)]) == 2
    assert "no result of schema 1" in capsys.readouterr().err


def test_what_was_put_into_a_result_is_all_that_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "result.json"
    run("--json", str(file), client="answers wrong")
    data = results.load(file)
    [pair] = data["pairs"]
    data["pairs"].append({**pair, "transport": "http"})
    results.save(data, file)
    capsys.readouterr()
    assert run("--into", str(file)) == 0
    said = capsys.readouterr().out
    assert "stdio" in said
    assert "http" not in said
    assert len(results.load(file)["pairs"]) == 2


def test_the_list_names_stacks_servers_and_scenarios(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["matrix", "list"]) == 0
    said = capsys.readouterr().out
    assert "client-2.3" in said
    assert "mcp-2.3-modern" in said
    assert "three-at-once" in said


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder to be in while the package is none of a clone; its user is there."""
    monkeypatch.setattr(peers, "__file__", str(tmp_path / "a/b/c/d/peers.py"))
    (tmp_path / "somewhere").mkdir()
    monkeypatch.chdir(tmp_path / "somewhere")
    return tmp_path


def test_a_package_that_was_installed_finds_the_clone_that_its_user_is_in(
    installed: Path,
) -> None:
    assert peers.clone() is None
    (installed / "compat-matrix" / "peers").mkdir(parents=True)
    assert peers.clone() == installed


@pytest.mark.usefixtures("installed")
def test_without_a_clone_it_is_said_where_the_servers_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["matrix", "list"]) == 0
    assert "servers: none; they are in a clone" in capsys.readouterr().out
    assert main(["matrix", "run", "--servers", "mcp-1.30"]) == 2
    assert "servers are in a clone of the repository only" in capsys.readouterr().err


def test_a_peer_that_is_described_wrongly_ends_with_2(
    installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = installed / "compat-matrix" / "peers" / "mine"
    home.mkdir(parents=True)
    (home / "peer.toml").write_text('name = "mine"')
    for what in (["list"], ["run", "--servers", "mine"]):
        assert main(["matrix", *what]) == 2
        assert "peer.toml: environment, era, kind" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_an_interrupted_run_leaves_a_valid_result_and_no_process(
    tmp_path: Path,
) -> None:
    file = tmp_path / "result.json"
    mini = f"{CLIENT} hangs"
    command = [sys.executable, "-m", "mcp_anyera", "matrix", "run", "--client", mini]
    command += ["--server", SERVER, "--only", "call,form", "--json", str(file)]
    scratch = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        command, env=scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    children = wait_for(lambda: alive(str(tmp_path), but=process.pid))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    data: Any = json.loads(file.read_text())
    assert data["complete"] is False
    assert children
    assert not alive(str(tmp_path), but=process.pid)


def alive(mark: str, but: int) -> list[int]:
    """Return the processes that have a word in their command line."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,args="],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line.strip().partition(" ") for line in listed.stdout.splitlines())
    return [
        int(pid)
        for pid, _, args in lines
        if mark in args and "matrix run" not in args and int(pid) != but
    ]


def wait_for(found: Any) -> Any:
    for _ in range(300):
        if value := found():
            return value
        time.sleep(0.1)
    raise AssertionError("it did not begin")
