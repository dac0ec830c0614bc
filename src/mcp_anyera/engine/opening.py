"""One opening: ask, hear, and find out which era the server is of.

The order of events on a byte stream (2026-07-28 ``basic/transports/stdio`` §
Backward Compatibility), with what the text leaves open:

* ``server/discover`` goes first. A reply is evidence (`detection`).
* Silence is none. When the patience is over, ``initialize`` goes out on the same
  pipe, and from then on its answer decides: success means that the process now
  serves legacy, whatever it says later; a refusal means modern, by the late
  answer to the probe or by one more probe.
* A server that ends is started again, for a plain handshake, once.
* ``initialize`` is never sent after a modern verdict: some servers lock.

Over HTTP each request is an exchange of its own, so a late answer to the probe
counts at once, and a status may speak where JSON-RPC does not (`exchanges`). Who
may come in and whether the server is well are no verdict: 401, 403, 5xx and a
dropped connection end the opening, except that a refusal of credentials that
were sent is tried once more with ``initialize``, for some gateways refuse what
they do not know. An ``initialize`` that fails with 400, 404 or 405 leads to the
HTTP+SSE transport of 2024-11-05.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mcp_anyera.engine import detection, jsonrpc
from mcp_anyera.engine.account import Account, why_shut, why_unasked
from mcp_anyera.engine.config import RUNG_TIMEOUT, Exchange, Remembered
from mcp_anyera.engine.context import Context, OnFault, OnReply, WireId
from mcp_anyera.engine.detection import AskAgain, Legacy, Modern, NoCommonGround
from mcp_anyera.engine.effects import FallBack, Message, RestartServer
from mcp_anyera.engine.events import (
    AnsweredLate,
    FellBack,
    Mistaken,
    Restarted,
    Verdict,
)
from mcp_anyera.engine.exchanges import AUTHORIZATION, ExchangeFault
from mcp_anyera.engine.failures import Failure
from mcp_anyera.engine.metadata import (
    stamp,
    synthesise_discover_result,
    synthesise_initialize_result,
)
from mcp_anyera.engine.patience import Patience
from mcp_anyera.engine.phase import Phase
from mcp_anyera.engine.plan import Plan
from mcp_anyera.eras import LATEST_MODERN, LEGACY_REVISIONS, Era, era_of


def _nobody(*_args: object) -> None:
    """Stand in until `lifecycle` listens."""


class Opening:
    """Finds out the era, as often as it is asked to."""

    def __init__(self, context: Context) -> None:
        self._ctx = context
        self.phase: Phase = Phase.NEW
        self.trusting: bool = False
        """Whether a modern verdict is beyond doubt: it was doubted before."""
        self.on_found: Callable[[Verdict, dict[str, Any]], None] = _nobody
        """Told the verdict, and what the session's ``initialize`` is answered with."""
        self.on_failed: Callable[[Failure], None] = _nobody
        self._patience = Patience(context)
        self._http = context.config.exchange is Exchange.HTTP
        self._probed_at = 0.0
        self._prepare(None, legacy_only=False, again=False)

    def _prepare(
        self, remembered: Remembered | None, *, legacy_only: bool, again: bool
    ) -> None:
        self._account = Account(self._ctx)
        self._sent: list[WireId] = []
        self._remembered, self._again = remembered, again
        self._plan = Plan(
            self._ctx.config,
            self._ctx.initialize,
            remembered=remembered,
            legacy_only=legacy_only,
        )

    # -- beginning and end ---------------------------------------------------------

    def start(
        self,
        remembered: Remembered | None,
        *,
        legacy_only: bool = False,
        again: bool = False,
        restart: bool = False,
    ) -> None:
        """Begin.

        Args:
            remembered: What is known of the server from before.
            legacy_only: Whether nothing but a handshake is left to try.
            again: Whether the connection has been open before.
            restart: Whether the process is started again first.
        """
        self._prepare(remembered, legacy_only=legacy_only, again=again)
        limit = self._ctx.config.connect_timeout
        if limit is not None:
            text = f"no answer within {limit:g} s (connect_timeout_seconds)"
            self._patience.begin("connect", limit, lambda: self._fail(text))
        if restart:
            self._restart("it is wanted in another state", silently=True)
        else:
            self._open()

    def _open(self) -> None:
        config, plan = self._ctx.config, self._plan
        known = plan.remembered
        if known and known.era is Era.MODERN and known.discover is not None:
            self._ctx.doubt = "remembered"
            found = Modern(known.revision, known.discover)
            self._connect_modern(found, "remembered; nothing was asked")
        elif plan.handshake_first or plan.only is Era.LEGACY:
            self._handshake()
        elif config.probes:
            self._probe(LATEST_MODERN)
        else:
            discover = config.prior_discover or synthesise_discover_result(config.mode)
            self._connect_modern(
                Modern(config.mode, discover), "pinned; nothing was asked"
            )

    def end(self, phase: Phase) -> None:
        """Stop here, with nothing more to be asked or heard."""
        self.phase = phase
        # On a byte stream, a late answer tells that the server was only slow.
        wanted = phase is Phase.READY and not self._http
        self._forget(self._plan.silent if wanted else None)
        self._patience.end("connect")

    # -- asking --------------------------------------------------------------------

    def _probe(self, revision: str) -> None:
        self.phase = Phase.PROBING
        self._patience.end("rung", "blocked")
        self._plan.probes += 1
        members = stamp(revision, self._ctx.initialize, None)
        self._probed_at = self._ctx.now
        self._send(
            "server/discover", {"_meta": members}, self._on_probe, self._probe_failed
        )
        # A process that has refused the handshake has nothing else to be tried with.
        last = self._plan.refused and not self._http
        if self._plan.only is None and not last:
            patience = self._probe_patience()
            lost = partial(self._lose_patience, patience)
            self._patience.begin("probe", patience, lost)

    def _probe_patience(self) -> float:
        known = self._remembered
        more = 0.0 if known is None or known.patience is None else known.patience
        return max(self._ctx.config.probe_timeout, more)

    def _lose_patience(self, patience: float) -> None:
        self._account.step("server/discover", f"no answer within {patience:g} s")
        self._plan.silent = self._sent[-1]
        if self._plan.refused:
            self._accepts_neither()
            return
        self._handshake()
        if self._may_restart():
            text = f"no answer within {self._ctx.config.blocked_timeout:g} s"
            seconds = self._ctx.config.blocked_timeout
            self._patience.begin("blocked", seconds, partial(self._unblock, text))

    def _unblock(self, text: str) -> None:
        self._account.step("initialize", f"{text}; the probe may have blocked it")
        self._restart("it has answered nothing since it was asked for server/discover")

    def _handshake(self) -> None:
        self.phase = Phase.HANDSHAKING
        self._patience.end("probe", "rung")
        params = {**self._ctx.initialize, "protocolVersion": self._plan.revision}
        self._send("initialize", params, self._on_initialize, self._initialize_failed)
        if self._ctx.config.handshake_ladder:
            self._patience.begin("rung", RUNG_TIMEOUT, self._rung_is_silent)

    def _rung_is_silent(self) -> None:
        revision = self._plan.revision
        text = f"no answer at {revision} within {RUNG_TIMEOUT:g} s"
        if self._plan.next_rung():
            self._account.step("initialize", text)
            self._forget()
            self._handshake()

    # -- hearing -------------------------------------------------------------------

    def _on_probe(self, reply: Message) -> None:
        finding = detection.classify(reply)
        if self.phase is not Phase.PROBING:
            self._late_answer(finding)
            return
        self._patience.end("probe")
        match finding:
            case Modern():
                doubtful = self._plan.only is None and not self.trusting
                self._ctx.doubt = "discovered" if doubtful else None
                self._connect_modern(finding, f"offers {finding.revision}")
            case AskAgain(revision):
                self._ask_again(revision)
            case Legacy(reason):
                self._account.step("server/discover", reason)
                self._legacy_found()
            case NoCommonGround(reason):  # pragma: no branch - there is no other
                self._fail(reason)

    def _late_answer(self, finding: detection.Finding) -> None:
        if not isinstance(finding, Modern):
            self._ctx.drop("the answer to server/discover", "it came too late")
        elif self.phase is Phase.READY:
            self._ctx.notice(AnsweredLate(self._ctx.now - self._probed_at))
        elif self._http:
            self._connect_modern(finding, "its late answer counts")
        else:
            self._plan.late = finding

    def _probe_failed(self, fault: ExchangeFault) -> None:
        if self.phase is Phase.HANDSHAKING:
            self._account.step("server/discover", fault.reason)
        elif fault.conclusive and fault.error is not None:
            self._on_probe(jsonrpc.error(None, fault.error))
        elif fault.conclusive:
            self._patience.end("probe")
            self._account.step("server/discover", fault.reason)
            self._legacy_found()
        elif (
            fault.http.status in AUTHORIZATION
            and fault.credentials
            and self._plan.only is None
        ):
            self._account.step("server/discover", fault.reason)
            self._account.denied = fault
            self._handshake()
        else:
            self._account.step("server/discover", fault.reason)
            self._fail(why_unasked(fault), fault)

    def _ask_again(self, revision: str) -> None:
        again = self._plan.probes > 1
        said = "refused, and offers again," if again else "asked for"
        self._account.step("server/discover", f"{said} {revision}")
        if again:
            self._legacy_found()
        else:
            self._probe(revision)

    def _legacy_found(self) -> None:
        if self._plan.only is Era.MODERN:
            self._fail(
                "the server is legacy and mode='modern' excludes that; use mode='auto'"
            )
        elif not self._plan.refused:
            self._handshake()
        elif self._may_restart():
            # Some servers lock when they have refused a handshake.
            self._plan.then_probe, self._plan.probes = True, 0
            self._restart("it refused the handshake, and what came after it")
        elif self._plan.refusal is not None and self._may_fall_back(self._plan.refusal):
            self._fall_back(self._plan.refusal)
        else:
            self._accepts_neither()

    def _accepts_neither(self) -> None:
        self._fail(why_shut(self._ctx.config), self._plan.refusal)

    def _on_initialize(self, reply: Message) -> None:
        if not jsonrpc.is_object(reply.get("result")):
            self._initialize_refused(reply.get("error"))
            return
        result: dict[str, Any] = reply["result"]
        revision = result.get("protocolVersion")
        era = era_of(revision) if isinstance(revision, str) else None
        if era is Era.LEGACY:
            self._connect_legacy(str(revision), result)
            return
        self._account.step(
            "initialize", f"answered with version {str(revision)[:40]!r}"
        )
        if era is Era.MODERN and self._plan.may_probe():
            self._probe(LATEST_MODERN)
        else:
            self._fail(f"a handshake can end in {', '.join(LEGACY_REVISIONS)} only")

    def _initialize_refused(
        self, error: Any, fault: ExchangeFault | None = None
    ) -> None:
        code = error["code"] if jsonrpc.is_error(error) else None
        text = error["message"] if jsonrpc.is_error(error) else "a malformed reply"
        self._account.step(
            "initialize", f"refused with error {code}: {str(text)[:200]}"
        )
        plan = self._plan
        if plan.late is not None:
            self._connect_modern(plan.late, "its late answer counts")
        elif plan.forward(code, fault):
            self._ask_after_refusal(fault)
        elif plan.next_rung():
            self._handshake()
        elif self._may_restart():
            self._restart("it refused the handshake after it was asked for discovery")
        else:
            self._fail(why_shut(self._ctx.config), fault)

    def _ask_after_refusal(self, fault: ExchangeFault | None) -> None:
        plan = self._plan
        if plan.remembered is not None:
            self._ctx.notice(Mistaken("it is not legacy any more"))
        plan.refused, plan.refusal = True, fault
        self._probe(LATEST_MODERN)

    def _initialize_failed(self, fault: ExchangeFault) -> None:
        code = (fault.error or {}).get("code")
        forward = self._plan.forward(code, fault)
        known = self._plan.late is not None or self._account.denied is not None
        if not (forward or known) and self._may_fall_back(fault):
            self._account.step("initialize", fault.reason)
            self._fall_back(fault)
        elif fault.error is not None and fault.conclusive:
            self._initialize_refused(fault.error, fault)
        elif forward:
            self._account.step("initialize", fault.reason)
            self._ask_after_refusal(fault)
        else:
            self._account.step("initialize", fault.reason)
            self._fail("the handshake failed", fault)

    def _may_fall_back(self, fault: ExchangeFault) -> bool:
        config = self._ctx.config
        # What had a session here is no HTTP+SSE server, and will be tried again.
        possible = config.sse_fallback and not self._again
        wanted = self._plan.only is not Era.MODERN and self._account.first is None
        return possible and wanted and fault.elsewhere

    def _fall_back(self, fault: ExchangeFault) -> None:
        self._account.first, self.phase = fault, Phase.RESTARTING
        self._forget()
        self._ctx.notice(FellBack(fault.reason))
        self._ctx.out.append(FallBack(fault.reason))

    # -- deciding ------------------------------------------------------------------

    def _connect_modern(self, found: Modern, outcome: str) -> None:
        self._account.step(f"server/discover at {found.revision}", outcome)
        ctx = self._ctx
        ctx.adopt(Era.MODERN, found.revision, found.discover.get("capabilities"))
        ctx.restamp()
        verdict = Verdict(
            Era.MODERN, found.revision, self._account.evidence, discover=found.discover
        )
        result = synthesise_initialize_result(found.discover, ctx.initialize)
        self._found(verdict, result)

    def _connect_legacy(self, revision: str, result: dict[str, Any]) -> None:
        self._account.step("initialize", f"agreed on {revision}")
        self._ctx.adopt(Era.LEGACY, revision, result.get("capabilities"))
        verdict = Verdict(
            Era.LEGACY, revision, self._account.evidence, initialize=result
        )
        self._found(verdict, result)

    def _found(self, verdict: Verdict, result: dict[str, Any]) -> None:
        self.end(Phase.READY)
        self.on_found(verdict, result)

    def _fail(self, reason: str, fault: ExchangeFault | None = None) -> None:
        self.on_failed(self._account.failure(reason, fault))

    # -- the process ---------------------------------------------------------------

    def server_closed(self, reason: str) -> None:
        """The server ended; start it again if only the probe can be to blame."""
        if self.phase in {Phase.PROBING, Phase.HANDSHAKING, Phase.RESTARTING}:
            self._account.step("the server", f"ended ({reason})")
            if self._may_restart():
                self._plan.then_probe = not self._plan.probes
                self._restart(self._why_ended())
            else:
                self._fail("the server ended before the handshake was over")
                self.phase = Phase.CLOSED
        else:
            self.phase = Phase.CLOSED

    def _may_restart(self) -> bool:
        plan = self._plan
        possible = self._ctx.config.restartable and plan.only is None
        tried = bool(plan.probes) or plan.handshake_first
        return possible and tried and not plan.restarted

    def _restart(self, reason: str, *, silently: bool = False) -> None:
        self._plan.restarted, self.phase = not silently, Phase.RESTARTING
        self._forget()
        if not silently:
            self._ctx.notice(Restarted(reason))
        self._ctx.out.append(RestartServer(reason))

    def _why_ended(self) -> str:
        asked = "server/discover" if self._plan.probes else "initialize"
        return f"it ended when it was asked for {asked}"

    def hold(self, wire_id: WireId, *, held: bool) -> None:
        """Stop the clocks while a request waits for a login, or let them go on."""
        if not held:
            self._patience.release(wire_id)
        elif wire_id in self._sent:
            self._patience.hold(wire_id, "probe", "connect", "blocked", "rung")

    def server_started(self) -> None:
        """The server runs again: this time it hears first what it has not heard yet."""
        if self.phase is not Phase.RESTARTING:
            return
        plan = self._plan
        if not (plan.restarted or self._account.first):
            self._open()
        elif plan.then_probe:
            plan.refused = True
            self._probe(LATEST_MODERN)
        else:
            self._handshake()

    # -- helpers -------------------------------------------------------------------

    def _send(
        self,
        method: str,
        params: dict[str, Any],
        on_reply: OnReply,
        on_fault: OnFault,
    ) -> None:
        wire_id = self._ctx.send_own(
            method, params, on_reply, on_fault=on_fault, bare=True
        )
        self._sent.append(wire_id)
        self._account.begin_step()

    def _forget(self, kept: WireId | None = None) -> None:
        for wire_id in self._sent:
            if wire_id != kept:
                self._ctx.abort_own(wire_id)
            self._patience.release(wire_id)
        self._sent.clear()
        self._patience.end("probe", "blocked", "rung")
