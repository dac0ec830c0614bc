"""One task that owns a connection, whoever opened it.

Task groups must be left in the task that entered them, and users open a client
in one task and close it in another. So each connection has a task of its own,
which enters and leaves everything; callers only wait for it, and see plain
exceptions instead of groups.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, cast

import anyio

Body = Callable[[Callable[[], None], anyio.Event], Awaitable[None]]
"""Calls its first argument when it is ready, and ends soon after the event."""

logger: logging.Logger = logging.getLogger("mcp_anyera")

STOP_TIMEOUT: Final = 15.0
"""Seconds for a body to end by itself; longer than every wait inside one."""


class Background:
    """Runs a body in a task of its own, on asyncio and on trio."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._ready = anyio.Event()
        self._done = anyio.Event()
        self._stop = anyio.Event()
        self._scope = anyio.CancelScope()
        self._error: BaseException | None = None
        self._task: object = None

    async def start(self) -> None:
        """Start the body and wait until it is ready.

        Raises:
            Exception: Whatever the body raised before it was ready.
        """
        self._task = _spawn(self._run)
        try:
            await self._ready.wait()
        except BaseException:
            self._scope.cancel()
            await self.stop()
            raise
        if self._error is not None:
            raise self._error

    async def stop(self) -> None:
        """Ask the body to end, and wait until it has cleaned up."""
        self._stop.set()
        with anyio.move_on_after(STOP_TIMEOUT, shield=True):
            await self._done.wait()
        self._scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._done.wait()

    async def _run(self) -> None:
        try:
            with self._scope:
                await self._body(self._ready.set, self._stop)
        except BaseException as error:
            self._error = plain(error)
            if self._ready.is_set() and isinstance(self._error, Exception):
                logger.exception("a connection has failed", exc_info=self._error)
            if not isinstance(error, Exception):
                raise
        finally:
            self._ready.set()
            self._done.set()


def plain(error: BaseException) -> BaseException:
    """Return the one exception inside nested groups, or the error as it is."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    group = cast("BaseExceptionGroup[BaseException]", error)
    return plain(group.exceptions[0]) if len(group.exceptions) == 1 else group


def _spawn(function: Callable[[], Coroutine[Any, Any, None]]) -> object:
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        return trio.lowlevel.spawn_system_task(function)
    return asyncio.get_running_loop().create_task(function())
