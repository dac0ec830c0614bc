"""``anyera call``, ``prompt`` and ``resource`` without a terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import ASKING, SCRIPTED, TIMEOUT, anyera, gone, program
from tests.interop.peers import DUAL, LEGACY, MODERN, TYPESCRIPT, command, shared

pytestmark = pytest.mark.timeout(200)
ERAS = ["legacy", "modern"]
NAMES = (LEGACY, MODERN, TYPESCRIPT)
PEERS = [*NAMES, *(f"{name}@http" for name in NAMES)]


def run(
    verb: str, peer: str, *words: str, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in front of a peer, on stdio or HTTP."""
    if peer.endswith("@http"):
        return anyera(verb, shared(peer.removesuffix("@http")), *words, env=env)
    return anyera(verb, *words, "--", *command(peer), env=env)


def asking(
    era: str, tool: str, *words: str, **env: str
) -> subprocess.CompletedProcess[str]:
    return anyera("call", tool, *words, "--", *ASKING, era, env=env)


def written(folder: Path, *entries: dict[str, Any]) -> list[str]:
    file = folder / "answers.json"
    file.write_text(json.dumps({"answers": entries}))
    return ["--answers", str(file)]


# -- results -----------------------------------------------------------------------


@pytest.mark.interop
@pytest.mark.parametrize("peer", PEERS)
def test_text_goes_to_stdout_and_nothing_else(peer: str) -> None:
    done = run("call", peer, "echo", "--arg", "text=5 é\u2028")
    assert (done.returncode, done.stdout) == (0, "5 é\u2028\n"), done.stderr
    assert done.stderr == ""


@pytest.mark.interop
@pytest.mark.parametrize("peer", NAMES)
def test_the_whole_result_is_json_on_request(peer: str) -> None:
    done = run("call", peer, "echo", "--json", '{"text": "hi"}', "--output", "json")
    result = json.loads(done.stdout)
    assert result["content"] == [{"type": "text", "text": "hi"}]


@pytest.mark.interop
@pytest.mark.parametrize("peer", NAMES)
def test_a_tool_that_fails_is_one_sentence(peer: str) -> None:
    done = run("call", peer, "fail")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("anyera: fail says that it failed: ")
    assert done.stderr.count("\n") == 1
    done = run("call", peer, "fail", "--output", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["isError"] is True


@pytest.mark.interop
@pytest.mark.parametrize("peer", [LEGACY, MODERN])
def test_a_name_that_is_not_there_gets_a_hint(peer: str) -> None:
    done = run("call", peer, "ecko")
    assert done.returncode == 1
    assert "did you mean 'echo'?" in done.stderr


@pytest.mark.interop
@pytest.mark.parametrize("peer", [LEGACY, MODERN])
def test_without_a_name_there_is_a_list(peer: str) -> None:
    assert "echo text=\n" in run("call", peer).stdout
    assert "greeting name=\n" in run("prompt", peer).stdout
    assert "note://plain" in run("resource", peer).stdout


@pytest.mark.interop
def test_a_server_that_crashes_is_one_sentence() -> None:
    done = run("call", LEGACY, "crash")
    assert done.returncode == 1
    assert "exit status 3" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_cannot_be_reached_is_one_sentence() -> None:
    done = anyera("call", "http://127.0.0.1:9/mcp", "echo")
    assert done.returncode == 1
    assert done.stderr.startswith(
        "anyera: could not connect to http://127.0.0.1:9/mcp: "
    )


@pytest.mark.interop
@pytest.mark.parametrize("peer", PEERS)
def test_prompts_and_resources(peer: str, tmp_path: Path) -> None:
    done = run("prompt", peer, "greeting", "--arg", "name=Ada")
    assert (done.returncode, done.stdout) == (0, "user: Hello Ada\n")
    done = run("resource", peer, "note://plain")
    assert (done.returncode, done.stdout) == (0, "a plain note\n")
    done = run("resource", peer, "note://plain", "--output", "json")
    assert json.loads(done.stdout)["contents"][0]["text"] == "a plain note"
    answers = written(
        tmp_path,
        {"kind": "form", "message": "Topic*", "content": {"topic": "the sea"}},
        {"kind": "form", "message": "Page*", "content": {"page": "7"}},
    )
    done = run("prompt", peer, "asking_prompt", *answers)
    assert done.stdout == "user: Write about the sea\n", done.stderr
    done = run("resource", peer, "note://asking", *answers)
    assert done.stdout == "page 7\n", done.stderr
    assert "from --answers" in done.stderr


# -- questions without a terminal --------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("tool", "named"),
    [
        ("card", "form 'Whose card is it?'"),
        ("login", "url 'Log in to go on.' (login.example.com)"),
        ("summary", "sampling 'Summarise: the sea is wide'"),
    ],
)
def test_nobody_says_yes_where_nobody_is(era: str, tool: str, named: str) -> None:
    done = asking(era, tool)
    assert done.returncode == 1
    assert f"nobody is there to answer {named}" in done.stderr
    assert "--answers FILE" in done.stderr


