"""Servers that die, stay silent or talk nonsense: a clear error, and nothing hangs."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_anyera import (
    CallbackError,
    CallTimeout,
    Client,
    ConnectError,
    ConnectionLost,
    Era,
    ProtocolViolation,
    QuestionDeclined,
    QuestionRefused,
    RawNotification,
    RoundsExceeded,
)
from mcp_anyera._sdk import SDKError, types
from tests.interop.faces import EVERYTHING, text
from tests.interop.scripting import scripted_process

pytestmark = pytest.mark.interop


@asynccontextmanager
async def scripted(
    name: str, env: dict[str, str] | None = None, **options: Any
) -> AsyncGenerator[Client]:
    async with Client(scripted_process(name, env), **options) as client:
        yield client


async def test_a_server_that_dies_on_the_probe_is_started_again_and_never_twice_at_once(
    tmp_path: Path,
) -> None:
    env = {"LOCK": str(tmp_path / "lock")}
    async with scripted("dies_on_probe", env) as client:
        assert client.era is Era.LEGACY
        assert "unexpected message" in client.verdict.evidence[0].outcome
        assert text(await client.call_tool("x")) == "done"
    assert not (tmp_path / "lock").exists()


async def test_a_server_that_never_starts_is_reported_with_its_last_words() -> None:
    with pytest.raises(ConnectError) as caught:
        async with scripted("dies_always"):
            pass
    message = str(caught.value)
    assert "scripted.py dies_always'" in message
    assert "ModuleNotFoundError after server/discover" in message
    assert "ModuleNotFoundError after initialize" in message
    assert isinstance(caught.value, (ConnectionError, SDKError))


async def test_a_command_that_does_not_exist_is_a_connect_error() -> None:
    with pytest.raises(
        ConnectError,
        match="could not connect to 'no-such-command x': FileNotFoundError",
    ):
        async with Client(["no-such-command", "x"]):
            pass


async def test_a_server_that_never_answers_the_probe_costs_the_patience_only() -> None:
    async with scripted("mute_on_probe", probe_timeout_seconds=0.3) as client:
        assert client.era is Era.LEGACY
        assert client.verdict.evidence[0].outcome == "no answer within 0.3 s"


@pytest.mark.parametrize("script", ["legacy", "deaf_to_levels"])
async def test_a_server_that_refuses_or_ignores_the_log_level_connects_all_the_same(
    script: str,
) -> None:
    async with scripted(script, log_level="info") as client:
        assert text(await client.call_tool("x")) == "done"


async def test_a_modern_server_that_was_only_slow_is_modern() -> None:
    async with scripted("slow_modern", probe_timeout_seconds=0.2) as client:
        assert client.era is Era.MODERN
        assert text(await client.call_tool("x")) == "done"


async def test_a_connection_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(ConnectError, match=r"no answer within 0\.5 s"):
        async with scripted("slow_modern", connect_timeout_seconds=0.5, mode="modern"):
            pass


async def test_nonsense_hits_only_the_call_that_it_answers() -> None:
    faults: list[Any] = []

    async def handle(message: Any) -> None:
        faults.append(message)

    async with scripted("malformed", message_handler=handle) as client:
        with pytest.raises(ProtocolViolation, match="its result is not an object"):
            await client.call_tool("bad")
        assert text(await client.call_tool("good")) == "done"
    assert any(isinstance(fault, ValueError) for fault in faults)


async def test_questions_that_are_wrong_fail_their_call() -> None:
    async with scripted("bad_rounds", **EVERYTHING) as client:
        for name, kind, sentence in (
            ("neither", ProtocolViolation, "neither inputRequests nor requestState"),
            ("unknown", ProtocolViolation, "unknown method 'ping'"),
            ("params", ProtocolViolation, "invalid params"),
            ("url", QuestionRefused, "without a usable URL"),
            ("endless", RoundsExceeded, "still asks after 10 rounds"),
        ):
            with pytest.raises(kind, match=sentence):
                await client.call_tool(name)


async def test_the_last_questions_are_on_the_error_when_the_rounds_run_out() -> None:
    async with scripted(
        "bad_rounds", input_required_max_rounds=2, **EVERYTHING
    ) as client:
        with pytest.raises(RoundsExceeded) as caught:
            await client.call_tool("endless")
        assert caught.value.questions == ({"method": "roots/list"},)


async def test_a_user_who_said_no_is_asked_once() -> None:
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="decline")

    async with scripted("insists", elicitation_callback=answer) as client:
        with pytest.raises(QuestionDeclined, match="'decline' twice"):
            await client.call_tool("x")
    assert asked == ["Yes?"]


async def test_vendor_notifications_reach_the_handler_raw() -> None:
    heard: list[Any] = []

    async def handle(message: Any) -> None:
        heard.append(message)

    async with scripted("vendor", message_handler=handle) as client:
        await client.call_tool("x")
    assert heard == [RawNotification("notifications/acme/thing", {"a": 1})]


async def test_a_slow_handler_blocks_no_call_and_loses_no_change() -> None:
    gate, heard, dropped = anyio.Event(), list[str](), list[Any]()

    async def handle(message: Any) -> None:
        await gate.wait()
        heard.append(type(message).__name__)

    async with scripted(
        "flood", message_handler=handle, on_event=dropped.append
    ) as client:
        assert text(await client.call_tool("x")) == "done"
        gate.set()
    assert heard.count("ToolListChangedNotification") >= 1
    assert heard[-1] == "ToolListChangedNotification"
    assert any(
        getattr(event, "what", "") == "notifications/message" for event in dropped
    )


async def test_messages_of_any_size_pass() -> None:
    async with scripted("huge") as client:
        assert (
            text(await client.call_tool("x", {"text": "ü" * 1_000_000}))
            == "é" * 3_000_000
        )


async def test_a_pin_of_either_era_is_kept() -> None:
    async with scripted("legacy", mode="2025-06-18") as client:
        assert client.protocol_version == "2025-11-25"
        assert client.verdict.evidence[0].what == "initialize"
    async with scripted("modern", mode="2026-07-28") as client:
        assert client.verdict.evidence[0].outcome == "pinned; nothing was asked"
        assert text(await client.call_tool("x")) == "done"
    with pytest.raises(ConnectError, match="the server is legacy"):
        async with scripted("legacy", mode="modern"):
            pass


async def test_a_client_that_is_closed_says_so() -> None:
    async with scripted("modern") as client:
        pass
    with pytest.raises(ConnectionLost, match="the client is closed"):
        await client.call_tool("x")
    with pytest.raises(RuntimeError, match="entered before"):
        await client.__aenter__()
    with pytest.raises(ConnectionLost, match="not connected"):
        await Client(["x"]).call_tool("x")


async def test_a_client_may_be_closed_in_another_task_than_it_was_opened_in() -> None:
    manager = scripted("modern")
    client: list[Client] = []

    async def open_it() -> None:
        client.append(await manager.__aenter__())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(open_it)
    assert text(await client[0].call_tool("x")) == "done"

    async def close_it() -> None:
        await manager.__aexit__(None, None, None)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(close_it)


async def test_an_error_in_the_block_comes_out_as_it_is() -> None:
    with pytest.raises(KeyError):
        async with scripted("modern"):
            raise KeyError


async def test_a_connect_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with anyio.move_on_after(0.4):
        async with scripted("slow_modern", {"LOCK": str(lock)}, mode="modern"):
            pass
    if lock.exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int(lock.read_text()), 0)


async def test_errors_are_the_sdks_and_ours_and_python_s() -> None:
    assert issubclass(CallTimeout, (SDKError, TimeoutError))
    assert issubclass(CallbackError, SDKError)
