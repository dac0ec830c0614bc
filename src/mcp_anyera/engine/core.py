"""The engine of one connection: one input in, the effects of it out, in order.

Two rules hold for everything below. Nothing in the engine reads a clock, rolls
dice, logs or waits: time is an argument, and `deadline` says when the engine
next wants to be told it. And nothing that a peer sends can make an input raise:
what cannot be used is answered, failed or dropped with a notice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, cast

from mcp_anyera.engine import jsonrpc, results
from mcp_anyera.engine.asking import Asking
from mcp_anyera.engine.calls import Call, Calls
from mcp_anyera.engine.config import NO_OPTIONS, CallOptions, EngineConfig, Face, Questions
from mcp_anyera.engine.context import Context, WireId
from mcp_anyera.engine.effects import Effect, Message
from mcp_anyera.engine.failures import INVALID_PARAMS, METHOD_NOT_FOUND, Failure, Fault
from mcp_anyera.engine.jsonrpc import Shape
from mcp_anyera.engine.lifecycle import Lifecycle, Phase
from mcp_anyera.engine.notifications import LOG_LEVELS, Notifications
from mcp_anyera.engine.questions import Answer, Refusal
from mcp_anyera.engine.registry import Direction, lookup
from mcp_anyera.engine.subscriptions import Subscriptions
from mcp_anyera.eras import BATCHING_REVISION, Era

Handler: TypeAlias = Callable[[Message], None]

_NOTHING: Final[list[Effect]] = []


class Engine:
    """Translate between a session of any era and a server of any era.

    Feed it what arrives, perform what it returns. See the package docstring for
    the loop that drives it.
    """

    def __init__(self, config: EngineConfig | None = None) -> None:
        """Prepare a connection; nothing happens before the first input.

        Args:
            config: The rules of this connection; the defaults when omitted.
        """
        self.config = config or EngineConfig()
        self._ctx = ctx = Context(self.config)
        self._calls = Calls(ctx)
        self._asking = Asking(ctx, self._calls)
        self._subscriptions = Subscriptions(ctx)
        self._notifications = Notifications(ctx, self._calls, self._subscriptions)
        self._lifecycle = Lifecycle(ctx)
        self._handlers = self._table()
        self._options = NO_OPTIONS
        self._leg: WireId | None = None

    def _table(self) -> dict[str, Handler]:
        notes = self._notifications
        return {
            "initialize": self._lifecycle.begin,
            "ping": lambda message: self._ctx.reply(message["id"], {}),
            "discover": self._discover,
            "call": self._call,
            "listen": self._call,
            "set_level": self._set_level,
            "subscribe": self._subscriptions.subscribe,
            "unsubscribe": self._subscriptions.unsubscribe,
            "initialized": self._initialized,
            "cancel": self._cancel,
            "consume": lambda message: self._ctx.drop(message["method"], "modern has no such thing"),
            "forward_to_server": self._ctx.send,
            "server_ping": lambda message: self._ctx.send(jsonrpc.response(message["id"], {})),
            "question": lambda message: self._asking.direct(message, self._attributed()),
            "unknown_question": lambda message: self._asking.unknown(message, self._attributed()),
            "violation": lambda message: self._ctx.drop(message["method"], "a modern server may not ask directly"),
            "progress": notes.progress,
            "log": notes.log,
            "change": notes.change,
            "acknowledged": notes.acknowledged,
            "listen_cancelled": self._listen_cancelled,
            "withdrawn": self._withdrawn,
            "forward_to_client": self._ctx.deliver,
        }

    # -- state -----------------------------------------------------------------------

    @property
    def era(self) -> Era | None:
        """The era of the server, or ``None`` while it is not known."""
        return self._ctx.era

    @property
    def revision(self) -> str | None:
        """The protocol revision on the wire, or ``None`` while it is not known."""
        return self._ctx.revision

    @property
    def deadline(self) -> float | None:
        """When `tick` next has something to do, in the caller's clock."""
        return self._ctx.timers.deadline

    @property
    def in_flight(self) -> int:
        """How many requests of the client side wait for their answer."""
        return len(self._ctx.open)

    # -- inputs ----------------------------------------------------------------------

    def receive_from_client(
        self, message: object, now: float, options: CallOptions = NO_OPTIONS
    ) -> list[Effect]:
        """Take one message of the client side.

        Args:
            message: A JSON-RPC message as ``json.loads`` gives it.
            now: The time, in seconds of any monotonic clock.
            options: For a request: how long it may take.

        Returns:
            What to do, in order. A request is answered exactly once, now or
            later, unless the client side cancels it.
        """
        out = self._input(now)
        self._options = options
        shape = jsonrpc.classify(message)
        if isinstance(shape, str):
            self._bad_client_message(message, shape)
            return out
        body = cast("Message", message)
        if shape is Shape.REQUEST:
            self._client_request(body)
        elif shape is Shape.NOTIFICATION:
            self._client_notification(body)
        elif not self._asking.reply_of_client(body):
            self._ctx.drop("a response of the client side", "nothing waits for it")
        return out

    def receive_from_server(
        self, message: object, now: float, leg: WireId | None = None
    ) -> list[Effect]:
        """Take one message of the server.

        Args:
            message: A JSON-RPC message, or a batch where the revision has them.
            now: The time, in seconds of the same clock as always.
            leg: On HTTP, the id of the request on whose response it came.

        Returns:
            What to do, in order.
        """
        out = self._input(now)
        self._leg = leg
        if isinstance(message, list) and self._ctx.revision == BATCHING_REVISION:
            for part in cast("list[object]", message):
                self._server_message(part)
        else:
            self._server_message(message)
        return out

    def answer(
        self, question_id: str, answer: Answer | Refusal, now: float
    ) -> list[Effect]:
        """Take the answer to a question that an `Ask` effect put.

        Args:
            question_id: `Question.id`.
            answer: What the callback gave, or why it gave nothing.
            now: The time.

        Returns:
            What to do, in order. An answer that comes too late is dropped.
        """
        out = self._input(now)
        if not self._asking.settle(question_id, answer):
            self._ctx.drop("an answer", "its question is no longer open")
        return out

    def server_started(self, now: float) -> list[Effect]:
        """Note that the server runs again after a `RestartServer` effect."""
        out = self._input(now)
        self._lifecycle.server_started()
        return out

    def server_closed(self, reason: str, now: float) -> list[Effect]:
        """Note that nothing more will come from the server.

        Args:
            reason: Why, for the errors of the calls that it hits, such as
                ``"exit status 1"`` with the last lines of stderr.
            now: The time.
        """
        out = self._input(now)
        self._lifecycle.server_closed(reason)
        if self._lifecycle.phase is Phase.CLOSED:
            self._asking.server_gone("the server is gone")
            self._calls.lose_all(reason)
            self._subscriptions.server_gone(reason)
        return out

    def client_closed(self, now: float) -> list[Effect]:
        """Note that the client side is gone: everything it asked for is given up."""
        out = self._input(now)
        for client_id in list(self._ctx.open):
            self._give_up(client_id, "the client side is closed")
        self._asking.server_gone("the client side is closed")
        return out

    def tick(self, now: float) -> list[Effect]:
        """Do what has become due; call it when `deadline` has come."""
        return self._input(now)

    def _input(self, now: float) -> list[Effect]:
        ctx = self._ctx
        ctx.now = now
        ctx.out = out = list(_NOTHING)
        deadline = ctx.timers.deadline
        if deadline is not None and deadline <= now:
            ctx.timers.run_due(now)
        return out

    # -- from the client side ----------------------------------------------------------

    def _client_request(self, message: Message) -> None:
        client_id: WireId = message["id"]
        if client_id in self._ctx.open:
            text = f"request id {client_id!r} is in use by a request that is still open"
            failure = Failure(Fault.BAD_REQUEST, text).as_error()
            self._ctx.deliver(jsonrpc.error(client_id, failure))
            return
        era, phase = self._ctx.era, self._lifecycle.phase
        if phase is Phase.CLOSED:
            text = f"{message['method']} was not sent: the connection is closed"
            self._ctx.fail(client_id, Failure(Fault.LOST, text))
        elif era is None or phase is not Phase.READY:
            self._early_request(message)
        else:
            self._ctx.open.add(client_id)
            self._dispatch(Direction.CLIENT_REQUEST, era, message)

    def _early_request(self, message: Message) -> None:
        method = message["method"]
        if method in {"initialize", "ping"}:
            self._ctx.open.add(message["id"])
            self._handlers[method](message)
        elif method == "server/discover":
            self._discover(message)
        else:
            text = f"{method} came before the handshake was over; send initialize first"
            self._ctx.fail(message["id"], Failure(Fault.BAD_REQUEST, text))

    def _client_notification(self, message: Message) -> None:
        if self._lifecycle.phase is Phase.READY and self._ctx.era is not None:
            self._dispatch(Direction.CLIENT_NOTIFICATION, self._ctx.era, message)
        elif message["method"] == "notifications/cancelled":
            self._cancel(message)
        else:
            self._ctx.drop(message["method"], "there is no connection")

    def _bad_client_message(self, message: object, problem: str) -> None:
        client_id = message.get("id") if jsonrpc.is_object(message) else None
        known = client_id if jsonrpc.is_id(client_id) and client_id not in self._ctx.open else None
        if jsonrpc.is_object(message) and ("result" in message or "error" in message):
            self._bad_answer(message, problem)
            return
        text = f"the client side sent a malformed message: {problem}"
        self._ctx.fail(known, Failure(Fault.BAD_REQUEST, text))

    def _bad_answer(self, message: Message, problem: str) -> None:
        text = f"the client side answered a question with a malformed message: {problem}"
        body = {"code": -32603, "message": text}
        key = message.get("id")
        reply = jsonrpc.error(key, body) if jsonrpc.is_id(key) else None
        if reply is None or not self._asking.reply_of_client(reply):
            self._ctx.drop("a response of the client side", problem)

    def _dispatch(self, direction: Direction, era: Era, message: Message) -> None:
        self._handlers[lookup(direction, era, message["method"]).handler](message)

    def _call(self, message: Message) -> None:
        self._calls.start(message, self._options)

    def _discover(self, message: Message) -> None:
        native = self.config.face is Face.NATIVE and self._ctx.era is Era.MODERN
        if native:
            self._call(message)
            return
        text = "Method not found: this side speaks a legacy revision; send initialize"
        failure = Failure(Fault.BAD_REQUEST, text, METHOD_NOT_FOUND)
        self._ctx.fail(message["id"], failure)

    def _set_level(self, message: Message) -> None:
        level = jsonrpc.params_of(message).get("level")
        if level not in LOG_LEVELS:
            text = f"log level {level!r} is unknown; use one of {', '.join(LOG_LEVELS)}"
            failure = Failure(Fault.BAD_REQUEST, text, INVALID_PARAMS)
            self._ctx.fail(message["id"], failure)
            return
        if self.config.questions is Questions.SHELL or self._ctx.era is Era.MODERN:
            self._ctx.log_level = level
        if self._ctx.era is Era.LEGACY:
            self._call(message)
            return
        self._ctx.restamp()
        self._ctx.reply(message["id"], {})

    def _initialized(self, message: Message) -> None:
        ctx = self._ctx
        if ctx.era is Era.MODERN:
            if self.config.list_changes:
                self._subscriptions.watch_lists()
            return
        ctx.send(message)
        if ctx.log_level is not None and jsonrpc.is_object(ctx.server_capabilities.get("logging")):
            # Best effort: a server that dislikes it is filtered here all the same.
            ctx.send_own("logging/setLevel", {"level": ctx.log_level}, lambda _reply: None)

    def _cancel(self, message: Message) -> None:
        params = jsonrpc.params_of(message)
        client_id, reason = params.get("requestId"), params.get("reason")
        if not jsonrpc.is_id(client_id) or client_id not in self._ctx.open:
            self._ctx.drop(message["method"], "it names no open request")
            return
        self._give_up(client_id, reason if isinstance(reason, str) else "cancelled")

    def _give_up(self, client_id: WireId, reason: str) -> None:
        call = self._calls.of_client(client_id)
        if call is not None:
            if call.wire_id is not None:
                self._ctx.cancel_wire(call.wire_id, reason)
            self._calls.abandon(call, reason)
        elif client_id == self._lifecycle.client_id:
            self._lifecycle.give_up()
        else:
            self._subscriptions.abandon(client_id)
        self._ctx.open.discard(client_id)

    # -- from the server ---------------------------------------------------------------

    def _server_message(self, message: object) -> None:
        shape = jsonrpc.classify(message)
        if isinstance(shape, str):
            self._bad_server_message(message, shape)
            return
        body = cast("Message", message)
        if shape is Shape.RESPONSE or shape is Shape.ERROR:
            self._reply(body, shape)
        elif self._ctx.era is None or self._lifecycle.phase is not Phase.READY:
            self._early_server_message(body, shape)
        elif shape is Shape.REQUEST:
            self._dispatch(Direction.SERVER_REQUEST, self._ctx.era, body)
        else:
            self._dispatch(Direction.SERVER_NOTIFICATION, self._ctx.era, body)

    def _early_server_message(self, message: Message, shape: Shape) -> None:
        if shape is Shape.REQUEST and message["method"] == "ping":
            self._handlers["server_ping"](message)
        elif shape is Shape.NOTIFICATION and message["method"] == "notifications/message":
            self._ctx.deliver(message)
        else:
            self._ctx.drop(message["method"], "it came before the handshake was over")

    def _bad_server_message(self, message: object, problem: str) -> None:
        wire_id = message.get("id") if jsonrpc.is_object(message) else None
        reply = jsonrpc.is_object(message) and "method" not in message
        call = self._calls.of_wire(wire_id) if reply else None
        if call is not None:
            text = f"{call.label} was answered with a malformed message: {problem}"
            self._calls.leg_ended(call)
            self._calls.fail(call, Failure(Fault.VIOLATION, text))
        elif reply and jsonrpc.is_id(wire_id) and (own := self._ctx.take_own(wire_id)):
            own(jsonrpc.error(wire_id, {"code": -32603, "message": problem}))
        else:
            self._ctx.drop("a message of the server", problem)

    def _reply(self, message: Message, shape: Shape) -> None:
        wire_id = message["id"] if jsonrpc.is_id(message["id"]) else None
        call = self._calls.of_wire(wire_id)
        if call is not None:
            self._calls.leg_ended(call)
            self._reply_to_call(call, message, shape)
            return
        own = None if wire_id is None else self._ctx.take_own(wire_id)
        if own is not None:
            own(message)
        else:
            self._ctx.drop("a response of the server", "nothing waits for it (late or repeated)")

    def _reply_to_call(self, call: Call, message: Message, shape: Shape) -> None:
        if shape is Shape.ERROR:
            if call.refusal is None:
                self._calls.reject(call, message["error"])
            else:
                self._calls.fail(call, call.refusal)
        elif self._ctx.era is Era.MODERN:
            self._modern_result(call, message["result"])
        elif call.refusal is not None and message["result"].get("isError") is True:
            self._calls.fail(call, call.refusal)
        else:
            self._calls.complete(call, message["result"])

    def _modern_result(self, call: Call, result: Message) -> None:
        kind = results.kind_of(result)
        if kind is results.ResultKind.COMPLETE:
            self._calls.complete(call, result)
        elif kind is results.ResultKind.INPUT_REQUIRED:
            self._asking.required(call, result)
        else:
            name = str(result.get("resultType"))[:80]
            text = f"{call.label} was answered with the unknown resultType {name!r}"
            self._calls.fail(call, Failure(Fault.VIOLATION, text))

    def _attributed(self) -> Call | None:
        # A session of its own asks, and a framework's clock runs, so attribution
        # is of use to the shell alone.
        if self.config.questions is Questions.CLIENT:
            return None
        return self._calls.only_one() if self._leg is None else self._calls.of_wire(self._leg)

    def _withdrawn(self, message: Message) -> None:
        known = self._asking.withdrawn(jsonrpc.params_of(message).get("requestId"))
        if known and self.config.questions is Questions.CLIENT:
            self._ctx.deliver(message)
        elif not known:
            self._ctx.drop(message["method"], "it names no open question")

    def _listen_cancelled(self, message: Message) -> None:
        name = jsonrpc.params_of(message).get("requestId")
        if self._subscriptions.cancelled(name):
            return
        call = self._calls.of_wire(name)
        if call is None:
            self._ctx.drop(message["method"], "it names no subscription")
        else:
            params = {**jsonrpc.params_of(message), "requestId": call.client_id}
            self._ctx.deliver({**message, "params": params})