@pytest.mark.parametrize("era", ERAS)
def test_a_file_answers_each_kind_of_question(era: str, tmp_path: Path) -> None:
    answers = written(
        tmp_path,
        {"kind": "form", "message": "something else", "content": {"name": "nobody"}},
        {"kind": "form", "message": "Whose*", "content": {"name": "Ada"}},
        {"kind": "sampling", "text": "short", "model": "me"},
        {"kind": "url", "host": "*.example"},
    )
    done = asking(era, "three", *answers)
    assert done.returncode == 0, done.stderr
    given = json.loads(done.stdout)
    assert given["name"] == {"action": "accept", "content": {"name": "Ada"}}
    assert given["page"] == {"action": "accept"}
    assert given["model"]["content"] == {"type": "text", "text": "short"}
    assert given["model"]["model"] == "me"
    assert done.stderr.count("from --answers") == 3


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_file_can_say_no(era: str, action: str, tmp_path: Path) -> None:
    answers = written(tmp_path, {"kind": "form", "action": action})
    done = asking(era, "card", *answers)
    assert json.loads(done.stdout) == {"name": {"action": action}}


@pytest.mark.parametrize("era", ERAS)
def test_an_answer_that_does_not_fit_fails_the_call(era: str, tmp_path: Path) -> None:
    answers = written(tmp_path, {"kind": "form", "content": {"name": 7}})
    done = asking(era, "card", *answers)
    assert done.returncode == 1
    assert "the answer of --answers to form 'Whose card is it?'" in done.stderr
    assert "7 is not of type 'string'" in done.stderr


def test_a_file_that_has_no_answer_fails_closed(tmp_path: Path) -> None:
    answers = written(tmp_path, {"kind": "form", "host": "other.example"})
    done = asking("modern", "login", *answers)
    assert done.returncode == 1
    assert "nobody is there to answer url" in done.stderr


@pytest.mark.interop
@pytest.mark.parametrize("peer", PEERS)
def test_rounds_progress_and_roots(peer: str, tmp_path: Path) -> None:
    entry = {"kind": "form", "message": "First*", "content": {"first": "one"}}
    other = {"kind": "form", "message": "After*", "content": {"second": "two"}}
    done = run("call", peer, "two_rounds", *written(tmp_path, entry, other))
    assert done.stdout == "one then two\n", done.stderr
    assert ("round 2: a question" in done.stderr) == ("modern" in peer)
    done = run("call", peer, "workspace", "--root", str(tmp_path))
    assert done.stdout == f"{tmp_path.as_uri()}\n", done.stderr
    done = run("call", peer, "workspace")
    assert done.returncode == 1
    assert "count" not in run("call", peer, "count", "--arg", "steps=3").stderr


@pytest.mark.parametrize("era", ERAS)
def test_a_question_for_roots_names_the_option(era: str) -> None:
    peer = LEGACY if era == "legacy" else DUAL
    done = run("call", peer, "workspace")
    assert done.returncode == 1
    assert "--root DIR" in done.stderr or era == "legacy"


