"""Dual-era servers with a tool that calls the client back, as in the legacy era."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest

from mcp_anyera import EraMemory
from mcp_anyera._sdk import SDKError
from mcp_anyera.engine import Downgraded
from mcp_anyera.eras import Era
from tests.interop.faces import ANSWERS, EVERYTHING, connected, is_error, text
from tests.interop.peers import DUAL, MODERN

pytestmark = pytest.mark.interop
STDIO = (DUAL, "ts-2.4")
PATIENT: dict[str, Any] = {**EVERYTHING, "probe_timeout_seconds": 20}


@pytest.mark.parametrize("peer", STDIO)
async def test_on_stdio_the_process_is_started_again_as_legacy(peer: str) -> None:
    events: list[Any] = []
    options: dict[str, Any] = {**PATIENT, "on_event": events.append}
    async with connected("client", peer, **options) as client:
        assert client.era is Era.MODERN
        assert text(await client.call_tool("two_rounds")) == "one then two"
        assert text(await client.call_tool("old_way")) == "card for Ada"
        assert client.era is Era.LEGACY
        assert text(await client.call_tool("old_way")) == "card for Ada"
        assert text(await client.call_tool("echo", {"text": "x"})) == "x"
    told = [event.tool for event in events if isinstance(event, Downgraded)]
    assert told == ["old_way"]


async def test_over_http_a_legacy_session_is_opened_beside_the_modern_one() -> None:
    events: list[Any] = []
    options: dict[str, Any] = {**PATIENT, "on_event": events.append}
    async with connected("client", f"{DUAL}@http", **options) as client:
        for _ in range(2):
            assert text(await client.call_tool("old_way")) == "card for Ada"
        assert client.era is Era.MODERN
        assert text(await client.call_tool("two_rounds")) == "one then two"
    told = [event.tool for event in events if isinstance(event, Downgraded)]
    assert told == ["old_way"]


async def test_tools_of_fastmcp_4_that_call_back_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(ANSWERS, "value", "Ada")
    async with connected("client", "fastmcp-4@http", **PATIENT) as client:
        assert client.era is Era.MODERN
        card = await client.call_tool("issue_card", {"book": "Dune"})
        assert text(card) == "card for Ada: Dune"
        assert text(await client.call_tool("two_rounds")) == "Ada then Ada"
        assert text(await client.call_tool("echo", {"text": "x"})) == "x"


async def test_on_stdio_a_call_that_is_at_work_is_not_cut_off() -> None:
    said: list[str] = []

    async def call(name: str, **arguments: Any) -> None:
        said.append(text(await client.call_tool(name, arguments)))

    async with connected("client", DUAL, **PATIENT) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(call, "slow", seconds=0.5))
            await anyio.sleep(0.1)
            tasks.start_soon(call, "old_way")
            tasks.start_soon(call, "old_way")
    assert said[0] == "slept"
    assert said[1:] == ["card for Ada"] * 2


@pytest.mark.parametrize("peer", [DUAL, f"{DUAL}@http", "ts-2.4"])
async def test_whoever_cannot_afford_that_it_begins_twice_gets_the_error(
    peer: str,
) -> None:
    options: dict[str, Any] = {**PATIENT, "no_back_channel": "raise"}
    async with connected("client", peer, **options) as client:
        if peer == "ts-2.4":
            assert is_error(await client.call_tool("old_way"))
            return
        with pytest.raises(SDKError, match="no back-channel") as caught:
            await client.call_tool("old_way")
        assert "no_back_channel='legacy'" in caught.value.__notes__[0]


@pytest.mark.parametrize("peer", [MODERN, f"{MODERN}@http"])
async def test_a_modern_only_server_keeps_its_error_and_goes_on(peer: str) -> None:
    async with connected("client", peer, **PATIENT) as client:
        with pytest.raises(SDKError, match="no back-channel"):
            await client.call_tool("old_way")
        assert text(await client.call_tool("two_rounds")) == "one then two"
        assert client.era is Era.MODERN


@pytest.mark.parametrize("peer", [DUAL, f"{DUAL}@http"])
async def test_the_tool_is_remembered(peer: str) -> None:
    memory = EraMemory()
    eras: list[Era] = []
    for _ in range(2):
        events: list[Any] = []
        options: dict[str, Any] = {**PATIENT, "on_event": events.append}
        async with connected("client", peer, memory=memory, **options) as client:
            eras.append(client.era)
            assert text(await client.call_tool("old_way")) == "card for Ada"
    assert eras == [Era.MODERN, Era.MODERN]
    (entry,) = memory.servers()
    assert (entry["era"], entry["tools"]) == ("modern", ["old_way"])
