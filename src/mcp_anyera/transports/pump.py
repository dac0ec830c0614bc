"""The loop around the engine: receive, feed, perform the effects in order.

Performing never waits. What goes to the server is queued for one writer, so
that the order of effects is the order on the wire whoever caused them, and a
server that does not read blocks nobody but the writer.
"""

from __future__ import annotations

import logging
import math
from typing import Final, Protocol, cast

import anyio
import anyio.abc

from mcp_anyera.engine import (
    AbortLeg,
    Ask,
    Effect,
    Engine,
    Exchange,
    FallBack,
    Notice,
    Question,
    RestartServer,
    ToClient,
    ToolHidden,
    ToServer,
    Withdraw,
    jsonrpc,
)
from mcp_anyera.engine.events import Event
from mcp_anyera.engine.failures import INVALID_PARAMS
from mcp_anyera.transports.wire import (
    Failed,
    Held,
    HttpWire,
    Malformed,
    Received,
    Suspicion,
    Wire,
    WireClosed,
)

logger: logging.Logger = logging.getLogger("mcp_anyera")

_UNWRITABLE: Final = (TypeError, ValueError, RecursionError)
"""What writing a message as JSON may raise."""


class ClientSide(Protocol):
    """What stands on the client side of an engine. No method may wait."""

    def to_client(self, effect: ToClient) -> None:
        """Take a message."""

    def ask(self, question: Question) -> None:
        """Put a question to whoever answers it."""

    def withdraw(self, question: Question, reason: str) -> None:
        """Stop asking."""

    def notice(self, event: Event) -> None:
        """Hear of something that happened."""

    def fault(self, error: Exception) -> None:
        """Hear of something that arrived and is no message."""

    def closed(self) -> None:
        """Hear that the server is gone; every open call has had its answer."""


