"""The bridge as a process: what goes in and out, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.bridge.raw import raw, stderr
from tests.interop.faces import bridge
from tests.interop.peers import MODERN, TYPESCRIPT, command, listening, shared

MIRROR = ["--", sys.executable, str(Path(__file__).parent / "mirror.py")]
MODERN_PEERS = (MODERN, TYPESCRIPT, f"{MODERN}@http", f"{TYPESCRIPT}@http")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def target(peer: str) -> list[str]:
    """Return what the bridge is told to reach a peer."""
    name = peer.removesuffix("@http")
    return ["--", *command(name)] if name == peer else [shared(name)]


def result_text(answer: Any) -> str:
    return answer["result"]["content"][0]["text"]


# -- messages --------------------------------------------------------------------------


async def test_a_ping_is_answered_before_the_handshake() -> None:
    async with raw(*MIRROR) as client:
        assert (await client.request("ping"))["result"] == {}
        answer = await client.initialize()
        assert answer["result"]["protocolVersion"] == "2025-11-25"
        assert answer["result"]["serverInfo"]["name"] == "mirror"


@pytest.mark.parametrize(
    "value",
    [
        "é\u2028\u2029\x85\n\r\n\x00\U0001f600",
        "\ud800 alone",
        2**70,
        1.0,
        -0.0,
        5e-324,
        1.7976931348623157e308,
        0.1,
        [None, True, {"": []}],
    ],
)
async def test_values_arrive_as_they_were_sent_in_both_directions(value: Any) -> None:
    async with raw(*MIRROR) as client:
        await client.initialize()
        seen = json.loads(result_text(await client.call("show", value=value)))
        assert repr(seen["params"]["arguments"]["value"]) == repr(value)
        sent = json.dumps({"resultType": "complete", "content": [], "x": value})
        back = await client.call("verbatim", json=sent)
        assert repr(back["result"]["x"]) == repr(value)


async def test_unknown_methods_and_fields_pass_through() -> None:
    async with raw(*MIRROR) as client:
        await client.initialize()
        answer = await client.request("vendor/thing", {"a": 1, "_meta": {"b/c": [2]}})
        seen = json.loads(result_text(answer))
        assert seen["method"] == "vendor/thing"
        assert seen["params"]["a"] == 1
        assert seen["params"]["_meta"]["b/c"] == [2]


@pytest.mark.parametrize("size", [1, 70_000, 20_000_000])
async def test_messages_of_any_size_pass_in_both_directions(size: int) -> None:
    async with raw(*MIRROR) as client:
        await client.initialize()
        assert len(result_text(await client.call("shout", size=size))) == size
        seen = json.loads(result_text(await client.call("show", value="x" * size)))
        assert len(seen["params"]["arguments"]["value"]) == size


async def test_lines_that_are_no_message_are_answered_with_errors() -> None:
    async with raw(*MIRROR) as client:
        await client.initialize()
        for line, code in (
            (b"{nonsense", -32700),
            (b'"\xff\xfe"', -32700),
            (b"[" * 100_000, -32700),
            (b"7", -32600),
            (b'{"jsonrpc":"2.0"}', -32600),
            (b"[]", -32600),
            (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        ):
            await client.write(line + b"\n")
            answer = await client.receive()
            assert (answer["id"], answer["error"]["code"]) == (None, code), line
        await client.write(b"\n  \r\n")
        assert "result" in await client.request("ping")


async def test_an_answer_that_is_no_json_is_an_error() -> None:
    infinite = '{"resultType": "complete", "content": [], "x": 1e999}'
    async with raw(*MIRROR) as client:
        await client.initialize()
        answer = await client.call("verbatim", json=infinite)
        assert "cannot be written as JSON" in answer["error"]["message"]
        assert "result" in await client.request("ping")


async def test_no_id_is_answered_twice() -> None:
    async with raw(*MIRROR) as client:
        await client.initialize()
        for _ in range(3):
            params: dict[str, Any] = {"name": "show", "arguments": {}}
            call = {"jsonrpc": "2.0", "id": "same", "method": "tools/call"}
            await client.send({**call, "params": params})
        said = [await client.receive() for _ in range(3)]
        assert [one["id"] for one in said] == ["same"] * 3
        assert sum("result" in one for one in said) == 1
        assert sum("is in use" in str(one.get("error")) for one in said) == 2
        await client.request("ping")
        assert client.heard == []


async def test_a_batch_is_answered_as_one_at_the_revision_that_has_them() -> None:
    async with raw(*MIRROR) as client:
        assert (await client.initialize("2025-03-26"))["result"][
            "protocolVersion"
        ] == "2025-03-26"
        ping = {"jsonrpc": "2.0", "method": "ping"}
        note = {"jsonrpc": "2.0", "method": "notifications/vendor"}
        call: dict[str, Any] = {**ping, "id": "b", "method": "tools/call"}
        call["params"] = {"name": "show", "arguments": {}}
        await client.send([{**ping, "id": "a"}, note, call, 7])
        malformed = await client.receive()
        assert malformed["error"]["code"] == -32600
        batch = await client.receive()
        assert sorted(one["id"] for one in batch) == ["a", "b"]
        assert all("result" in one for one in batch)


async def test_a_slow_reader_is_waited_for_and_loses_nothing() -> None:
    async with raw(*MIRROR) as client:
        await client.initialize()
        asked = [
            await client.start_request(
                "tools/call", {"name": "shout", "arguments": {"size": 300_000}}
            )
            for _ in range(100)
        ]
        await anyio.sleep(0.5)
        # 30 MB are ready to be read, and few of them are in the bridge.
        assert memory(client.process.pid) < 70_000
        for request_id in asked:
            assert len(result_text(await client.answer_to(request_id))) == 300_000


async def test_a_server_that_does_not_read_stops_the_reading_of_the_client() -> None:
    async with raw(*MIRROR, "deaf") as client:
        await client.initialize()
        await client.start_request("tools/call", {"name": "show", "arguments": {}})
        note = {"jsonrpc": "2.0", "method": "notifications/vendor"}
        line = json.dumps({**note, "params": {"x": "x" * 100_000}}).encode() + b"\n"
        sent = 0
        with anyio.move_on_after(0.5):
            while sent < 400:
                await client.write(line)
                sent += 1
        assert sent < 400


# -- features --------------------------------------------------------------------------


@pytest.mark.interop
@pytest.mark.parametrize("peer", MODERN_PEERS)
async def test_two_questions_take_as_long_as_one(peer: str) -> None:
    async with raw(*target(peer)) as client:
        await client.initialize()
        call = await client.start_request(
            "tools/call", {"name": "three_questions", "arguments": {}}
        )
        asked = [await client.receive() for _ in range(3)]
        answers: dict[str, Any] = {
            "elicitation/create": {"action": "accept", "content": {"name": "Ada"}},
            "sampling/createMessage": {
                "role": "assistant",
                "model": "m",
                "content": {"type": "text", "text": "short"},
            },
            "roots/list": {"roots": [{"uri": "file:///srv"}]},
        }
        assert {one["method"] for one in asked} == set(answers)
        for one in reversed(asked):
            reply = {"jsonrpc": "2.0", "id": one["id"]}
            await client.send({**reply, "result": answers[one["method"]]})
        assert result_text(await client.answer_to(call)) == "Ada / short / 1"


@pytest.mark.interop
@pytest.mark.parametrize("peer", MODERN_PEERS)
async def test_questions_that_take_half_a_second_each_take_it_once(peer: str) -> None:
    answers: dict[str, Any] = {
        "elicitation/create": {"action": "accept", "content": {"name": "Ada"}},
        "roots/list": {"roots": []},
        "sampling/createMessage": {
            "role": "assistant",
            "model": "m",
            "content": {"type": "text", "text": "short"},
        },
    }

    async def answer(client: Any, question: Any) -> None:
        await anyio.sleep(0.5)
        reply = {"jsonrpc": "2.0", "id": question["id"]}
        await client.send({**reply, "result": answers[question["method"]]})

    async with raw(*target(peer)) as client:
        await client.initialize()
        params: dict[str, Any] = {"name": "three_questions", "arguments": {}}
        begun = anyio.current_time()
        call = await client.start_request("tools/call", params)
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(answer, client, await client.receive())
        assert result_text(await client.answer_to(call)) == "Ada / short / 0"
        # One after the other they would take 1.5 s.
        assert anyio.current_time() - begun < 1.0


@pytest.mark.interop
@pytest.mark.parametrize(
    ("revision", "declared", "card", "page"),
    [
        ("2025-11-25", {"elicitation": {"form": {}, "url": {}}}, True, True),
        ("2025-06-18", {"elicitation": {}}, True, False),
        ("2025-03-26", {"sampling": {}}, False, False),
        ("2024-11-05", {"sampling": {}}, False, False),
    ],
)
async def test_an_older_client_is_asked_what_its_revision_can_say(
    revision: str, declared: dict[str, Any], card: bool, page: bool
) -> None:
    async with raw(*target(TYPESCRIPT)) as client:
        opened = await client.initialize(revision, declared)
        assert opened["result"]["protocolVersion"] == revision
        assert result_text(await client.call("echo", text="x")) == "x"
        for tool, expected in (("issue_card", card), ("link_account", page)):
            params = {"name": tool, "arguments": {"book": "x"}}
            call = await client.start_request("tools/call", params)
            first = await client.receive()
            assert (first.get("method") == "elicitation/create") == expected, tool
            if not expected:
                assert first["id"] == call
                assert "error" in first
                continue
            result = {"action": "accept", "content": {"name": "Ada"}}
            await client.send({"jsonrpc": "2.0", "id": first["id"], "result": result})
            assert "result" in await client.answer_to(call)


@pytest.mark.interop
@pytest.mark.parametrize("peer", MODERN_PEERS)
async def test_a_cancel_stops_the_handler_of_the_server(
    peer: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    env = {"PEER_LOG": str(log)}
    name = peer.removesuffix("@http")

    async def cancel_one(place: list[str]) -> None:
        async with raw(*place, env=env) as client:
            await client.initialize()
            call = await client.start_request(
                "tools/call", {"name": "slow", "arguments": {"seconds": 60}}
            )
            await until(lambda: log.exists() and "started" in log.read_text())
            params = {"requestId": call, "reason": "enough"}
            note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
            await client.send({**note, "params": params})
            await until(lambda: "cancelled slow" in log.read_text())
            answer = await client.call("echo", text="still here")
            assert result_text(answer) == "still here"
            assert [one for one in client.heard if one.get("id") == call] == []

    if name == peer:
        await cancel_one(target(peer))
        return
    with listening(name, env) as url:
        await cancel_one([url])


@pytest.mark.interop
@pytest.mark.parametrize("peer", MODERN_PEERS)
async def test_500_calls_with_eight_in_flight_lose_none(peer: str) -> None:
    async with raw(*target(peer)) as client:
        await client.initialize()
        waiting: dict[int, str] = {}
        done = started = 0
        while done < 500:
            while len(waiting) < 8 and started < 500:
                params = {"name": "echo", "arguments": {"text": f"call {started}"}}
                key = await client.start_request("tools/call", params)
                waiting[key] = f"call {started}"
                started += 1
            answer = await client.receive()
            assert result_text(answer) == waiting.pop(answer["id"])
            done += 1


async def test_the_server_inherits_the_variables_of_the_bridge() -> None:
    arguments = ["--env", "GIVEN=a=b", "--cwd", "/", *MIRROR]
    async with raw(*arguments, env={"INHERITED": "yes"}) as client:
        await client.initialize()
        for name, value in (("INHERITED", "yes"), ("GIVEN", "a=b")):
            told = result_text(await client.call("environment", variable=name))
            assert told == value
        assert result_text(await client.call("folder")) == "/"


# -- ends ------------------------------------------------------------------------------


async def test_the_end_of_stdin_ends_the_bridge_and_the_server(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    async with raw(*MIRROR, env={"PEER_PID": str(pid)}) as client:
        await client.initialize()
        assert alive(int(pid.read_text()))
        assert await client.end() == 0
        assert not alive(int(pid.read_text()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_the_bridge_and_the_server(
    number: signal.Signals, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    async with raw(*MIRROR, env={"PEER_PID": str(pid)}) as client:
        await client.initialize()
        client.process.send_signal(number)
        assert await client.status() == 128 + number
        assert not alive(int(pid.read_text()))


def test_a_client_that_closes_the_pipe_it_reads_ends_the_bridge(
    tmp_path: Path,
) -> None:
    pid = tmp_path / "pid"
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    env = {**os.environ, "PEER_PID": str(pid)}
    with subprocess.Popen(bridge(*MIRROR), env=env, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        assert b"result" in process.stdout.readline()
        process.stdout.close()
        assert process.wait(20) == 0
    assert not alive(int(pid.read_text()))


async def test_a_server_that_ends_fails_the_open_calls_and_ends_the_bridge() -> None:
    async with raw(*MIRROR) as client:
        await client.initialize()
        answer = await client.call("crash")
        assert answer["error"]["code"] == -32000
        assert "exit status 3" in answer["error"]["message"]
        assert await client.status() == 1
        assert "crashing on request" in await stderr(client)


async def test_a_command_that_cannot_be_run_is_named_to_the_client() -> None:
    async with raw("--", "/no/such/program") as client:
        answer = await client.request("initialize", {})
        assert "'/no/such/program' cannot be started" in answer["error"]["message"]
        assert await client.status() == 1
        assert "cannot be started" in await stderr(client)


async def test_a_url_where_nobody_listens_is_named_to_the_client() -> None:
    async with raw("http://user:secret@127.0.0.1:9/mcp?key=secret") as client:
        answer = await client.request("initialize", {"capabilities": {}})
        message = answer["error"]["message"]
        assert "http://127.0.0.1:9/mcp" in message
        assert "secret" not in message
        assert await client.end() == 0
        assert "secret" not in await stderr(client)


async def test_lines_can_come_from_a_file_and_go_to_one(tmp_path: Path) -> None:
    said, heard = tmp_path / "said", tmp_path / "heard"
    said.write_text('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    with said.open() as stdin, heard.open("w") as stdout:
        done = await anyio.run_process(
            bridge(*MIRROR), stdin=stdin, stdout=stdout, stderr=None
        )
    assert done.returncode == 0
    assert json.loads(heard.read_text()) == {"jsonrpc": "2.0", "id": 1, "result": {}}


# -- logs and imports ------------------------------------------------------------------


async def test_the_log_names_methods_and_never_what_is_in_a_message() -> None:
    async with raw("-vv", *MIRROR) as client:
        await client.initialize()
        await client.call("show", password="hunter2")
        await client.end()
        log = await stderr(client)
    assert "tools/call" in log
    assert "connected: modern, 2026-07-28" in log
    assert "hunter2" not in log


async def test_the_log_can_go_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    async with raw("-v", "--log-file", str(path), *MIRROR) as client:
        await client.initialize()
        await client.end()
        assert await stderr(client) == ""
    assert "connected: modern" in path.read_text()


async def test_a_server_that_talks_nonsense_does_not_fill_the_log() -> None:
    code = "import sys; print('nonsense\\n' * 500, flush=True); sys.stdin.read()"
    server = ["--", sys.executable, "-c", code]
    async with raw("--connect-timeout", "1", *server) as client:
        answer = await client.request("initialize", {"capabilities": {}})
        assert "no answer within 1 s" in answer["error"]["message"]
        assert await client.end() == 0
        assert (await stderr(client)).count("what is no message") == 10


@pytest.mark.parametrize("memory", [True, False])
@pytest.mark.parametrize("place", ["stdio", "http"])
async def test_a_bridge_never_imports_the_sdk(
    place: str, memory: bool, tmp_path: Path
) -> None:
    # The modules that were imported are on stderr, one a line.
    where = MIRROR if place == "stdio" else [shared(TYPESCRIPT)]
    words = ["--memory-file", str(tmp_path / "m"), *where] if memory else where
    async with raw(*words, env={"PYTHONPROFILEIMPORTTIME": "1"}) as client:
        assert "result" in await client.initialize()
        assert "result" in await client.request("tools/list")
        await client.end()
        lines = (await stderr(client)).splitlines()
    imported = {line.rpartition("|")[2].strip() for line in lines if "|" in line}
    assert "mcp_anyera.bridge.stdio" in imported
    assert ("mcp_anyera.memory" in imported) == memory
    tops = {name.partition(".")[0] for name in imported}
    assert tops.isdisjoint({"mcp", "mcp_types", "pydantic", "starlette", "uvicorn"})


def test_a_wrong_command_line_is_refused_with_status_2() -> None:
    for arguments, complaint in (
        (
            ["--header", "X: secret", "--", "x"],
            "--header and --header-env are for URLs",
        ),
        (["--env", "A=1", "http://x/"], "--env and --cwd are for commands"),
        (["--mode", "newest", "http://x/"], "argument --mode: invalid mode value"),
        (["--header", "secret", "http://x/"], "--header takes 'NAME: VALUE'"),
        (["--header-env", "A=NOT_SET_HERE", "http://x/"], "NOT_SET_HERE is not set"),
        (["http://x/", "more"], "what is 'more' for?"),
        (["python", "server.py"], "A command stands behind --"),
        (["http://x/", "--", "more"], "not both"),
        (["--oauth", "--", "x"], "--oauth is for a URL"),
        (["--token", "secret", "http://x/"], "belong to --http"),
        (["--http", "0", "--token", " ", "http://x/"], "the token is empty"),
        (["--header", "A: ${NOT_SET_HERE}", "http://x/"], "NOT_SET_HERE is not set"),
        (["--header", "A: secr\net", "http://x/"], "cannot be sent"),
        (["--header", "A B: secret", "http://x/"], "no name of a header"),
        (["--env", "NOT_SET_HERE", "--", "x"], "NOT_SET_HERE is not set"),
        (["--memory-file", "/", "http://x/"], "is a folder"),
        (["--log-level", "loud", "http://x/"], "--log-level"),
        ([], "name a URL"),
        (["--", ""], "is empty"),
        (["'"], "is no command"),
        (["--read-timeout", "0", "http://x/"], "--read-timeout"),
    ):
        done = subprocess.run(
            bridge(*arguments), capture_output=True, text=True, check=False
        )
        assert done.returncode == 2, arguments
        assert complaint in done.stderr
        assert "secret" not in done.stderr


def memory(pid: int) -> int:
    """Return how much memory a process has, in kilobytes; 0 where nobody knows."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0
    line = next(x for x in status.read_text().splitlines() if "VmRSS" in x)
    return int(line.split()[1])


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def until(condition: Any) -> None:
    """Wait for something that another process does."""
    with anyio.fail_after(10):
        while not condition():
            await anyio.sleep(0.01)
