"""One open connection of a `Client`: below the session, above the engine.

It is the link that the session's requests go through, and the side that the engine
tells what came of them.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import random
from typing import Any, Final
from uuid import uuid4

import anyio
import anyio.abc
import anyio.lowlevel

from mcp_anyera._sdk import (
    Implementation,
    Verbs,
    dump,
    make_error,
    parse_notification,
    types,
)
from mcp_anyera._sdk.link import OnProgress, Opened
from mcp_anyera._sdk.raised import exception_for
from mcp_anyera.beside import Beside
from mcp_anyera.callbacks import (
    Callbacks,
    Dispatcher,
    DispatcherOptions,
    RawNotification,
)
from mcp_anyera.engine import (
    Answer,
    CallOptions,
    Connected,
    Dropped,
    Engine,
    EngineConfig,
    Event,
    Failure,
    Fault,
    Message,
    NoLogLevel,
    Question,
    Refusal,
    ToClient,
    Verdict,
    backchannel,
    jsonrpc,
)
from mcp_anyera.eras import Era
from mcp_anyera.errors import AnyEraError
from mcp_anyera.mailbox import Item, Mailbox
from mcp_anyera.memory import Recollection
from mcp_anyera.transports.background import plain
from mcp_anyera.transports.pump import Pump
from mcp_anyera.transports.wire import Wire
from mcp_anyera.waiting import Waiting

logger: logging.Logger = logging.getLogger("mcp_anyera")

FLUSH_TIMEOUT: Final = 0.5
"""Seconds at the end for what was already said to go out; SDK 2.x waits as long."""

_HIDDEN: Final = frozenset(
    {"notifications/cancelled", "notifications/subscriptions/acknowledged"}
)
"""What belongs to the machinery and never reaches a message handler."""


_CALLS_BACK: Final = (
    "The tool calls the client back, which a modern connection has no way for. "
    "With no_back_channel='legacy' the call is sent again on a legacy connection "
    "where the server offers one; mode='legacy' makes every call there."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionOptions:
    """What a `Client` was told; times are seconds."""

    client_info: Implementation
    callbacks: Callbacks
    config: EngineConfig
    dispatch: DispatcherOptions
    read_timeout: float | None = None
    total_timeout: float | None = None
    native: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Parameters that only the installed SDK line has."""
    on_event: Callable[[Event], None] | None = None
    make_wire: Callable[[], Wire] | None = None
    """Leads to the same server once more, where it can serve both eras at once."""
    known: Recollection | None = None
    """What is remembered of the server."""


