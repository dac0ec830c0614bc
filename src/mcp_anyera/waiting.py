"""Requests that wait for their answers.

The task that sent a request also runs its progress callback, so that progress comes in
order and before the result, and a slow callback delays nobody else.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import anyio

from mcp_anyera._sdk.link import OnProgress
from mcp_anyera.engine import Failure, Fault, ToClient, jsonrpc

logger: logging.Logger = logging.getLogger("mcp_anyera")


@dataclass(slots=True, eq=False)
class Waiter:
    """A request that waits for its answer."""

    on_progress: OnProgress | None
    event: anyio.Event = field(default_factory=anyio.Event)
    progress: deque[dict[str, Any]] = field(default_factory=deque[dict[str, Any]])
    answer: ToClient | None = None

    def take(self, effect: ToClient) -> None:
        """Take the answer, unless there is one."""
        if self.answer is None:
            self.answer = effect
            self.event.set()

    async def wait(self) -> ToClient:
        """Run progress callbacks as they come, then return the answer."""
        while True:
            while self.progress and self.on_progress is not None:
                await _report(self.on_progress, self.progress.popleft())
            if self.answer is not None:
                return self.answer
            if self.event.is_set():
                self.event = anyio.Event()
            await self.event.wait()


async def _report(on_progress: OnProgress, params: dict[str, Any]) -> None:
    try:
        await on_progress(
            params["progress"], params.get("total"), params.get("message")
        )
    except Exception:
        logger.exception("a progress callback raised; the call goes on")


class Waiting:
    """The requests of one connection that are open."""

    def __init__(self) -> None:
        self._waiters: dict[int | str, Waiter] = {}

    def __len__(self) -> int:
        """Return how many are open."""
        return len(self._waiters)

    def add(self, call_id: int | str, on_progress: OnProgress | None) -> Waiter:
        """Begin to wait for the answer to a request."""
        waiter = self._waiters[call_id] = Waiter(on_progress)
        return waiter

    def remove(self, call_id: int | str) -> None:
        """Wait no longer."""
        del self._waiters[call_id]

    def answer(self, effect: ToClient) -> None:
        """Take an answer; only the first one counts."""
        waiter = self._waiters.get(effect.message["id"])
        if waiter is not None:
            waiter.take(effect)

    def progress(self, params: dict[str, Any]) -> None:
        """Take a progress notification, for whoever has asked for it."""
        token = params.get("progressToken")
        waiter = self._waiters.get(token) if jsonrpc.is_id(token) else None
        if waiter is not None and waiter.on_progress is not None:
            waiter.progress.append(params)
            waiter.event.set()

    def fail(self, reason: str) -> None:
        """Answer every request that has no answer yet with a failure."""
        failure = Failure(Fault.LOST, reason)
        for waiter in self._waiters.values():
            waiter.take(ToClient(jsonrpc.error(None, failure.as_error()), failure))
