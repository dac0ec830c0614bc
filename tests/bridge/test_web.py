"""The bridge as an HTTP server: who may come in, and where messages go."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_anyera._sdk import httpx
from tests.bridge.raw import ALL, CLIENT
from tests.bridge.test_stdio import MIRROR, alive, until
from tests.interop.faces import bridge, listening_bridge
from tests.interop.peers import MODERN, TYPESCRIPT, command, shared

BOTH = {"accept": "application/json, text/event-stream"}
NOTE = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def mirror() -> Generator[str]:
    with listening_bridge(*MIRROR) as url:
        yield url


@pytest.fixture
async def http() -> AsyncGenerator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=20) as client:
        yield client


def request(key: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": key, "method": method, "params": params}


def hello(version: str = "2025-11-25") -> dict[str, Any]:
    params: dict[str, Any] = {"protocolVersion": version, "clientInfo": CLIENT}
    return request(0, "initialize", capabilities=ALL, **params)


class Talk:
    """One session, by hand."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self.http, self.url = http, url
        self.headers: dict[str, str] = dict(BOTH)

    async def open(self, version: str = "2025-11-25") -> Any:
        response = await self.post(hello(version))
        self.headers["mcp-session-id"] = response.headers["mcp-session-id"]
        assert (await self.post(NOTE)).status_code == 202
        return response.json()

    async def post(self, message: Any) -> httpx.Response:
        return await self.http.post(self.url, json=message, headers=self.headers)

    @asynccontextmanager
    async def stream(self, method: str, message: Any = None) -> AsyncGenerator[Any]:
        how: dict[str, Any] = {} if message is None else {"json": message}
        opened = self.http.stream(method, self.url, headers=self.headers, **how)
        async with opened as response:
            yield response, events(response)


async def events(response: httpx.Response) -> AsyncGenerator[Any]:
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            yield json.loads(line.removeprefix("data:"))


# -- who may come in -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"host": "evil.example:80"}, 403),
        ({"host": "127.0.0.1.evil.example"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:6274"}, 200),
        ({"host": "localhost:1"}, 200),
        ({"mcp-protocol-version": "2026-07-28"}, 400),
        ({"mcp-protocol-version": "2025-06-18"}, 200),
    ],
)
async def test_only_requests_that_name_this_machine_come_in(
    mirror: str, http: httpx.AsyncClient, headers: dict[str, str], status: int
) -> None:
    response = await http.post(mirror, json=hello(), headers={**BOTH, **headers})
    assert response.status_code == status
    assert ("error" in response.json()) == (status != 200)


async def test_a_token_is_wanted_when_one_was_given(http: httpx.AsyncClient) -> None:
    env = {"BRIDGE_TOKEN": "s3cret"}
    with listening_bridge("--token-env", "BRIDGE_TOKEN", *MIRROR, env=env) as url:
        for given in (None, "Bearer wrong", "Basic s3cret"):
            headers = BOTH if given is None else {**BOTH, "authorization": given}
            refused = await http.post(url, json=hello(), headers=headers)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
        headers = {**BOTH, "authorization": "Bearer s3cret"}
        assert (await http.post(url, json=hello(), headers=headers)).is_success


async def test_what_is_wrong_with_a_request_is_said(
    mirror: str, http: httpx.AsyncClient
) -> None:
    talk = Talk(http, mirror)
    assert (await talk.post(request(1, "ping"))).status_code == 400
    await talk.open()
    assert (await http.put(mirror, headers=talk.headers)).status_code == 405
    assert (await http.get(mirror[:-3], headers=talk.headers)).status_code == 404
    bad = await http.post(mirror, content=b"{", headers=talk.headers)
    assert (bad.status_code, bad.json()["error"]["code"]) == (400, -32700)
    assert (await talk.post([request(1, "ping")])).status_code == 400
    malformed = await talk.post({"jsonrpc": "2.0", "id": 1})
    assert malformed.status_code == 400
    talk.headers["mcp-session-id"] = "unknown"
    assert (await talk.post(request(1, "ping"))).status_code == 404


# -- sessions --------------------------------------------------------------------------


