"""A session on plain messages.

The SDK's own session refuses what it cannot read, and the server that it refuses
is the one that has to be looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio

from mcp_anyera.engine import (
    CallOptions,
    Engine,
    EngineConfig,
    Event,
    Question,
    ToClient,
    jsonrpc,
)
from mcp_anyera.transports.pump import Pump
from mcp_anyera.transports.wire import Wire

FLUSH_TIMEOUT: Final = 0.5
"""Seconds at the end for what was already said to go out."""


class PlainSession:
    """The client side of an engine: asks, and waits for the answer."""

    def __init__(
        self, wire: Wire, config: EngineConfig, on_event: Callable[[Event], None]
    ) -> None:
        self.pump: Pump = Pump(Engine(config), wire, self)
        self._on_event = on_event
        self._ids = itertools.count(1)
        self._waiting: dict[int | str, anyio.Event] = {}
        self._answers: dict[int | str, ToClient] = {}

    async def request(
        self, method: str, params: dict[str, Any], timeout: float | None = None
    ) -> ToClient:
        """Send a request and return what answers it, whatever that is."""
        name = next(self._ids)
        event = self._waiting[name] = anyio.Event()
        self._say(jsonrpc.request(name, method, params), CallOptions(timeout))
        await event.wait()
        return self._answers.pop(name)

    def notify(self, method: str) -> None:
        """Send a notification without params."""
        self._say(jsonrpc.notification(method, None), CallOptions())

    def _say(self, message: dict[str, Any], options: CallOptions) -> None:
        now = anyio.current_time()
        self.pump.perform(self.pump.engine.receive_from_client(message, now, options))

    # -- what the pump needs -------------------------------------------------------

    def to_client(self, effect: ToClient) -> None:
        """Take an answer; nobody waits for notifications here."""
        name = effect.message.get("id")
        event = self._waiting.pop(name, None) if jsonrpc.is_id(name) else None
        if event is not None:
            self._answers[effect.message["id"]] = effect
            event.set()

    def ask(self, question: Question) -> None:
        """Never called: nothing is declared, so the engine refuses every question."""
        raise AssertionError(question)

    def withdraw(self, question: Question, reason: str) -> None:
        """Never called, for the same reason."""
        raise AssertionError(question, reason)

    def notice(self, event: Event) -> None:
        """Pass an event on."""
        self._on_event(event)

    def fault(self, error: Exception) -> None:
        """Nothing: the tap has heard it too."""

    def closed(self) -> None:
        """Nothing: the engine has answered every open request."""


@asynccontextmanager
async def plain_session(
    wire: Wire, config: EngineConfig, on_event: Callable[[Event], None]
) -> AsyncGenerator[PlainSession]:
    """Open a wire and put a session on it.

    Raises:
        OSError: The server cannot be started.
    """
    async with wire, anyio.create_task_group() as tasks:
        session = PlainSession(wire, config, on_event)
        session.pump.start(tasks)
        try:
            yield session
        finally:
            now = anyio.current_time()
            session.pump.perform(session.pump.engine.client_closed(now))
            with anyio.CancelScope(shield=True):
                await session.pump.flush(FLUSH_TIMEOUT)
            session.pump.close()
            tasks.cancel_scope.cancel()