class Connection:
    """The link of a session and the client side of an engine, in one."""

    def __init__(self, wire: Wire, options: ConnectionOptions) -> None:
        self._options = options
        self._wire = wire
        self._engine = Engine(options.config)
        self._pump = Pump(self._engine, wire, self)
        parts = (options.callbacks, options.dispatch, self._settle, self._tell)
        self._dispatcher = Dispatcher(*parts)
        self._mailbox = Mailbox(self._dropped)
        self._waiting = Waiting()
        self._ids = itertools.count(1)
        self._verbs: Verbs | None = None
        self._verdict: Verdict | None = None
        self._ended = False
        self._beside: Beside | None = None
        wanted = options.config.no_back_channel == "legacy"
        if options.make_wire and wanted and options.config.only is None:
            self._beside = Beside(options.make_wire, options, self._tell)

    # -- life ----------------------------------------------------------------------

    async def run(self, ready: Callable[[], None], stop: anyio.Event) -> None:
        """Open the connection, say so, and keep it until told to stop.

        Raises:
            ConnectError: It could not be opened.
        """
        try:
            async with self._wire, anyio.create_task_group() as tasks:
                self._dispatcher.tasks = tasks
                self._pump.start(tasks)
                await self._serve(tasks, ready, stop)
                tasks.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001 - explained, and raised again
            explained = self._explained(plain(error))
            raise explained from explained.__cause__
        finally:
            self._ended = True
            self._waiting.fail("the client was closed while the call was open")
            self._pump.close()
            if self._beside is not None:
                await self._beside.close()

    def _explained(self, error: BaseException) -> BaseException:
        if self._verbs is not None or isinstance(error, AnyEraError):
            return error
        target = self._options.config.target
        text = f"could not connect to {target}: {type(error).__name__}: {error}"
        return exception_for(Failure(Fault.CONNECT, text, cause=error))

    async def _serve(
        self, tasks: anyio.abc.TaskGroup, ready: Callable[[], None], stop: anyio.Event
    ) -> None:
        options = self._options
        opened = await self._handshake()
        async with Verbs(self, options.client_info, opened, options.native) as verbs:
            self._verbs = verbs
            self._dispatcher.session = verbs.session
            tasks.start_soon(self._mailbox.run, self._deliver)
            self.notify("notifications/initialized", None)
            ready()
            await stop.wait()
            await self._wind_down()

    async def _handshake(self) -> Opened:
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": self._options.callbacks.capabilities(),
            "clientInfo": dump(self._options.client_info),
        }
        result = await self.request("initialize", params, timeout=None)
        assert self._verdict is not None
        return Opened(self._verdict.revision, result, self._verdict.discover)

    async def _wind_down(self) -> None:
        self._ended = True
        self._pump.perform(self._engine.client_closed(anyio.current_time()))
        self._waiting.fail("the client was closed while the call was open")
        # What the server told before is still news for whoever listens.
        with anyio.move_on_after(FLUSH_TIMEOUT):
            await self._mailbox.idle()
        await self._pump.flush(FLUSH_TIMEOUT)

    @property
    def ended(self) -> bool:
        """Whether nothing can be sent any more."""
        return self._ended

    @property
    def verbs(self) -> Verbs:
        """The session's verbs; there once the connection is open."""
        assert self._verbs is not None
        return self._verbs

    @property
    def verdict(self) -> Verdict:
        """What detection concluded; there once the connection is open."""
        assert self._verdict is not None
        return self._verdict

    # -- the link below the session ------------------------------------------------

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        request_id: int | str | None = None,
    ) -> dict[str, Any]:
        """Send a request and wait for its result; see `Link.request`."""
        how: dict[str, Any] = {"timeout": timeout, "on_progress": on_progress}
        beside = self._beside if self._is_modern else None
        if beside is not None and beside.knows(method, params):
            result = await beside.request(method, params, **how)
            if result is not None:
                return result
        answer = await self._request(method, params, request_id=request_id, **how)
        if beside is not None and beside.wants(method, answer.message):
            result = await beside.request(method, params, **how)
            if result is not None:
                return result
        return _result(answer)

    @property
    def _is_modern(self) -> bool:
        return self._verdict is not None and self._verdict.era is Era.MODERN

    async def _request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        *,
        timeout: float | None,
        on_progress: OnProgress | None,
        request_id: int | str | None,
    ) -> ToClient:
        if self._ended:
            raise exception_for(
                Failure(Fault.LOST, f"{method} was not sent: the client is closed")
            )
        call_id = next(self._ids) if request_id is None else request_id
        body = None if params is None else dict(params)
        if on_progress is not None:
            meta = {**jsonrpc.meta_of(body or {}), "progressToken": call_id}
            body = {**(body or {}), "_meta": meta}
        waiter = self._waiting.add(call_id, on_progress)
        options = CallOptions(
            self._options.read_timeout if timeout is None else timeout,
            self._options.total_timeout,
        )
        try:
            self._say(jsonrpc.request(call_id, method, body), options)
            return await waiter.wait()
        except BaseException:
            if waiter.answer is None:
                self.notify("notifications/cancelled", {"requestId": call_id})
            raise
        finally:
            self._waiting.remove(call_id)

    def notify(self, method: str, params: Mapping[str, Any] | None) -> None:
        """Send a notification; see `Link.notify`."""
        if not self._ended:
            self._say(
                jsonrpc.notification(method, None if params is None else dict(params))
            )

    def _say(self, message: Message, options: CallOptions | None = None) -> None:
        now = anyio.current_time()
        given = CallOptions() if options is None else options
        self._pump.perform(self._engine.receive_from_client(message, now, given))

    def _settle(self, question_id: str, answer: Answer | Refusal) -> None:
        self._pump.perform(
            self._engine.answer(question_id, answer, anyio.current_time())
        )

    # -- the side above the engine -------------------------------------------------

    def to_client(self, effect: ToClient) -> None:
        """Take a message: an answer for a request, or a notification."""
        message = effect.message
        if "method" in message:
            self._take_notification(message)
            return
        self._waiting.answer(effect)

    def _take_notification(self, message: Message) -> None:
        method, params = message["method"], message.get("params")
        if method == "notifications/progress":
            self._waiting.progress(params or {})
        if self._verbs is not None and self._verbs.intercept(method, params):
            return
        if method not in _HIDDEN:
            self._mailbox.put(message)

    def ask(self, question: Question) -> None:
        """Put a question to the callbacks."""
        self._dispatcher.ask(question)

    def withdraw(self, question: Question, reason: str) -> None:
        """Stop asking."""
        del reason
        self._dispatcher.withdraw(question)

    def notice(self, event: Event) -> None:
        """Hear of an event; pass it on."""
        if isinstance(event, Connected):
            self._verdict = event.verdict
            self._dispatcher.era = event.verdict.era
            self._warn_of_silence(event.verdict.era)
        if self._options.known is not None:
            self._options.known.hear(event)
        logger.debug("%s", event)
        if self._options.on_event is not None:
            self._options.on_event(event)

    def _tell(self, event: Event) -> None:
        # As the pump does: what watches must not harm what it watches.
        try:
            self.notice(event)
        except Exception:
            logger.exception("on_event raised; the connection goes on")

    def _warn_of_silence(self, era: Era) -> None:
        options = self._options
        heard = options.callbacks.logging_callback is not None
        if era is Era.LEGACY or not heard or options.config.log_level is not None:
            return
        logger.warning(
            "%s is modern and logs nothing to a client that has not asked for it; "
            "pass log_level= beside logging_callback=",
            options.config.target,
        )
        self._tell(NoLogLevel())

    def fault(self, error: Exception) -> None:
        """Hear of something that arrived and is no message."""
        self._mailbox.put(error)

    def closed(self) -> None:
        """Hear that the server is gone; the engine has failed the open calls."""

    def _dropped(self, what: str) -> None:
        self._tell(Dropped(what, "the handler is too slow and its queue is full"))

    # -- what the server tells -----------------------------------------------------

    async def _deliver(self, item: Item) -> None:
        try:
            if not isinstance(item, Exception):
                await self.verbs.tee(item["method"], item.get("params"))
            await self._hand_over(item)
        except anyio.get_cancelled_exc_class():
            await anyio.lowlevel.checkpoint_if_cancelled()
            logger.warning("a notification callback was cancelled from inside")
        except Exception:
            logger.exception("a notification callback raised; the connection goes on")

    async def _hand_over(self, item: Item) -> None:
        callbacks = self._options.callbacks
        message = item if isinstance(item, Exception) else self._parsed(item)
        if callbacks.logging_callback is not None and isinstance(
            message, types.LoggingMessageNotification
        ):
            await callbacks.logging_callback(message.params)
        if callbacks.message_handler is not None:
            await callbacks.message_handler(message)

    def _parsed(self, message: Message) -> object:
        known = parse_notification(message, self.verdict.revision)
        if known is not None:
            return known
        return RawNotification(message["method"], message.get("params"))


def _result(answer: ToClient) -> dict[str, Any]:
    if answer.failure is not None:
        raise exception_for(answer.failure)
    if "error" in answer.message:
        error = make_error(answer.message["error"])
        if backchannel.missing(answer.message):
            error.add_note(_CALLS_BACK)
        raise error
    return answer.message["result"]


def fresh_prefix() -> str:
    """Return what the ids of a new connection start with."""
    return f"anyera-{uuid4().hex[:8]}"


def spread() -> float:
    """Return a number in [0, 1) that spreads retries."""
    return random()  # noqa: S311 - nothing secret hangs on it
