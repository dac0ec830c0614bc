"""Connections that come and go: nothing of them is left."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_anyera import Client
from tests.interop.faces import EVERYTHING
from tests.interop.peers import LEGACY, MODERN, shared
from tests.interop.scripting import scripted_process

pytestmark = [
    pytest.mark.interop,
    pytest.mark.timeout(180),
    pytest.mark.skipif(sys.platform != "linux", reason="counts what /proc shows"),
]
TIMES = 200


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def left() -> tuple[int, int, int]:
    """Return how many tasks, children and descriptors this process has."""
    threads = Path("/proc/self/task").iterdir()
    children = [len((one / "children").read_text().split()) for one in threads]
    descriptors = sum(1 for _ in Path("/proc/self/fd").iterdir())
    return len(asyncio.all_tasks()), sum(children), descriptors


async def connect(server: Any, **options: Any) -> None:
    async with Client(server, **options) as client:
        await client.call_tool("echo", {"text": "x"})


@pytest.mark.parametrize("name", ["legacy", "modern", LEGACY, MODERN])
async def test_hundreds_of_connections_leave_nothing_behind(name: str) -> None:
    server = shared(name) if name in {LEGACY, MODERN} else scripted_process(name)
    await connect(server, **EVERYTHING)
    before = left()
    for _ in range(TIMES):
        await connect(server, **EVERYTHING)
    await settled(before)


async def test_connections_that_are_given_up_leave_nothing_behind() -> None:
    before = left()
    for number in range(20):
        with anyio.move_on_after(number / 100), suppress(TimeoutError):
            await asyncio.wait_for(
                connect(scripted_process("slow_modern")), number / 50
            )
    await settled(before)


async def test_connections_that_fail_leave_nothing_behind() -> None:
    before = left()
    for _ in range(10):
        with suppress(ConnectionError):
            await connect(scripted_process("dies_always"))
        with suppress(ConnectionError):
            await connect("http://127.0.0.1:9/mcp")
    await settled(before)


async def settled(before: tuple[int, int, int]) -> None:
    """Wait until nothing is there that was not there before."""
    with anyio.fail_after(10):
        while any(now > then for now, then in zip(left(), before, strict=True)):
            await anyio.sleep(0.05)