class Pump:
    """Drives one engine over one wire."""

    def __init__(self, engine: Engine, wire: Wire, side: ClientSide) -> None:
        self.engine = engine
        self._wire = wire
        self._http: HttpWire | None = None
        if wire.traits.exchange is Exchange.HTTP:
            self._http = cast("HttpWire", wire)
            self._http.attach(self._arrived)
        self._side = side
        self._restart_wanted = False
        self._reading: anyio.CancelScope | None = None
        self._ended = False
        self._flushing = False
        self._sending = False
        self._tasks: anyio.abc.TaskGroup | None = None
        self._outbox: list[ToServer] = []
        self._outgoing = anyio.Event()
        self._armed: float | None = None
        self._rearm = anyio.Event()
        self._drained = anyio.Event()

    # -- inputs --------------------------------------------------------------------

    def perform(self, effects: list[Effect]) -> None:
        """Perform effects in order, without waiting."""
        for effect in effects:
            self._perform(effect)
        deadline = self.engine.deadline
        if deadline is not None and (self._armed is None or deadline < self._armed):
            self._rearm.set()

    def _perform(self, effect: Effect) -> None:
        match effect:
            case ToServer():
                if not self._flushing:
                    self._to_server(effect)
            case ToClient():
                self._side.to_client(effect)
            case Ask(question):
                self._side.ask(question)
            case Withdraw(question, reason):
                self._side.withdraw(question, reason)
            case Notice(event):
                self._notice(event)
            case RestartServer():
                self._want_restart()
            case AbortLeg(leg):
                assert self._http is not None
                self._http.abort(leg)
            case FallBack():
                assert self._tasks is not None
                self._tasks.start_soon(self._fall_back)

    def _to_server(self, sent: ToServer) -> None:
        try:
            if self._has_way and self._wire.post(sent):
                return
        except _UNWRITABLE as error:
            self._unsendable(sent, error)
            return
        self._outbox.append(sent)
        self._outgoing.set()

    @property
    def _has_way(self) -> bool:
        # What is ahead on a byte stream stays ahead; over HTTP nothing ever is.
        return self._http is not None or not (self._outbox or self._sending)

    def _want_restart(self) -> None:
        self._restart_wanted = True
        # What was meant for the old process must not reach the new one.
        self._outbox.clear()
        if self._reading is not None:
            self._reading.cancel()
        elif self._ended:
            assert self._tasks is not None
            self._tasks.start_soon(self._read)

    def _notice(self, event: Event) -> None:
        if isinstance(event, ToolHidden):
            logger.warning("tool %r is left out: %s", event.name, event.reason)
        try:
            self._side.notice(event)
        except Exception:
            logger.exception("on_event raised; the connection goes on")

    # -- the loop ------------------------------------------------------------------

    def start(self, tasks: anyio.abc.TaskGroup) -> None:
        """Start pumping in a task group; it ends with the group."""
        self._tasks = tasks
        tasks.start_soon(self._write)
        tasks.start_soon(self._keep_time)
        tasks.start_soon(self._wire.watch)
        tasks.start_soon(self._read)

    async def _read(self) -> None:
        self._ended = False
        while self._restart_wanted is False or await self._restart():
            with anyio.CancelScope() as self._reading:
                await self._read_until_closed()
            self._reading = None
            if not self._restart_wanted:
                break
        self._ended = True
        self._side.closed()

    async def _read_until_closed(self) -> None:
        while True:
            try:
                message = await self._wire.receive()
            except WireClosed as closed:
                self._reading = None
                now = anyio.current_time()
                self.perform(self.engine.server_closed(str(closed), now))
                return
            self._arrived(message)

    def _arrived(self, item: object) -> None:
        self.perform(self._take(item, anyio.current_time()))

    def _take(self, item: object, now: float) -> list[Effect]:
        match item:
            case Received(message, leg):
                return self.engine.receive_from_server(message, now, leg)
            case Failed(leg, fault):
                return self.engine.exchange_failed(leg, fault, now)
            case Held(leg, held):
                return self.engine.exchange_held(leg, now, held=held)
            case Suspicion(clause):
                return self.engine.suspect(clause, now)
            case Malformed():
                self._side.fault(item.error)
                return self.engine.receive_from_server(None, now)
            case message:
                return self.engine.receive_from_server(message, now)

    async def _restart(self) -> bool:
        self._restart_wanted = False
        try:
            await self._wire.restart()
        except OSError as error:
            self.perform(self.engine.server_closed(str(error), anyio.current_time()))
            return False
        assert self._tasks is not None
        self._tasks.start_soon(self._wire.watch)
        self.perform(self.engine.server_started(anyio.current_time()))
        return True

    async def _fall_back(self) -> None:
        try:
            assert self._http is not None
            await self._http.fall_back()
        except OSError as error:
            self.perform(self.engine.server_closed(str(error), anyio.current_time()))
            self._side.closed()
        else:
            self.perform(self.engine.server_started(anyio.current_time()))

    async def _write(self) -> None:
        while self._outbox or not self._flushing:
            if self._outbox:
                batch, self._outbox = self._outbox, []
                self._sending = True
                await self._send(batch)
                self._sending = False
            else:
                self._outgoing = anyio.Event()
                await self._outgoing.wait()
        self._drained.set()

    async def _send(self, batch: list[ToServer]) -> None:
        try:
            await self._wire.send(batch)
        except _UNWRITABLE as error:
            if len(batch) == 1:
                self._unsendable(batch[0], error)
                return
            for message in batch:
                await self._send([message])

    def _unsendable(self, sent: ToServer, error: Exception) -> None:
        # Only the one who asked for it can know; the connection goes on.
        message = sent.message
        text = (
            f"{message.get('method', 'an answer')} cannot be written as JSON: {error}"
        )
        if "method" in message and "id" in message:
            reply = jsonrpc.error(
                message["id"], {"code": INVALID_PARAMS, "message": text}
            )
            now = anyio.current_time()
            self.perform(self.engine.receive_from_server(reply, now))
        else:
            self._side.fault(ValueError(text))

    async def flush(self, seconds: float) -> None:
        """Let what was queued go out, for a bounded time; nothing is taken after it."""
        self._flushing = True
        self._outgoing.set()
        with anyio.move_on_after(seconds):
            await self._drained.wait()

    async def _keep_time(self) -> None:
        while True:
            self._rearm = anyio.Event()
            self._armed = self.engine.deadline
            await self._sleep_until(self._armed)
            self.perform(self.engine.tick(anyio.current_time()))

    async def _sleep_until(self, deadline: float | None) -> None:
        delay = math.inf if deadline is None else deadline - anyio.current_time()
        with anyio.move_on_after(max(0.0, delay)):
            await self._rearm.wait()

    def close(self) -> None:
        """Take nothing more."""
        self._flushing = True
