"""Run something asynchronous to its end, and end it well when it is interrupted.

Ctrl-C cancels it, so that the server is ended politely before the command is. A
TERM or HUP does the same, with the status that shells have for it.
"""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import anyio

from mcp_anyera.cli.trouble import Ended
from mcp_anyera.transports.background import plain

T = TypeVar("T")

_ENDING: Final[tuple[signal.Signals, ...]] = tuple(
    one for one in signal.Signals if one.name in {"SIGTERM", "SIGHUP"}
)


def run_async(function: Callable[[], Awaitable[T]]) -> T:
    """Run a function and return what it returns.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed; everything was closed before.
        Ended: Another signal came; the same.
    """
    # What the library has to say comes as events, and is shown where it belongs.
    logging.getLogger("mcp_anyera").addHandler(logging.NullHandler())
    try:
        return anyio.run(_watched, function)
    except BaseExceptionGroup as group:
        # A task group wraps what is one exception.
        raise plain(group) from None


async def _watched(function: Callable[[], Awaitable[T]]) -> T:
    caught: list[int] = []
    result: list[T] = []
    async with anyio.create_task_group() as tasks:
        if sys.platform != "win32":
            tasks.start_soon(_watch, tasks.cancel_scope, caught)
        result.append(await function())
        tasks.cancel_scope.cancel()
    if caught:
        raise Ended(128 + caught[0])
    return result[0]


async def _watch(scope: anyio.CancelScope, caught: list[int]) -> None:
    with anyio.open_signal_receiver(*_ENDING) as signals:
        async for number in signals:
            caught.append(number)
            scope.cancel()
            return
