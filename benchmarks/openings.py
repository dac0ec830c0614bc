"""Connect time to servers of every kind, beside ``mcp.Client`` of the same SDK.

``python openings.py SCALE`` in an environment with SDK 2.x prints JSON. Each server is
a process of its own; the figure is the median from nothing to the first listed tool,
in seconds, taken in turns.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
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
    name, *rest = kind.split()
    logs = [word for word in rest if word.startswith("/")]
    return StdioServerParameters(command=sys.executable, args=[STUB, name, *logs])


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


async def measure(kind: str, times: int, connect: Connect) -> dict[str, float | None]:
    pairs = [
        (await seconds(connect, kind), await seconds(theirs, kind))
        for _ in range(times)
    ]
    ours_took = [pair[0] for pair in pairs if pair[0] is not None]
    theirs_took = [pair[1] for pair in pairs if pair[1] is not None]
    return {
        "Client": statistics.median(ours_took),
        "mcp.Client": statistics.median(theirs_took) if theirs_took else None,
    }


async def asked_first(kind: str) -> int:
    """Return what a remembered server is asked before the first list and handshake."""
    known = remembering()
    with tempfile.NamedTemporaryFile() as log:
        for _ in range(2):
            Path(log.name).write_text("")
            await known(f"{kind} {log.name}")
        methods = Path(log.name).read_text().split()
    before = methods[: methods.index("tools/list")]
    return len([method for method in before if method == "server/discover"])


async def main(scale: float) -> None:
    found: dict[str, Any] = {}
    for kind, times in KINDS.items():
        some = max(2, round(times * scale))
        found[kind] = await measure(kind, some, ours)
    for kind in ("modern", "legacy", "silent on the probe", "exits on the probe"):
        known: Any = remembering()
        await seconds(known, kind)
        some = 2 if kind.startswith("silent") else max(2, round(5 * scale))
        found[f"{kind}, remembered"] = await measure(kind, some, known)
    extra = [await asked_first(kind) for kind in ("modern", "legacy")]
    print(json.dumps({"openings, s": found, "probes of a remembered server": extra}))


if __name__ == "__main__":
    anyio.run(main, float(sys.argv[1]))
