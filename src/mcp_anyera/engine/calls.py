"""Requests of the client side, from the first leg to the one answer.

A call keeps the id that the client side gave it and gets a fresh wire id for
each leg, so that no id is ever used twice on the wire (RES-5, MRTR-8). It is
answered exactly once, by the server, by a failure of ours, or not at all when
the client side has cancelled it.

The clock of a call measures the machine: it stands still while a question of
the call is open, and every sign of life winds it up again: an answered
question, progress, a leg that asks for patience. Only ``total_timeout`` counts
humans and patience in.

Spec: 2026-07-28 ``basic/patterns/cancellation``, ``basic/patterns/progress``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mcp_anyera.engine import jsonrpc, older, results
from mcp_anyera.engine.config import CallOptions, Face
from mcp_anyera.engine.context import Context, WireId
from mcp_anyera.engine.effects import Message
from mcp_anyera.engine.failures import Failure, Fault
from mcp_anyera.engine.metadata import LOG_LEVEL_KEY, stamped, unstamped
from mcp_anyera.engine.questions import CallInfo
from mcp_anyera.engine.rounds import Rounds
from mcp_anyera.eras import Era


@dataclass(slots=True, eq=False)
class Call:
    """One request of the client side that is still open."""

    client_id: WireId
    method: str
    params: dict[str, Any] | None
    options: CallOptions
    wire_id: WireId | None = None
    """The leg in flight; ``None`` between two legs."""
    rounds: Rounds = field(default_factory=Rounds)
    closed: bool = False
    paused: int = 0
    """How many questions keep the clock standing."""
    sent: dict[str, Any] | None = None
    """Params of the newest leg, without our metadata."""
    resent: bool = False
    """Whether a leg was sent again because the server had refused it unseen."""
    relisted: bool = False
    """Whether the tools were listed again for its headers."""
    held: bool = False
    """Whether its leg waits for somebody other than the server."""
    rejection: Callable[[], None] | None = None
    """Gives the caller the refusal that was kept back for its sake."""
    refusal: Failure | None = None
    """A question of this call, on a legacy wire, that got no answer."""
    last_progress: float = 0.0
    progress_offset: float = 0.0

    def give_up(self) -> None:
        """Let the caller have the refusal that was kept back."""
        assert self.rejection is not None
        self.rejection()

    @property
    def info(self) -> CallInfo:
        """The call as callbacks and errors name it."""
        return CallInfo.of(self.method, self.params or {})

    @property
    def label(self) -> str:
        """The call in an error sentence."""
        info = self.info
        return self.method if info.name is None else f"{self.method} {info.name!r}"


_INTEGER = re.compile(r"[0-9]{1,18}", re.ASCII).fullmatch
"""Ids of ours have no more digits, and Python refuses to read very many."""


def _nothing(_call: Call) -> None:
    """Stand in until `asking` listens."""


def _no_one() -> None:
    """Stand in until `proof` listens."""


class Calls:
    """The calls that are open on one connection."""

    def __init__(self, context: Context) -> None:
        self._ctx = context
        self._by_wire: dict[WireId, Call] = {}
        self._by_client: dict[WireId, Call] = {}
        self._by_token: dict[WireId, Call] = {}
        self._held: list[Call] | None = None
        self._only_new = False
        self.on_idle: Callable[[], None] | None = None
        """Told once that every call is kept back."""
        self.on_silence: Callable[[], None] = _no_one
        """Told of a call that was not answered while the verdict is in doubt."""
        self.on_close: Callable[[Call], None] = _nothing
        """Told of every call that is over, so that its questions can be withdrawn."""

    # -- starting ------------------------------------------------------------------

    def open(self, message: Message, options: CallOptions) -> Call:
        """Open a call; its first leg is sent by `send_leg`."""
        call = Call(message["id"], message["method"], message.get("params"), options)
        self._by_client[call.client_id] = call
        meta = jsonrpc.meta_of(call.params or {})
        if jsonrpc.is_id(token := meta.get("progressToken")):
            self._by_token[token] = call
        if LOG_LEVEL_KEY in meta:
            self._ctx.opted_in = True
        self._start_clocks(call)
        call.sent = call.params
        return call

    def send_leg(self, call: Call, params: dict[str, Any] | None) -> None:
        """Send the request, or its retry, under a fresh id."""
        call.sent = params
        if self._held is not None and not (self._only_new and call.rounds.newest):
            self._held.append(call)
            self._note_idle()
            return
        call.wire_id = wire_id = self._ctx.next_id()
        if call.method == "subscriptions/listen":
            # A subscription is named by the id of its request; a string of ours
            # can be told from every id that a session might choose.
            call.wire_id = wire_id = self._ctx.next_name("listen")
        self._by_wire[wire_id] = call
        call.progress_offset = 0.0
        if self._ctx.era is Era.MODERN:
            params = stamped(params or {}, self._ctx.members)
        elif params and self._ctx.face_era is Era.MODERN:
            params = unstamped(params)
        self._ctx.send(jsonrpc.request(wire_id, call.method, params))

    def resend(self, call: Call) -> None:
        """Send the newest leg again: the server has refused it unseen."""
        self.send_leg(call, call.sent)

    def hold(self, *, only_new: bool = False) -> None:
        """Keep every leg back until `release`, or those of calls that begin."""
        self._held = self._held or []
        self._only_new = only_new

    def when_idle(self, action: Callable[[], None]) -> None:
        """Run ``action`` once every call is kept back, which may be now."""
        self.on_idle = action
        self._note_idle()

    def _note_idle(self) -> None:
        if self.on_idle is None:
            return
        held = [call for call in self._held or () if not call.closed]
        if len(held) == len(self._by_client):
            # What has been answered is told first.
            action, self.on_idle = self.on_idle, None
            self._ctx.timers.set("idle", self._ctx.now, action)

    def release(self) -> None:
        """Send what was kept back."""
        for call in self._let_go():
            self.resend(call)

    def fail_held(self, failure: Failure) -> None:
        """Fail what was kept back, and keep nothing back any more."""
        for call in self._let_go():
            if call.rejection is None:
                self.fail(call, failure)
            else:
                call.give_up()

    def _let_go(self) -> list[Call]:
        held, self._held = self._held or [], None
        return [call for call in held if not call.closed]

    def _start_clocks(self, call: Call) -> None:
        self._wind(call)
        total = call.options.total_timeout
        if total is not None:
            when = self._ctx.now + total
            self._ctx.timers.set(
                (call, "total"),
                when,
                lambda: self._time_out(call, "total_timeout", total),
            )

    # -- finding -------------------------------------------------------------------

    def of_wire(self, wire_id: object) -> Call | None:
        """Return the call whose leg has this id; "7" finds 7, as both SDKs do."""
        if not jsonrpc.is_id(wire_id):
            return None
        call = self._by_wire.get(wire_id)
        if call is None and isinstance(wire_id, str) and _INTEGER(wire_id):
            return self._by_wire.get(int(wire_id))
        return call

    def of_client(self, client_id: object) -> Call | None:
        """Return the open call that the client side knows by this id."""
        return self._by_client.get(client_id) if jsonrpc.is_id(client_id) else None

    def of_token(self, token: object) -> Call | None:
        """Return the open call that a progress token belongs to."""
        return self._by_token.get(token) if jsonrpc.is_id(token) else None

    def waiting(self) -> list[Call]:
        """Return the calls that are between two legs."""
        return [call for call in self._by_client.values() if call.wire_id is None]

    def only_one(self) -> Call | None:
        """Return the call in flight when there is just one, else ``None``."""
        return next(iter(self._by_wire.values())) if len(self._by_wire) == 1 else None

    # -- ending --------------------------------------------------------------------

    def leg_ended(self, call: Call) -> None:
        """Note that the leg in flight has its reply."""
        self.hold_clock(call, held=False)
        if call.wire_id is not None:
            del self._by_wire[call.wire_id]
            call.wire_id = None

    def close(self, call: Call) -> None:
        """Forget a call; whoever closes it has answered it, or must not."""
        call.closed = True
        self.leg_ended(call)
        self._by_client.pop(call.client_id, None)
        self._ctx.open.discard(call.client_id)
        token = jsonrpc.meta_of(call.params or {}).get("progressToken")
        if jsonrpc.is_id(token) and self._by_token.get(token) is call:
            del self._by_token[token]
        self._ctx.timers.clear((call, "read"))
        self._ctx.timers.clear((call, "total"))
        self._ctx.timers.clear((call, "retry"))
        self.on_close(call)
        self._note_idle()

    def complete(self, call: Call, result: dict[str, Any]) -> None:
        """Answer a call with a complete result, in the words of its face."""
        self.close(call)
        if call.method == "tools/list":
            result = self._ctx.learn_tools(result)
        self._ctx.reply(call.client_id, self._translated(call.method, result))

    def _translated(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        ctx = self._ctx
        if ctx.config.face is Face.NATIVE and ctx.face_era is Era.MODERN:
            return results.for_native_face(method, result)
        if ctx.era is Era.MODERN:
            plain = results.for_legacy_face(method, result)
            return older.result(ctx.face_revision, method, plain)
        return result

    def reject(self, call: Call, error: dict[str, Any]) -> None:
        """Answer a call with the server's error."""
        self.close(call)
        ctx = self._ctx
        if ctx.era is Era.MODERN and ctx.config.translate_missing_resource:
            error = results.legacy_error(call.method, call.params or {}, error)
        ctx.reject(call.client_id, error)

    def fail(self, call: Call, failure: Failure) -> None:
        """Answer a call with a failure of ours; a leg in flight is given up."""
        if call.wire_id is not None:
            self._ctx.cancel_wire(call.wire_id, failure.fault.value)
        self.abandon(call, failure.message)
        self._ctx.fail(call.client_id, failure)

    def abandon(self, call: Call, reason: str) -> None:
        """Close a call and withdraw its questions, without an answer."""
        self.close(call)
        call.rounds.withdraw(self._ctx, reason)

    def lose_all(self, reason: str) -> None:
        """Fail every open call because the server is gone."""
        for call in list(self._by_client.values()):
            self.abandon(call, "the connection is closed")
            message = f"connection closed while {call.label} was open: {reason}"
            self._ctx.fail(call.client_id, Failure(Fault.LOST, message))

    # -- the clock -----------------------------------------------------------------

    def pause(self, call: Call) -> None:
        """Stop the clock of a call: a question of it is open."""
        call.paused += 1
        self._ctx.timers.clear((call, "read"))

    def resume(self, call: Call) -> None:
        """Wind the clock of a call up again when its last question is answered."""
        call.paused -= 1
        if not call.paused and not call.closed:
            self._wind(call)

    def hold_clock(self, call: Call, *, held: bool) -> None:
        """Stop the clock of a call, or start it again; twice is as good as once."""
        if held and not call.held:
            self.pause(call)
        elif call.held and not held:
            self.resume(call)
        call.held = held

    def progressed(self, call: Call) -> None:
        """Wind up the clock of a call: the server is at work on it."""
        if not call.paused:
            self._wind(call)

    def _wind(self, call: Call) -> None:
        timeout = call.options.read_timeout
        if timeout is not None:
            when = self._ctx.now + timeout
            self._ctx.timers.set(
                (call, "read"),
                when,
                lambda: self._time_out(call, "read_timeout", timeout),
            )

    def _time_out(self, call: Call, which: str, seconds: float) -> None:
        state = "a question was open" if call.paused else "the server had not answered"
        suspicion = "" if self._ctx.suspicion is None else f"; {self._ctx.suspicion}"
        message = (
            f"{call.label} took longer than {seconds:g} s ({state}); "
            f"raise {which}_seconds if it may take longer{suspicion}"
        )
        self.fail(call, Failure(Fault.TIMEOUT, message))
        if self._ctx.doubt is not None and not call.paused:
            self.on_silence()
