"""The engine of one connection: one input in, the effects of it out, in order.

Two rules hold for everything below. Nothing in the engine reads a clock, rolls
dice, logs or waits: time is an argument, and `deadline` says when the engine
next wants to be told it. And nothing that a peer sends can make an input raise:
what cannot be used is answered, failed or dropped with a notice.
"""

from __future__ import annotations

from mcp_anyera.engine.asking import Asking
from mcp_anyera.engine.calls import Calls
from mcp_anyera.engine.client_side import ClientSide
from mcp_anyera.engine.config import NO_OPTIONS, CallOptions, EngineConfig
from mcp_anyera.engine.context import Context, WireId
from mcp_anyera.engine.effects import Effect
from mcp_anyera.engine.exchanges import ExchangeFault
from mcp_anyera.engine.lifecycle import Lifecycle
from mcp_anyera.engine.phase import Phase
from mcp_anyera.engine.proof import Proof
from mcp_anyera.engine.questions import Answer, Refusal
from mcp_anyera.engine.recovery import Recovery
from mcp_anyera.engine.server_side import ServerSide
from mcp_anyera.engine.subscriptions import Subscriptions
from mcp_anyera.eras import Era


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
        self.config: EngineConfig = config or EngineConfig()
        self._ctx = ctx = Context(self.config)
        self._calls = calls = Calls(ctx)
        self._asking = asking = Asking(ctx, calls)
        self._subscriptions = subscriptions = Subscriptions(ctx)
        self._lifecycle = lifecycle = Lifecycle(ctx)
        parts = (ctx, calls, asking, subscriptions, lifecycle)
        recovery = Recovery(ctx, calls, subscriptions, lifecycle)
        proof = Proof(ctx, calls, lifecycle)
        calls.on_silence = proof.timed_out
        self._client = ClientSide(*parts, recovery)
        self._server = ServerSide(*parts, recovery, proof)

    # -- state ---------------------------------------------------------------------

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

    # -- inputs --------------------------------------------------------------------

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
        self._client.receive(message, options)
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
        self._server.receive(message, leg)
        return out

    def exchange_failed(
        self, wire_id: WireId, fault: ExchangeFault, now: float
    ) -> list[Effect]:
        """Note that an HTTP exchange has ended without a reply that can be used.

        Args:
            wire_id: The id of the request that it carried.
            fault: What happened instead.
            now: The time.

        Returns:
            What to do, in order. Only the request that it carried is hit.
        """
        out = self._input(now)
        self._server.exchange_failed(wire_id, fault)
        return out

    def exchange_held(self, wire_id: WireId, now: float, *, held: bool) -> list[Effect]:
        """Stop or start the clocks of a request that waits for somebody else.

        Args:
            wire_id: The id of the request that the exchange carries.
            now: The time.
            held: Whether it begins to wait, as for a login, or goes on.
        """
        out = self._input(now)
        self._server.exchange_held(wire_id, held=held)
        return out

    def suspect(self, clause: str | None, now: float) -> list[Effect]:
        """Take a guess at why questions may not come through, or ``None`` for none.

        Args:
            clause: For the error of a call that takes too long.
            now: The time.
        """
        out = self._input(now)
        self._ctx.suspicion = clause
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
            self._asking.server_gone()
            self._calls.lose_all(reason)
            self._subscriptions.server_gone(reason)
        return out

    def client_closed(self, now: float) -> list[Effect]:
        """Note that the client side is gone: everything it asked for is given up."""
        out = self._input(now)
        for client_id in list(self._ctx.open):
            self._client.give_up(client_id, "the client side is closed")
        self._asking.direct.client_gone()
        self._subscriptions.client_gone()
        return out

    def tick(self, now: float) -> list[Effect]:
        """Do what has become due; call it when `deadline` has come."""
        return self._input(now)

    def _input(self, now: float) -> list[Effect]:
        ctx = self._ctx
        ctx.now = now
        out: list[Effect] = []
        ctx.out = out
        deadline = ctx.timers.deadline
        if deadline is not None and deadline <= now:
            ctx.timers.run_due(now)
        return out