async def test_each_client_has_a_server_of_its_own_that_ends_with_it(
    http: httpx.AsyncClient, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    with listening_bridge(*MIRROR, env={"PEER_PID": str(pid)}) as url:
        one, two = Talk(http, url), Talk(http, url)
        await one.open()
        first = int(pid.read_text())
        await two.open()
        second = int(pid.read_text())
        assert first != second
        left = await http.delete(url, headers=one.headers)
        assert left.status_code == 204
        await until(lambda: not alive(first))
        assert (await one.post(request(1, "ping"))).status_code == 404
        assert (await two.post(request(1, "ping"))).json()["result"] == {}
    assert not alive(second)


async def test_a_server_that_ends_ends_its_session(
    mirror: str, http: httpx.AsyncClient
) -> None:
    talk = Talk(http, mirror)
    await talk.open()
    crashed = await talk.post(request(1, "tools/call", name="crash"))
    assert crashed.json()["error"]["code"] == -32000
    assert (await talk.post(request(2, "ping"))).status_code == 404
    await Talk(http, mirror).open()


async def test_a_server_that_cannot_be_started_is_named(
    http: httpx.AsyncClient,
) -> None:
    with listening_bridge("--", "/no/such/program") as url:
        response = await http.post(url, json=hello(), headers=BOTH)
        message = response.json()["error"]["message"]
        assert "'/no/such/program' cannot be started" in message
        assert "mcp-session-id" not in response.headers


async def test_a_batch_is_taken_at_the_revision_that_has_them(
    mirror: str, http: httpx.AsyncClient
) -> None:
    talk = Talk(http, mirror)
    await talk.open("2025-03-26")
    pings = [request(1, "ping"), request(2, "ping")]
    async with talk.stream("POST", pings) as (_, said):
        assert sorted([one["id"] async for one in said]) == [1, 2]


async def test_an_id_that_is_in_use_is_refused_and_the_first_request_answered(
    http: httpx.AsyncClient,
) -> None:
    with listening_bridge("--", *command(TYPESCRIPT)) as url:
        talk = Talk(http, url)
        await talk.open()
        slow = request(1, "tools/call", name="slow", arguments={"seconds": 0.5})
        said: list[Any] = []

        async def post() -> None:
            response = await talk.post(slow)
            data = response.text.rpartition("data: ")[2].strip()
            said.append(json.loads(data))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(post)
        answers = [one["result"]["content"][0]["text"] for one in said[2:]]
        assert answers == ["slept"]
        assert all("1 is in use" in one["error"]["message"] for one in said[:2])


@pytest.mark.parametrize("streamed", [True, False])
async def test_an_answer_that_is_no_json_is_an_error(
    mirror: str, http: httpx.AsyncClient, streamed: bool
) -> None:
    talk = Talk(http, mirror)
    await talk.open("2025-03-26")
    infinite = '{"resultType": "complete", "content": [], "x": 1e999}'
    call = request(1, "tools/call", name="verbatim", arguments={"json": infinite})
    response = await talk.post([call] if streamed else call)
    answer = json.loads(response.text.rpartition("data: ")[2] or response.text)
    assert answer["id"] == 1
    assert "cannot be written as JSON" in answer["error"]["message"]


# -- streams ---------------------------------------------------------------------------


@pytest.mark.interop
@pytest.mark.parametrize("peer", [TYPESCRIPT, f"{MODERN}@http"])
async def test_questions_come_on_the_stream_of_their_call(
    peer: str, http: httpx.AsyncClient
) -> None:
    name = peer.removesuffix("@http")
    place = ["--", *command(name)] if name == peer else [shared(name)]
    with listening_bridge(*place) as url:
        talk = Talk(http, url)
        await talk.open()
        other = request(1, "tools/call", name="slow", arguments={"seconds": 60})
        card = request(2, "tools/call", name="issue_card", arguments={"book": "x"})
        async with talk.stream("POST", other):
            async with talk.stream("POST", card) as (_, said):
                question = await anext(said)
                assert question["method"] == "elicitation/create"
                result = {"action": "accept", "content": {"name": "Ada"}}
                answer = {"jsonrpc": "2.0", "id": question["id"], "result": result}
                assert (await talk.post(answer)).status_code == 202
                last = await anext(said)
                assert last["id"] == 2
                assert last["result"]["content"][0]["text"] == "card for Ada: x"
                with pytest.raises(StopAsyncIteration):
                    await anext(said)


@pytest.mark.interop
async def test_changes_come_on_the_stream_of_the_session(
    http: httpx.AsyncClient,
) -> None:
    with listening_bridge("--", *command(TYPESCRIPT)) as url:
        talk = Talk(http, url)
        await talk.open()
        async with talk.stream("GET") as (response, said):
            assert response.headers["content-type"].startswith("text/event-stream")
            assert (await http.get(url, headers=talk.headers)).status_code == 409
            await talk.post(request(1, "resources/subscribe", uri="note://plain"))
            arguments = {"uri": "note://plain"}
            await talk.post(request(2, "tools/call", name="touch", arguments=arguments))
            with anyio.fail_after(10):
                assert (await anext(said))[
                    "method"
                ] == "notifications/resources/updated"


async def test_a_cancelled_call_ends_its_response(
    http: httpx.AsyncClient,
) -> None:
    with listening_bridge("--", *command(TYPESCRIPT)) as url:
        talk = Talk(http, url)
        await talk.open()
        slow = request(1, "tools/call", name="slow", arguments={"seconds": 60})
        async with talk.stream("POST", slow) as (_, said):
            note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
            assert (await talk.post({**note, "params": {"requestId": 1}})).is_success
            with anyio.fail_after(10), pytest.raises(StopAsyncIteration):
                await anext(said)


# -- ends ------------------------------------------------------------------------------


async def test_a_signal_ends_it_with_streams_open(
    http: httpx.AsyncClient, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    command = bridge("--http", "0", "--env", f"PEER_PID={pid}", *MIRROR)
    async with await anyio.open_process(command, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        said_first = (await process.stderr.receive()).decode()
        talk = Talk(http, said_first.split()[-1])
        await talk.open()
        async with talk.stream("GET") as (_, said):
            process.send_signal(signal.SIGTERM)
            with anyio.fail_after(10), pytest.raises(StopAsyncIteration):
                await anext(said)
        assert await process.wait() == 128 + signal.SIGTERM
    assert not alive(int(pid.read_text()))


def test_a_port_that_is_taken_is_an_error(mirror: str) -> None:
    port = mirror.rsplit(":", 1)[1].partition("/")[0]
    command = bridge("--http", port, *MIRROR)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"port {port}" in done.stderr
