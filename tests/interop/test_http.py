"""HTTP in both eras: servers that have less than the others, and the drop-ins."""

from __future__ import annotations

import inspect
from typing import Any

import anyio
import pytest
from mcp import ClientSession
from mcp.client import streamable_http as sdk_http
from mcp.client.sse import sse_client as sdk_sse_client

from mcp_anyera import (
    Callbacks,
    CallTimeout,
    Client,
    ConnectionLost,
    Era,
    adapt,
    transports,
)
from mcp_anyera._sdk import SDK1, httpx, types
from tests.interop.faces import ANSWERS, EVERYTHING, connected, is_error, text, uri
from tests.interop.peers import DUAL, LEGACY, MODERN, SSE, TYPESCRIPT, listening, shared

pytestmark = pytest.mark.interop

FASTMCP = ("fastmcp-2", "fastmcp-3", "fastmcp-4")
EVERYTHING_SERVERS = {
    "everything-2025": ("sampleLLM", "startElicitation"),
    "everything-2026": ("trigger-sampling-request", "trigger-elicitation-request"),
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("peer", FASTMCP)
@pytest.mark.parametrize("face", ["client", "adapt"])
async def test_fastmcp_works(
    peer: str, face: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ANSWERS, "value", "Ada")
    heard: list[str] = []
    steps: list[float] = []

    async def log(params: Any) -> None:
        heard.append(params.level)

    async def progress(value: float, _total: float | None, _text: str | None) -> None:
        steps.append(value)

    options: dict[str, Any] = {
        **EVERYTHING,
        "logging_callback": log,
        "log_level": "warning",
    }
    async with connected(face, f"{peer}@http", None, **options) as client:
        assert "echo" in [tool.name for tool in (await client.list_tools()).tools]
        assert text(await client.call_tool("echo", {"text": "é"})) == "é"
        await client.call_tool("chatty")
        await client.call_tool("count", {"steps": 3}, progress_callback=progress)
        assert is_error(await client.call_tool("fail"))
        prompt = await client.get_prompt("greeting", {"name": "Bo"})
        assert prompt.messages[0].content.text == "Hello Bo"
        read = await client.read_resource(uri("note://plain"))
        assert read.contents[0].text == "a plain note"
        if peer == "fastmcp-4" and face == "adapt":
            # Its tools call back, and there is nobody to call on this connection.
            assert is_error(await client.call_tool("issue_card", {"book": "x"}))
            assert text(await client.call_tool("workspace")) == "file:///srv/books"
        else:
            card = await client.call_tool("issue_card", {"book": "Dune"})
            assert text(card) == "card for Ada: Dune"
            assert text(await client.call_tool("two_rounds")) == "Ada then Ada"
            assert text(await client.call_tool("summarise", {"text": "x"})) == (
                "summary: short"
            )
            assert text(await client.call_tool("workspace")) == "file:///srv/books"
    assert (heard, steps) == (["warning", "error"], [1, 2, 3])


async def test_fastmcp_4_asks_on_a_legacy_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(ANSWERS, "value", "Ada")
    async with Client(shared("fastmcp-4"), mode="legacy", **EVERYTHING) as client:
        card = await client.call_tool("issue_card", {"book": "Dune"})
        assert text(card) == "card for Ada: Dune"


@pytest.mark.parametrize("peer", EVERYTHING_SERVERS)
@pytest.mark.parametrize("face", ["client", "adapt"])
async def test_the_everything_servers_work(peer: str, face: str) -> None:
    async def fill_in(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="decline")

    sampling, elicitation = EVERYTHING_SERVERS[peer]
    options: dict[str, Any] = {**EVERYTHING, "elicitation_callback": fill_in}
    async with connected(face, f"{peer}@http", None, **options) as client:
        assert text(await client.call_tool("echo", {"message": "x"})) == "Echo: x"
        with anyio.fail_after(5):  # it lists these tools when it has been initialized
            while elicitation not in [
                tool.name for tool in (await client.list_tools()).tools
            ]:
                await anyio.sleep(0.02)
        asked = await client.call_tool(sampling, {"prompt": "hi", "maxTokens": 10})
        assert "short" in text(asked)
        refused = text(await client.call_tool(elicitation, {}))
        assert "declined" in refused.lower()


@pytest.mark.parametrize("peer", ["mcp-1.30-json", "mcp-1.30-stateless"])
async def test_a_legacy_server_that_cannot_ask_is_named_when_a_call_takes_too_long(
    peer: str,
) -> None:
    said = "replies with JSON" if peer.endswith("json") else "handed out no session"
    async with Client(shared(peer), **EVERYTHING) as client:
        assert client.era is Era.LEGACY
        assert text(await client.call_tool("echo", {"text": "x"})) == "x"
        with pytest.raises(CallTimeout, match=said):
            await client.call_tool(
                "issue_card", {"book": "x"}, read_timeout_seconds=0.5
            )
        assert text(await client.call_tool("echo", {"text": "y"})) == "y"


@pytest.mark.parametrize("peer", ["mcp-2.3-json", "ts-2.4"])
async def test_a_dual_era_server_asks_in_whichever_way_it_replies(peer: str) -> None:
    async with Client(shared(peer), **EVERYTHING) as client:
        assert client.era is Era.MODERN
        assert text(await client.call_tool("three_questions")) == "Ada / short / 1"
        assert text(await client.call_tool("two_rounds")) == "one then two"


@pytest.mark.parametrize("peer", [LEGACY, MODERN, TYPESCRIPT])
async def test_a_server_that_dies_ends_the_call_and_tells_of_it(peer: str) -> None:
    with listening(peer) as url:
        async with Client(url) as client:
            with pytest.raises(ConnectionLost, match="tools/call 'crash' failed"):
                await client.call_tool("crash")
            with pytest.raises(ConnectionLost) as caught:
                await client.call_tool("echo", {"text": "x"})
            assert isinstance(caught.value.__cause__, httpx.TransportError)


async def test_a_server_that_comes_back_is_met_again() -> None:
    with listening(LEGACY) as url:
        port = url.split(":")[2].partition("/")[0]
        async with Client(url, **EVERYTHING) as client:
            assert text(await client.call_tool("two_rounds")) == "one then two"
            with pytest.raises(ConnectionLost):
                await client.call_tool("crash")
            with listening(LEGACY, {"PEER_PORT": port}):
                assert text(await client.call_tool("two_rounds")) == "one then two"


async def test_one_registry_serves_two_eras_side_by_side() -> None:
    registry = Callbacks(**EVERYTHING)
    async with (
        Client(shared(LEGACY), callbacks=registry) as old,
        Client(shared(MODERN), callbacks=registry) as new,
    ):
        assert (old.era, new.era) == (Era.LEGACY, Era.MODERN)
        async with anyio.create_task_group() as tasks:
            for client in (old, new):
                tasks.start_soon(asks_three, client)


async def asks_three(client: Client) -> None:
    assert text(await client.call_tool("three_questions")) == "Ada / short / 1"


# -- drop-ins ----------------------------------------------------------------------


@pytest.mark.parametrize("peer", [LEGACY, DUAL, MODERN, TYPESCRIPT, SSE])
async def test_streamable_http_client_is_a_drop_in_for_every_server(peer: str) -> None:
    transport = transports.streamable_http_client(shared(peer))
    async with transport as (read, write, *extras):
        async with ClientSession(read, write, **EVERYTHING) as session:
            await session.initialize()
            assert text(await session.call_tool("two_rounds")) == "one then two"
        if SDK1:
            (session_id,) = extras
            assert (session_id() is None) == (peer != LEGACY)
        else:
            assert extras == []


@pytest.mark.skipif(not SDK1, reason="mcp 2.x has no such function")
async def test_streamablehttp_client_is_a_drop_in_on_sdk_1() -> None:
    headers = {"x-own": "1"}
    old: Any = transports
    transport = old.streamablehttp_client(shared(MODERN), headers, timeout=5)
    async with transport as (read, write, session_id):
        async with ClientSession(read, write, **EVERYTHING) as session:
            await session.initialize()
            assert text(await session.call_tool("two_rounds")) == "one then two"
        assert session_id() is None


async def test_sse_client_is_a_drop_in_that_does_not_probe() -> None:
    for transport in (
        transports.sse_client(shared(SSE)),
        adapt(sdk_sse_client(shared(SSE))),
    ):
        async with transport as (read, write):
            async with ClientSession(read, write, **EVERYTHING) as session:
                await session.initialize()
                assert text(await session.call_tool("two_rounds")) == "one then two"


async def test_a_client_takes_the_transports_of_both() -> None:
    url = shared(MODERN)
    for transport in (
        sdk_http.streamable_http_client(url),
        transports.streamable_http_client(url),
        adapt(sdk_http.streamable_http_client(url)),
    ):
        async with Client(transport, **EVERYTHING) as client:
            assert client.era is Era.MODERN
            assert text(await client.call_tool("two_rounds")) == "one then two"


def test_the_drop_ins_take_what_the_installed_sdks_own_take() -> None:
    names = ("streamable_http_client", "streamablehttp_client")
    for name in names[: 2 if SDK1 else 1]:
        theirs = inspect.signature(inspect.unwrap(getattr(sdk_http, name)))
        ours = inspect.signature(getattr(transports, name))
        assert theirs.parameters.keys() <= ours.parameters.keys()
    theirs = inspect.signature(inspect.unwrap(sdk_sse_client))
    inspect.signature(transports.sse_client).bind(
        "http://x", **dict.fromkeys(list(theirs.parameters)[1:])
    )
