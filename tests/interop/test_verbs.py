"""Every feature of real servers, through `Client` and through `adapt`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_anyera._sdk import SDKError, types
from tests.interop.faces import (
    EVERYTHING,
    FACES,
    connected,
    is_error,
    text,
    until,
    uri,
)
from tests.interop.peers import PEERS, STDIO_PEERS, era

pytestmark = pytest.mark.interop


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=PEERS)
def peer(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_tools_that_ask_get_their_answers(peer: str, face: str) -> None:
    async with connected(face, peer, **EVERYTHING) as client:
        calls: dict[str, tuple[dict[str, Any], str]] = {
            "echo": ({"text": "é\u2028\n\x00x"}, "é\u2028\n\x00x"),
            "issue_card": ({"book": "Dune"}, "card for Ada: Dune"),
            "link_account": ({}, "linked: accept"),
            "summarise": ({"text": "t"}, "summary: short"),
            "use_tools": ({}, "stop: None"),
            "workspace": ({}, "file:///srv/books"),
            "two_rounds": ({}, "one then two"),
            "three_questions": ({}, "Ada / short / 1"),
            "patience": ({"legs": 5}, "done after 5 legs"),
            "regional": ({"region": " nörd"}, "served from  nörd"),
        }
        for name, (arguments, expected) in calls.items():
            assert text(await client.call_tool(name, arguments)) == expected, name


async def test_prompts_and_resources_that_ask_get_their_answers(
    peer: str, face: str
) -> None:
    async with connected(face, peer, **EVERYTHING) as client:
        plain = await client.get_prompt("greeting", {"name": "Bo"})
        assert plain.messages[0].content.text == "Hello Bo"
        asking = await client.get_prompt("asking_prompt")
        assert asking.messages[0].content.text == "Write about the sea"
        assert (await client.read_resource(uri("note://plain"))).contents[
            0
        ].text == "a plain note"
        assert (await client.read_resource(uri("note://asking"))).contents[
            0
        ].text == "page 7"


async def test_lists_completions_and_ping_work(peer: str, face: str) -> None:
    async with connected(face, peer) as client:
        assert "two_rounds" in [tool.name for tool in (await client.list_tools()).tools]
        assert len((await client.list_prompts()).prompts) == 2
        assert (await client.list_resources()).resources
        await client.list_resource_templates()
        ref = types.PromptReference(type="ref/prompt", name="greeting")
        completed = await client.complete(ref, {"name": "name", "value": "Al"})
        assert completed.completion.values == ["Alan"]
        await client.send_ping()


async def test_a_tool_error_is_a_result(peer: str, face: str) -> None:
    async with connected(face, peer) as client:
        assert is_error(await client.call_tool("fail"))


async def test_progress_rises_over_rounds_and_comes_before_the_result(
    peer: str, face: str
) -> None:
    seen: list[tuple[float, float | None]] = []

    async def progress(value: float, total: float | None, _message: str | None) -> None:
        seen.append((value, total))

    async with connected(face, peer, **EVERYTHING) as client:
        result = await client.call_tool(
            "count", {"steps": 3}, progress_callback=progress
        )
        assert text(result) == "counted"
        assert [value for value, _ in seen] == [1, 2, 3]
        seen.clear()
        await client.call_tool(
            "count_and_ask", {"steps": 2}, progress_callback=progress
        )
        assert seen[-2:] == [(3, 4), (4, 4)]
        assert [value for value, _ in seen] == [1, 2, 3, 4]


async def test_log_messages_come_from_the_wanted_level_on(peer: str, face: str) -> None:
    heard: list[str] = []

    async def log(params: Any) -> None:
        heard.append(params.level)

    async with connected(
        face, peer, logging_callback=log, log_level="warning"
    ) as client:
        await client.call_tool("chatty")
        await until(lambda: len(heard) == 2)
        assert heard == ["warning", "error"]
        await client.set_logging_level("info")
        await client.call_tool("chatty")
        await until(lambda: len(heard) == 5)
        assert heard[2:] == ["info", "warning", "error"]


async def test_without_a_level_a_modern_server_sends_none(peer: str, face: str) -> None:
    heard: list[str] = []

    async def log(params: Any) -> None:
        heard.append(params.level)

    async with connected(face, peer, logging_callback=log) as client:
        await client.call_tool("chatty")
        await client.call_tool("echo", {"text": "x"})
        if era(peer) == "legacy":
            await until(lambda: len(heard) == 4)
    everything = ["debug", "info", "warning", "error"]
    assert heard == (everything if era(peer) == "legacy" else [])


async def test_changes_reach_the_message_handler(peer: str, face: str) -> None:
    heard: list[str] = []

    async def handle(message: Any) -> None:
        heard.append(type(getattr(message, "root", message)).__name__)

    async with connected(face, peer, message_handler=handle) as client:
        await client.subscribe_resource(uri("note://plain"))
        await client.call_tool("touch", {"uri": "note://plain"})
        await until(lambda: "ResourceUpdatedNotification" in heard)
        await client.call_tool("add_tool")
        await until(lambda: "ToolListChangedNotification" in heard)
        await client.unsubscribe_resource(uri("note://plain"))
        heard.clear()
        await client.call_tool("touch", {"uri": "note://plain"})
        await client.call_tool("echo", {"text": "x"})
    assert heard == []


async def test_a_refusal_and_a_missing_callback_end_the_call(
    peer: str, face: str
) -> None:
    async def refuse(context: Any, params: Any) -> types.ErrorData:
        return types.ErrorData(code=-32050, message="not today", data={"why": "rain"})

    options: dict[str, Any] = {"elicitation_callback": refuse}
    async with connected(face, peer, **options) as client:
        if era(peer) == "legacy" and face != "client":
            # The session itself tells the server, whose tool decides.
            assert is_error(await client.call_tool("issue_card", {"book": "x"}))
        else:
            with pytest.raises(SDKError) as caught:
                await client.call_tool("issue_card", {"book": "x"})
            error = caught.value.error
            assert (error.code, error.message, error.data) == (
                -32050,
                "not today",
                {"why": "rain"},
            )
        assert (
            text(await client.call_tool("echo", {"text": "still here"})) == "still here"
        )


async def test_without_a_callback_the_error_says_so(peer: str, face: str) -> None:
    async with connected(face, peer) as client:
        for tool, arguments, sentence in (
            ("issue_card", {"book": "x"}, "Elicitation not supported"),
            ("summarise", {"text": "x"}, "Sampling not supported"),
            ("workspace", {}, "List roots not supported"),
        ):
            if era(peer) == "legacy" and face != "client":
                assert is_error(await client.call_tool(tool, arguments))
                continue
            with pytest.raises(SDKError) as caught:
                await client.call_tool(tool, arguments)
            error = caught.value.error
            # A server that looks at what was declared refuses by itself.
            refused_by_server = error.code == -32021
            assert refused_by_server or (
                error.code == -32600 and sentence in error.message
            )


async def test_what_is_declared_is_what_is_registered(peer: str, face: str) -> None:
    registered: list[tuple[dict[str, Any], list[str]]] = [
        ({}, []),
        ({"elicitation_callback": EVERYTHING["elicitation_callback"]}, ["elicitation"]),
        (EVERYTHING, ["elicitation", "roots", "sampling"]),
    ]
    for callbacks, expected in registered:
        async with connected(face, peer, **callbacks) as client:
            declared = text(await client.call_tool("client_features"))
            assert declared.replace(" ", "") == str(expected).replace("'", '"').replace(
                " ", ""
            )


@pytest.mark.parametrize("peer", STDIO_PEERS)
async def test_a_server_that_dies_ends_the_call_that_it_hits(
    peer: str, face: str
) -> None:
    async with connected(face, peer) as client:
        with pytest.raises(SDKError) as caught:
            await client.call_tool("crash")
        assert caught.value.error.code == -32000
        assert "exit status 3; stderr ends with: crashing on request" in str(
            caught.value
        )
        with pytest.raises(SDKError, match=r"(?i)connection( is)? closed"):
            await client.call_tool("echo", {"text": "x"})


async def test_a_cancelled_call_is_cancelled_at_the_server(
    peer: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    env = {"PEER_LOG": str(log)}
    async with connected("client", peer, env=env) as client:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "slow", {"seconds": 60})
                await until(lambda: log.exists() and "started" in log.read_text())
                scope.cancel()
        await until(lambda: "cancelled slow" in log.read_text())
        assert text(await client.call_tool("echo", {"text": "x"})) == "x"


async def test_the_era_is_the_servers_own(peer: str) -> None:
    async with connected("client", peer) as client:
        assert client.era.value == era(peer)
        assert client.protocol_version == (
            "2025-11-25" if era(peer) == "legacy" else "2026-07-28"
        )
        assert client.server_info is not None
        assert client.server_info.name == "anyera-peer"
        assert client.instructions == "A peer for tests."
        assert client.server_capabilities.tools is not None
        assert client.verdict.evidence
