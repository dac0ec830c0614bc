"""One client, one server, and the engine between them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, Protocol

import anyio

from mcp_anyera.bridge.options import BridgeOptions
from mcp_anyera.engine import (
    Connected,
    Dropped,
    Engine,
    Event,
    FellBack,
    Message,
    Question,
    Refused,
    Reopened,
    Restarted,
    ToClient,
    jsonrpc,
)
from mcp_anyera.transports.pump import Pump
from mcp_anyera.transports.wire import Wire, recollection

logger: logging.Logger = logging.getLogger("mcp_anyera.bridge")

MOST_FAULTS: Final = 10
"""Things of a server that are no messages, after which the log has enough."""
FLUSH_TIMEOUT: Final = 0.5
"""Seconds at the end for what was already said to go out."""


class Client(Protocol):
    """Whoever hears what comes of it. No method may wait."""

    def hear(self, effect: ToClient) -> None:
        """Take one message."""

    def server_gone(self) -> None:
        """Hear that the server is gone; every open call has had its answer."""


class Session:
    """Carries one client's messages to a server of its own, and back."""

    def __init__(self, options: BridgeOptions, wire: Wire, client: Client) -> None:
        """Prepare; nothing happens before `run`.

        Args:
            options: What the bridge was told.
            wire: The way to the server, not yet entered.
            client: Who hears what comes of it.
        """
        self._wire = wire
        self._client = client
        self._faults = 0
        self._calls = options.call_options
        self._known = recollection(wire, options.memory)
        self.engine: Engine = Engine(options.config(wire, self._known))
        self._pump = Pump(self.engine, wire, self)

    async def run(self, ready: Callable[[], None], stop: anyio.Event) -> None:
        """Start or reach the server, serve until told to stop, end the server.

        Args:
            ready: Is called when `take` may be.
            stop: Ends it.

        Raises:
            OSError: The server cannot be started.
        """
        try:
            async with self._wire, anyio.create_task_group() as tasks:
                self._pump.start(tasks)
                ready()
                await stop.wait()
                self._pump.perform(self.engine.client_closed(anyio.current_time()))
                await self._pump.flush(FLUSH_TIMEOUT)
                tasks.cancel_scope.cancel()
        finally:
            self._pump.close()

    def take(self, message: object) -> None:
        """Take one message of the client."""
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("client: %s", _outline(message))
        now = anyio.current_time()
        self._pump.perform(self.engine.receive_from_client(message, now, self._calls))

    # -- the client side of the pump -------------------------------------------------

    def to_client(self, effect: ToClient) -> None:
        """Hand a message over."""
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("server: %s", _outline(effect.message))
        self._client.hear(effect)

    def ask(self, question: Question) -> None:
        """Never called: the client is asked in its own words."""
        raise AssertionError(question)

    def withdraw(self, question: Question, reason: str) -> None:
        """Never called, for the same reason."""
        raise AssertionError(question, reason)

    def notice(self, event: Event) -> None:
        """Log what happened, and remember it where that is wanted.

        Events hold no answers, no state and no credentials.
        """
        if self._known is not None:
            self._known.hear(event)
        match event:
            case Connected(verdict):
                steps = "; ".join(map(str, verdict.evidence))
                text = f"connected: {verdict.era.value}, {verdict.revision} ({steps})"
                logger.info("%s", text)
            case Restarted() | Reopened() | FellBack() | Refused():
                logger.info("%s: %s", type(event).__name__.lower(), event.reason)
            case Dropped(what, reason):
                logger.debug("dropped %s: %s", what, reason)
            case _:
                logger.debug("%s", event)

    def fault(self, error: Exception) -> None:
        """Log what is no message; the calls that it hits fail by themselves."""
        self._faults += 1
        if self._faults > MOST_FAULTS:
            return  # a server that never stops would fill the disk
        more = "; no more of these are logged" if self._faults == MOST_FAULTS else ""
        what = type(error).__name__
        logger.warning("the server sent what is no message: %s%s", what, more)

    def closed(self) -> None:
        """Pass on that the server is gone."""
        self._client.server_gone()


def _outline(message: object) -> str:
    """Return what a message is, without what is in it."""
    if not jsonrpc.is_object(message):
        return type(message).__name__
    known: Message = message
    kind = known.get("method", "error" if "error" in known else "result")
    return f"{kind} {known['id']!r}" if "id" in known else str(kind)
