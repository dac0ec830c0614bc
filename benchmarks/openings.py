"""Connect time to servers of every kind, beside ``mcp.Client`` of the same SDK.

Usage: ``python benchmarks/openings.py`` in an environment with SDK 2.x. Each server is
a process of its own; the figure is the median from nothing to the first listed tool,
taken in turns.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from mcp import Client as SdkClient
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcp_anyera import Client, EraMemory

STUB = str(Path(__file__).with_name("opening_stub.py"))
KINDS = {
    "modern": 9,
    "legacy": 9,
    "silent on the probe": 2,
    "exits on the probe": 5,
    "slow to start (3 s), modern": 2,
}
Connect = Callable[[str], Awaitable[None]]


def parameters(kind: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=[STUB, kind.split(maxsplit=1)[0]]
    )


async def ours(kind: str) -> None:
    async with Client(parameters(kind)) as client:
        await client.list_tools()


async def theirs(kind: str) -> None:
    async with SdkClient(stdio_client(parameters(kind))) as client:
        await client.list_tools()


def remembering() -> Connect:
    memory = EraMemory()

    async def connect(kind: str) -> None:
        async with Client(parameters(kind), memory=memory) as client:
            await client.list_tools()

    return connect


async def seconds(connect: Connect, kind: str) -> float | None:
    began = time.perf_counter()
    try:
        with anyio.fail_after(60):
            await connect(kind)
    except Exception:  # noqa: BLE001 - whatever it is, there is no connection
        return None
    return time.perf_counter() - began


async def measure(kind: str, times: int, connect: Connect) -> None:
    pairs = [
        (await seconds(connect, kind), await seconds(theirs, kind))
        for _ in range(times)
    ]
    mine = statistics.median([pair[0] for pair in pairs if pair[0] is not None])
    known = [pair[1] for pair in pairs if pair[1] is not None]
    other = f"{statistics.median(known):.3f} s" if known else "fails"
    ratio = f"{mine / statistics.median(known):.2f} ×" if known else "–"
    name = kind if connect is ours else f"{kind}, remembered"
    print(f"| {name} | {mine:.3f} s | {other} | {ratio} |", flush=True)


async def main() -> None:
    print("| server | mcp_anyera.Client | mcp.Client | ratio |\n|---|--:|--:|--:|")
    for kind, times in KINDS.items():
        await measure(kind, times, ours)
    for kind in ("modern", "legacy", "silent on the probe", "exits on the probe"):
        known: Any = remembering()
        await seconds(known, kind)
        await measure(kind, 2 if kind.startswith("silent") else 5, known)


if __name__ == "__main__":
    anyio.run(main)