@pytest.mark.interop
@pytest.mark.parametrize("peer", NAMES)
def test_logs_are_shown_from_a_level_on(peer: str) -> None:
    done = run("call", peer, "chatty", "--log-level", "warning")
    assert done.stdout == "logged\n"
    shown = [line.split()[0] for line in done.stderr.splitlines()]
    assert shown == ["warning", "error"]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("malformed", "anyera: "),
        ("unlisted", "anyera: the server's answer cannot be read: tools: "),
    ],
)
def test_an_answer_that_cannot_be_read_is_one_sentence(script: str, said: str) -> None:
    done = anyera("call", "bad", "--", *SCRIPTED, script)
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    assert "pydantic" not in done.stderr
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.interop
def test_an_error_names_the_option_and_not_the_keyword() -> None:
    words = ["--timeout", "0.5", "--arg", "seconds=30"]
    done = run("call", LEGACY, "slow", *words)
    assert done.returncode == 1
    assert "raise --timeout if" in done.stderr


# -- arguments ---------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
def test_values_are_read_as_the_tool_wants_them(era: str) -> None:
    typed = ["count=5", "text=5", "maybe=null", "tags=a", "tags=b", "any=[1]"]
    words = [word for one in typed for word in ("--arg", one)]
    done = asking(era, "plain", "--json", '{"where": {"x": 1}, "count": 1}', *words)
    assert json.loads(done.stdout) == {
        "count": 5,
        "text": "5",
        "maybe": None,
        "tags": ["a", "b"],
        "any": [1],
        "where": {"x": 1},
    }


def test_arguments_can_come_from_a_file_and_from_stdin(tmp_path: Path) -> None:
    file = tmp_path / "arguments.json"
    file.write_text('{"text": "from a file"}')
    done = asking("modern", "plain", "--json", f"@{file}")
    assert json.loads(done.stdout) == {"text": "from a file"}
    words = program("call", "plain", "--json", "-", "--", *ASKING, "modern")
    sent = '{"text": "from stdin"}'
    done = subprocess.run(
        words, input=sent, capture_output=True, text=True, timeout=TIMEOUT, check=True
    )
    assert json.loads(done.stdout) == {"text": "from stdin"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--arg", "novalue"], "--arg takes NAME=VALUE; got 'novalue'"),
        (["--json", "[1]"], "--json takes a JSON object; got list"),
        (["--json", "{"], "--json cannot be read"),
        (["--json", '{"a": 1e999}'], "--json has a number that JSON cannot hold"),
        (["--root", "/no/such/folder"], "--root /no/such/folder is no directory"),
        (["--max-rounds", "0"], "--max-rounds"),
        (["--json", "@/no/such/file"], "--json cannot be read"),
        (["--answers", "/no/such/file"], "cannot be read"),
        (["--log-level", "loud"], "invalid choice: 'loud'"),
        (["--output", "xml"], "invalid choice: 'xml'"),
        (["--arg", "count=1", "--arg", "count=2"], "is given 2 times"),
    ],
)
def test_a_wrong_command_line_is_explained(words: list[str], said: str) -> None:
    done = asking("modern", "plain", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_options_may_stand_anywhere() -> None:
    words = ["--arg", "text=1", " ".join([*ASKING, "modern"]), "--quiet", "plain"]
    done = anyera("call", *words)
    assert done.stdout == '{"text": "1"}\n', done.stderr


def test_too_many_words_are_explained() -> None:
    done = anyera("call", "https://a.example", "tool", "a=1")
    assert done.returncode == 2
    assert "what is 'a=1' for?" in done.stderr


# -- the end -----------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
@pytest.mark.interop
@pytest.mark.parametrize("peer", [LEGACY, DUAL])
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_a_signal_ends_a_call_and_its_server(
    peer: str, number: int, status: int, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    words = program("call", "slow", "--arg", "seconds=30", "--env", f"PEER_LOG={log}")
    process = subprocess.Popen(
        [*words, "--", *command(peer)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        deadline = time.monotonic() + TIMEOUT
        while not log.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        os.kill(process.pid, number)
        _, said = process.communicate(timeout=TIMEOUT)
    assert process.returncode == status
    assert "Traceback" not in said
    assert log.read_text().splitlines() == ["started slow", "cancelled slow"]


def test_the_server_is_gone_when_the_call_is_over(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    done = asking("modern", "plain", "--env", f"PID_FILE={pid_file}")
    assert done.returncode == 0
    assert gone(pid_file)
