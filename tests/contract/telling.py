"""Rows B20 to B28 and B37: clocks, notifications, older revisions."""

from __future__ import annotations

import logging
from itertools import pairwise
from typing import Any

import anyio

from mcp_anyera import CallTimeout, QuestionRefused, RawNotification
from mcp_anyera._sdk import types
from mcp_anyera.engine import NoLogLevel
from tests.contract.asking import failure
from tests.contract.table import Cell, row
from tests.interop.faces import EVERYTHING, elicit, text, until


@row("B20", "a human takes longer than the machine may", "one then two")
async def slow_human(cell: Cell) -> Any:
    async def answer(context: Any, params: Any) -> Any:
        await anyio.sleep(0.7)
        return await elicit(context, params)

    options = {"elicitation_callback": answer, "read_timeout_seconds": 0.5}
    async with cell.client(**options) as client:
        return await failure(client, "two_rounds")


@row("B21", "a machine takes too long", ["CallTimeout", True, -32001, "x"])
async def slow_machine(cell: Cell) -> Any:
    async with cell.client() as client:
        error: Any = None
        try:
            await client.call_tool("slow", {"seconds": 60}, read_timeout_seconds=0.2)
        except TimeoutError as caught:
            error = caught
        assert isinstance(error, CallTimeout)
        said = await failure(client, "echo", text="x")
    return [type(error).__name__, "0.2 s" in str(error), error.code, said]


@row("B22", "progress over rounds", True)
async def progress(cell: Cell) -> Any:
    seen: list[float] = []

    async def report(value: float, total: float | None, message: str | None) -> None:
        seen.append(value)

    async with cell.client(**EVERYTHING) as client:
        arguments = {"steps": 3}
        await client.call_tool("count_and_ask", arguments, progress_callback=report)
    return len(seen) >= 6 and all(a < b for a, b in pairwise(seen))


class Ear:
    """Hears log messages and can be waited for."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def __call__(self, params: Any) -> None:
        self.heard.append(params.level)

    async def until(self, count: int) -> list[str]:
        await until(lambda: len(self.heard) >= count)
        return list(self.heard)


@row("B23", "a log level is wanted", ["warning", "error"])
async def level(cell: Cell) -> Any:
    ear = Ear()
    async with cell.client(logging_callback=ear, log_level="warning") as client:
        await client.call_tool("chatty")
        return await ear.until(2)


@row("B24", "the log level is changed later", ["error", "info", "warning", "error"])
async def later_level(cell: Cell) -> Any:
    ear = Ear()
    async with cell.client(logging_callback=ear, log_level="error") as client:
        await client.call_tool("chatty")
        await ear.until(1)
        await client.set_logging_level("info")
        await client.call_tool("chatty")
        return await ear.until(4)


@row("B25", "a logging callback and no level", True)
async def no_level(cell: Cell) -> Any:
    events: list[Any] = []
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("mcp_anyera")
    logger.addHandler(handler)
    try:
        async with cell.client(logging_callback=Ear(), on_event=events.append) as one:
            await one.call_tool("echo", {"text": "x"})
    finally:
        logger.removeHandler(handler)
    told = sum(isinstance(event, NoLogLevel) for event in events)
    warned = sum("pass log_level=" in line for line in lines)
    # A legacy server decides by itself, so there is nothing to warn of.
    expected = 1 if cell.era == "modern" else 0
    return [told, warned] == [expected, expected]


@row("B26", "lists and resources change", ["ResourceUpdated", "ToolListChanged"])
async def changes(cell: Cell) -> Any:
    heard: set[str] = set()

    async def handle(message: Any) -> None:
        heard.add(type(message).__name__.removesuffix("Notification"))

    async with cell.client(message_handler=handle) as client:
        await client.subscribe_resource("note://plain")
        await client.call_tool("touch", {"uri": "note://plain"})
        await client.call_tool("add_tool")
        await until(lambda: {"ResourceUpdated", "ToolListChanged"} <= heard)
    return sorted(heard)


@row("B27", "a vendor's own notification", ["notifications/acme/thing", {"a": 1}])
async def vendor(cell: Cell) -> Any:
    heard: list[RawNotification] = []

    async def handle(message: Any) -> None:
        if isinstance(message, RawNotification):
            heard.append(message)

    async with cell.client(message_handler=handle) as client:
        await client.call_tool("vendor")
        await until(lambda: bool(heard))
    return [heard[0].method, heard[0].params]


@row("B28", "a handler is slow, or raises", ["x", True, True])
async def slow_handler(cell: Cell) -> Any:
    gate, heard, changed = anyio.Event(), list[str](), anyio.Event()

    async def handle(message: Any) -> None:
        await gate.wait()
        if isinstance(message, types.LoggingMessageNotification):
            heard.append(message.params.data)
            raise RuntimeError  # noqa: TRY004 - it stands for a fault of the user's
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    async with cell.client(message_handler=handle, log_level="info") as client:
        await client.call_tool("flood", {"messages": 50})
        said = text(await client.call_tool("echo", {"text": "x"}))
        gate.set()
        with anyio.fail_after(10):
            await changed.wait()
        await until(lambda: len(heard) >= 50)
    return [said, heard == [f"message {n}" for n in range(50)], changed.is_set()]


@row(
    "B37",
    "an answer that the negotiated revision cannot carry",
    [True, True],
    eras=("legacy",),
)
async def older(cell: Cell) -> Any:
    def sampler(blocks: int) -> Any:
        async def sample(context: Any, params: Any) -> Any:
            content: list[Any] = [types.TextContent(type="text", text="short")] * blocks
            return types.CreateMessageResultWithTools(
                role="assistant", content=content, model="none"
            )

        return sample

    said: list[Any] = []
    for blocks in (1, 2):
        options = {"mode": "2025-06-18", "sampling_callback": sampler(blocks)}
        async with cell.client(**options) as client:
            said.append(await failure(client, "summarise", text="x"))
    return [said[0] == "summary: short", isinstance(said[1], QuestionRefused)]
