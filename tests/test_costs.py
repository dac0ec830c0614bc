"""What a call and a connection take, counted, so that no noise hides a regression."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_anyera import Client, accept
from mcp_anyera.connection import Connection
from mcp_anyera.engine import Engine
from mcp_anyera.transports import stdio
from mcp_anyera.transports.http import channel
from mcp_anyera.transports.http import wire as http_wire

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
CALLS = 20
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


def stub(era: str) -> list[str]:
    return [sys.executable, str(BENCHMARKS / "stub.py"), era]


@asynccontextmanager
async def http_stub(era: str) -> AsyncGenerator[str]:
    command = [sys.executable, str(BENCHMARKS / "http_stub.py"), era]
    async with await anyio.open_process(command, stderr=None) as process:
        assert process.stdout is not None
        yield (await process.stdout.receive()).decode().split()[-1]
        process.kill()


def counted(
    monkeypatch: pytest.MonkeyPatch, seen: Counter[str], owner: Any, name: str
) -> None:
    plain: Callable[..., Any] = getattr(owner, name)

    def counting(*args: Any, **options: Any) -> Any:
        seen[name] += 1
        return plain(*args, **options)

    monkeypatch.setattr(owner, name, counting)


@contextmanager
def counters(monkeypatch: pytest.MonkeyPatch) -> Generator[Counter[str]]:
    """Count what the engine, the wires and the connection do."""
    seen = Counter[str]()
    with monkeypatch.context() as patched:
        for name in ("receive_from_client", "receive_from_server", "answer", "tick"):
            counted(patched, seen, Engine, name)
        counted(patched, seen, stdio, "to_json")
        counted(patched, seen, stdio, "from_json")
        counted(patched, seen, http_wire, "to_json")
        counted(patched, seen, channel, "from_json")
        counted(patched, seen, Connection, "to_client")
        yield seen


@ERAS
@pytest.mark.parametrize("over_http", [False, True], ids=["stdio", "http"])
async def test_a_call_is_two_engine_steps_one_message_written_and_one_parsed(
    era: str, over_http: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with http_stub(era) as url:
        async with Client(url if over_http else stub(era)) as client:
            await client.call_tool("echo", {})
            with counters(monkeypatch) as seen:
                for _ in range(CALLS):
                    await client.call_tool("echo", {})
    assert seen["receive_from_client"] == CALLS
    assert seen["receive_from_server"] == CALLS
    assert seen["to_client"] == CALLS
    assert seen["tick"] == 0
    assert seen["to_json"] == CALLS
    assert seen["from_json"] == CALLS


@ERAS
async def test_a_round_is_two_engine_steps_more(
    era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(context: object, params: object) -> Any:
        del context, params
        return accept({"name": "Ada"})

    async with Client(stub(era), elicitation_callback=answer) as client:
        await client.call_tool("one_round", {})
        with counters(monkeypatch) as seen:
            for _ in range(CALLS):
                await client.call_tool("one_round", {})
    assert seen["receive_from_client"] == CALLS
    assert seen["receive_from_server"] == 2 * CALLS
    assert seen["answer"] == CALLS
    assert seen["to_json"] == seen["from_json"] == 2 * CALLS


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@ERAS
async def test_a_call_on_stdio_takes_few_turns_of_the_event_loop(
    era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Client(stub(era)) as client:
        await client.call_tool("echo", {})
        seen = Counter[str]()
        with monkeypatch.context() as patched:
            counted(patched, seen, asyncio.BaseEventLoop, "_run_once")
            for _ in range(CALLS):
                await client.call_tool("echo", {})
    # The answer wakes the reader, the reader wakes the caller; five at most with what
    # the SDK's session and the watch over the process add now and then.
    assert seen["_run_once"] <= 5 * CALLS


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@ERAS
async def test_a_connection_keeps_few_tasks_and_calls_leave_none(era: str) -> None:
    async with http_stub(era) as url:
        before = len(asyncio.all_tasks())
        async with Client(url) as client:
            await client.call_tool("echo", {})
            first = len(asyncio.all_tasks())
            for _ in range(CALLS):
                await client.call_tool("echo", {})
            assert len(asyncio.all_tasks()) <= first
        assert first - before <= 8
