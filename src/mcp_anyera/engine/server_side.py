"""Messages of the server, and what happens to each.

`registry` names the handlers below; this module holds them together with what
the table cannot say: replies, which find their way by id, what a server may say
before the era is known, and what becomes of messages that are none.
"""

from __future__ import annotations

from typing import cast

from mcp_anyera.engine import jsonrpc, results
from mcp_anyera.engine.asking import Asking
from mcp_anyera.engine.calls import Call, Calls
from mcp_anyera.engine.config import Questions
from mcp_anyera.engine.context import Context, Handler, WireId
from mcp_anyera.engine.effects import Message
from mcp_anyera.engine.exchanges import ExchangeFault
from mcp_anyera.engine.failures import INTERNAL_ERROR, Failure, Fault
from mcp_anyera.engine.jsonrpc import Shape
from mcp_anyera.engine.lifecycle import Lifecycle
from mcp_anyera.engine.notifications import Notifications
from mcp_anyera.engine.phase import Phase
from mcp_anyera.engine.proof import Proof
from mcp_anyera.engine.recovery import Recovery
from mcp_anyera.engine.registry import Direction, lookup
from mcp_anyera.engine.subscriptions import Subscriptions
from mcp_anyera.eras import BATCHING_REVISION, Era


class ServerSide:
    """Takes what the server says."""

    def __init__(
        self,
        context: Context,
        calls: Calls,
        asking: Asking,
        subscriptions: Subscriptions,
        lifecycle: Lifecycle,
        recovery: Recovery,
        proof: Proof,
    ) -> None:
        self._ctx = context
        self._calls = calls
        self._asking = asking
        self._subscriptions = subscriptions
        self._lifecycle = lifecycle
        self._recovery = recovery
        self._proof = proof
        self._leg: WireId | None = None
        notes = Notifications(context, calls, subscriptions)
        self.handlers: dict[str, Handler] = {
            "server_ping": self._ping,
            "question": lambda message: asking.direct.ask(message, self._attributed()),
            "unknown_question": lambda message: asking.direct.unknown(
                message, self._attributed()
            ),
            "violation": self._violation,
            "progress": notes.progress,
            "log": notes.log,
            "change": notes.change,
            "acknowledged": notes.acknowledged,
            "listen_cancelled": self._listen_cancelled,
            "withdrawn": self._withdrawn,
            "page_visited": self._page_visited,
            "forward_to_client": context.deliver,
        }

    def receive(self, message: object, leg: WireId | None) -> None:
        """Take one message, or a batch of them where the revision has batches."""
        self._leg = leg
        if isinstance(message, list) and self._ctx.revision == BATCHING_REVISION:
            for part in cast("list[object]", message):
                self._receive_one(part)
        else:
            self._receive_one(cast("object", message))

    def _receive_one(self, message: object) -> None:
        shape = jsonrpc.classify(message)
        match shape:
            case Shape.RESPONSE | Shape.ERROR:
                self._reply(jsonrpc.as_message(message), shape)
            case Shape.REQUEST | Shape.NOTIFICATION:
                self._say(jsonrpc.as_message(message), shape)
            case problem:
                self._malformed(message, problem)

    # -- replies -------------------------------------------------------------------

    def _reply(self, message: Message, shape: Shape) -> None:
        wire_id = self._answered(message, shape)
        call = self._calls.of_wire(wire_id)
        if call is not None:
            self._calls.leg_ended(call)
            self._reply_to_call(call, message, shape)
        elif (own := self._ctx.take_own(wire_id)) is not None:
            own.replied(message)
        else:
            why = "nothing waits for it (late, repeated or unknown)"
            self._ctx.drop("a response of the server", why)

    def _answered(self, message: Message, shape: Shape) -> object:
        # What comes on the response to a request answers that request or none.
        # An error may be without an id, and an id may have changed its type.
        wire_id, leg = message["id"], self._leg
        nameless = wire_id is None and shape is Shape.ERROR
        if leg is None or nameless or str(wire_id) == str(leg):
            return wire_id if leg is None else leg
        text = "the server answered with the id of another request"
        self.exchange_failed(leg, ExchangeFault(fault=Fault.VIOLATION, reason=text))
        return None

    def exchange_failed(self, wire_id: WireId, fault: ExchangeFault) -> None:
        """Take the end of an exchange that gave no usable reply."""
        call = self._calls.of_wire(wire_id)
        if call is not None:
            self._calls.leg_ended(call)
            if not self._recovery.of_fault(call, fault):
                self._exchange_of_call_failed(call, fault)
        elif (own := self._ctx.take_own(wire_id)) is not None:
            own.failed(fault)
        else:
            self._ctx.drop("the end of an exchange", fault.reason)

    def exchange_held(self, wire_id: WireId, *, held: bool) -> None:
        """Stop or start the clocks of what an exchange is for."""
        call = self._calls.of_wire(wire_id)
        if call is not None:
            self._calls.hold_clock(call, held=held)
        else:
            self._lifecycle.hold(wire_id, held=held)

    def _exchange_of_call_failed(self, call: Call, fault: ExchangeFault) -> None:
        if fault.error is not None:
            error = jsonrpc.error(None, fault.error)
            self._reply_to_call(call, error, Shape.ERROR)
        elif not self._proof.of_fault(call, fault):
            self._calls.fail(call, call.refusal or fault.failure(call.label))

    def _reply_to_call(self, call: Call, message: Message, shape: Shape) -> None:
        if shape is Shape.ERROR:
            self._error_of_call(call, message)
        elif message["result"].get("isError") is True and self._tool_wants_legacy(
            call, message
        ):
            self._ctx.doubt = None
        elif self._ctx.era is Era.MODERN:
            self._ctx.doubt = None
            self._modern_result(call, message["result"])
        elif call.refusal is not None and message["result"].get("isError") is True:
            self._calls.fail(call, call.refusal)
        else:
            self._recovery.note(call)
            self._calls.complete(call, message["result"])

    def _error_of_call(self, call: Call, message: Message) -> None:
        if self._mended(call, message):
            return
        if call.refusal is None:
            self._calls.reject(call, message["error"])
        else:
            self._calls.fail(call, call.refusal)

    def _mended(self, call: Call, message: Message) -> bool:
        error = message["error"]
        if self._ctx.era is Era.LEGACY and self._asking.page_required(call, error):
            return True
        if self._tool_wants_legacy(call, message):
            return True
        return self._recovery.of_error(call, error) or self._proof.of_error(call, error)

    def _tool_wants_legacy(self, call: Call, message: Message) -> bool:
        return call.method == "tools/call" and self._recovery.of_missing_back_channel(
            call, message
        )

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

    # -- requests and notifications ------------------------------------------------

    def _say(self, message: Message, shape: Shape) -> None:
        if self._lifecycle.phase is not Phase.READY:
            self._say_early(message, shape)
            return
        request = shape is Shape.REQUEST
        direction = (
            Direction.SERVER_REQUEST if request else Direction.SERVER_NOTIFICATION
        )
        rule = lookup(direction, self._ctx.known_era, message["method"])
        self.handlers[rule.handler](message)

    def _say_early(self, message: Message, shape: Shape) -> None:
        method = message["method"]
        if shape is Shape.REQUEST and method == "ping":
            self._ping(message)
        elif shape is Shape.NOTIFICATION and method == "notifications/message":
            self._ctx.deliver(message)
        else:
            self._ctx.drop(method, "it came before the handshake was over")

    def _ping(self, message: Message) -> None:
        self._ctx.send(jsonrpc.response(message["id"], {}))

    def _violation(self, message: Message) -> None:
        self._ctx.drop(message["method"], "a modern server may not ask directly")

    def _attributed(self) -> Call | None:
        # A session of its own asks, and a framework's clock runs, so attribution
        # is of use to the shell alone.
        if self._ctx.config.questions is Questions.CLIENT:
            return None
        return (
            self._calls.only_one()
            if self._leg is None
            else self._calls.of_wire(self._leg)
        )

    def _withdrawn(self, message: Message) -> None:
        known = self._asking.direct.withdrawn(
            jsonrpc.params_of(message).get("requestId")
        )
        if not known:
            self._ctx.drop(message["method"], "it names no open question")
        elif self._ctx.config.questions is Questions.CLIENT:
            self._ctx.deliver(message)

    def _page_visited(self, message: Message) -> None:
        self._asking.page_visited(jsonrpc.params_of(message).get("elicitationId"))
        self._ctx.deliver(message)

    def _listen_cancelled(self, message: Message) -> None:
        params = jsonrpc.params_of(message)
        name = params.get("requestId")
        call = self._calls.of_wire(name)
        if call is not None:
            renamed = {**params, "requestId": call.client_id}
            self._ctx.deliver({**message, "params": renamed})
        elif not self._subscriptions.cancelled(name):
            self._ctx.drop(message["method"], "it names no subscription")

    # -- what is no message --------------------------------------------------------

    def _malformed(self, message: object, problem: str) -> None:
        reply = jsonrpc.is_object(message) and "method" not in message
        wire_id = message.get("id") if jsonrpc.is_object(message) and reply else None
        if reply and self._leg is not None:
            wire_id = self._leg
        call = self._calls.of_wire(wire_id)
        if call is not None:
            text = f"{call.label} was answered with a malformed message: {problem}"
            self._calls.leg_ended(call)
            self._calls.fail(call, Failure(Fault.VIOLATION, text))
        elif (own := self._ctx.take_own(wire_id)) is not None:
            body = {"code": INTERNAL_ERROR, "message": problem}
            own.replied(jsonrpc.error(None, body))
        else:
            self._ctx.drop("a message of the server", problem)
