"""Messages of the client side, and what happens to each.

`registry` names the handlers below; this module holds them together with the
two things that the table cannot say: what a client side may do before the era is
known, and what becomes of messages that are none.
"""

from __future__ import annotations

from mcp_anyera.engine import jsonrpc
from mcp_anyera.engine.asking import Asking
from mcp_anyera.engine.calls import Calls
from mcp_anyera.engine.config import LOG_LEVELS, NO_OPTIONS, CallOptions, Face
from mcp_anyera.engine.context import Context, Handler, WireId
from mcp_anyera.engine.effects import Message
from mcp_anyera.engine.failures import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Failure,
    Fault,
)
from mcp_anyera.engine.jsonrpc import Shape
from mcp_anyera.engine.lifecycle import Lifecycle
from mcp_anyera.engine.phase import Phase
from mcp_anyera.engine.recovery import Recovery
from mcp_anyera.engine.registry import Direction, lookup
from mcp_anyera.engine.subscriptions import Subscriptions
from mcp_anyera.eras import Era


class ClientSide:
    """Takes what the session, the dispatcher or the legacy process says."""

    def __init__(
        self,
        context: Context,
        calls: Calls,
        asking: Asking,
        subscriptions: Subscriptions,
        lifecycle: Lifecycle,
        recovery: Recovery,
    ) -> None:
        self._ctx = context
        self._calls = calls
        self._asking = asking
        self._subscriptions = subscriptions
        self._lifecycle = lifecycle
        self._recovery = recovery
        self._options = NO_OPTIONS
        self.handlers: dict[str, Handler] = {
            "initialize": lifecycle.begin,
            "ping": lambda message: context.reply(message["id"], {}),
            "discover": self._discover,
            "call": self._call,
            "set_level": self._set_level,
            "subscribe": subscriptions.subscribe,
            "unsubscribe": subscriptions.unsubscribe,
            "initialized": self._initialized,
            "cancel": self._cancel,
            "consume": self._consume,
            "forward_to_server": context.send,
        }

    def receive(self, message: object, options: CallOptions) -> None:
        """Take one message, whatever it is."""
        self._options = options
        shape = jsonrpc.classify(message)
        match shape:
            case Shape.REQUEST:
                self._request(jsonrpc.as_message(message))
            case Shape.NOTIFICATION:
                self._notification(jsonrpc.as_message(message))
            case Shape.RESPONSE | Shape.ERROR:
                if not self._asking.reply_of_client(jsonrpc.as_message(message)):
                    self._ctx.drop(
                        "a response of the client side", "nothing waits for it"
                    )
            case problem:
                self._malformed(message, problem)

    def give_up(self, client_id: WireId, reason: str) -> None:
        """Stop working on a request; it gets no answer any more."""
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

    # -- requests ------------------------------------------------------------------

    def _request(self, message: Message) -> None:
        client_id: WireId = message["id"]
        phase = self._lifecycle.phase
        if client_id in self._ctx.open:
            text = f"request id {client_id!r} is in use by a request that is still open"
            failure = Failure(Fault.BAD_REQUEST, text).as_error()
            self._ctx.deliver(jsonrpc.error(client_id, failure))
        elif phase is Phase.CLOSED and self._ctx.config.restart and self._ctx.era:
            self._lifecycle.revive()
            self._ctx.open.add(client_id)
            self._dispatch(Direction.CLIENT_REQUEST, message)
        elif phase is Phase.CLOSED:
            text = f"{message['method']} was not sent: the connection is closed"
            self._ctx.fail(client_id, Failure(Fault.LOST, text))
        elif phase is Phase.READY or self._lifecycle.reopening:
            self._lifecycle.ensure_session()
            self._ctx.open.add(client_id)
            self._dispatch(Direction.CLIENT_REQUEST, message)
        else:
            self._early_request(message)

    def _early_request(self, message: Message) -> None:
        method = message["method"]
        if method in {"initialize", "ping"}:
            self._ctx.open.add(message["id"])
            self.handlers[method](message)
        elif method == "server/discover":
            self._discover(message)
        else:
            text = f"{method} came before the handshake was over; send initialize first"
            self._ctx.fail(message["id"], Failure(Fault.BAD_REQUEST, text))

    def _dispatch(self, direction: Direction, message: Message) -> None:
        rule = lookup(direction, self._ctx.known_era, message["method"])
        self.handlers[rule.handler](message)

    def _call(self, message: Message) -> None:
        call = self._calls.open(message, self._options)
        if not self._recovery.start(call):
            self._calls.send_leg(call, call.params)

    def _discover(self, message: Message) -> None:
        if self._ctx.config.face is Face.NATIVE and self._ctx.era is Era.MODERN:
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
        elif self._ctx.era is Era.LEGACY:
            # The server decides; the filter here follows when it has agreed.
            self._call(message)
        else:
            self._ctx.log_level = level
            self._ctx.restamp()
            self._ctx.reply(message["id"], {})

    # -- notifications -------------------------------------------------------------

    def _notification(self, message: Message) -> None:
        if self._lifecycle.phase is Phase.READY and not self._lifecycle.broken:
            self._dispatch(Direction.CLIENT_NOTIFICATION, message)
        elif message["method"] == "notifications/cancelled":
            self._cancel(message)
        else:
            self._ctx.drop(message["method"], "there is no connection")

    def _initialized(self, message: Message) -> None:
        ctx = self._ctx
        if ctx.era is Era.MODERN:
            if ctx.config.list_changes:
                self._subscriptions.watch_lists()
            return
        ctx.send(message)
        ctx.ask_for_logs()

    def _cancel(self, message: Message) -> None:
        params = jsonrpc.params_of(message)
        client_id, reason = params.get("requestId"), params.get("reason")
        if jsonrpc.is_id(client_id) and client_id in self._ctx.open:
            self.give_up(client_id, reason if isinstance(reason, str) else "cancelled")
        else:
            self._ctx.drop(message["method"], "it names no open request")

    def _consume(self, message: Message) -> None:
        self._ctx.drop(message["method"], "a modern server has no use for it")

    # -- what is no message --------------------------------------------------------

    def _malformed(self, message: object, problem: str) -> None:
        key = message.get("id") if jsonrpc.is_object(message) else None
        if jsonrpc.is_object(message) and not message.keys().isdisjoint(
            {"result", "error"}
        ):
            self._malformed_answer(key, problem)
            return
        known = key if jsonrpc.is_id(key) and key not in self._ctx.open else None
        text = f"the client side sent a malformed message: {problem}"
        self._ctx.fail(known, Failure(Fault.BAD_REQUEST, text))

    def _malformed_answer(self, key: object, problem: str) -> None:
        text = (
            f"the client side answered a question with a malformed message: {problem}"
        )
        body = {"code": INTERNAL_ERROR, "message": text}
        taken = jsonrpc.is_id(key) and self._asking.reply_of_client(
            jsonrpc.error(key, body)
        )
        if not taken:
            self._ctx.drop("a response of the client side", problem)
