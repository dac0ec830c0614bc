"""Opening a connection: find out the era, then answer the session's ``initialize``.

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

A legacy session that the server has lost is opened again in the same way, from
the probe on, for the server may be another one by now.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp_anyera.engine import detection, jsonrpc
from mcp_anyera.engine.account import Account, why_unasked
from mcp_anyera.engine.config import Exchange
from mcp_anyera.engine.context import Context, OnFault, OnReply, WireId
from mcp_anyera.engine.detection import AskAgain, Legacy, Modern, NoCommonGround
from mcp_anyera.engine.effects import FallBack, Message, RestartServer
from mcp_anyera.engine.events import (
    Connected,
    FellBack,
    Reopened,
    Restarted,
    Verdict,
)
from mcp_anyera.engine.exchanges import AUTHORIZATION, ExchangeFault
from mcp_anyera.engine.failures import (
    UNSUPPORTED_VERSION,
    Failure,
    Fault,
)
from mcp_anyera.engine.metadata import (
    legacy_revision_for,
    stamp,
    synthesise_discover_result,
    synthesise_initialize_result,
)
from mcp_anyera.engine.patience import Patience
from mcp_anyera.engine.phase import Phase
from mcp_anyera.eras import LATEST_MODERN, LEGACY_REVISIONS, Era, era_of


def _nothing(*_args: object) -> None:
    """Stand in until `recovery` listens."""


class Lifecycle:
    """The opening and the end of one connection."""

    def __init__(self, context: Context) -> None:
        self._ctx = context
        self.phase = Phase.NEW
        self.client_id: WireId | None = None
        """Id of the ``initialize`` that waits for an answer."""
        self.reopening = False
        """Whether a session that was lost is being opened again."""
        self.broken = False
        """Whether the last attempt at that has failed."""
        self.on_reopening: Callable[[], None] = _nothing
        self.on_reopened: Callable[[], None] = _nothing
        self.on_lost: Callable[[Failure], None] = _nothing
        self._patience = Patience(context)
        self._http = context.config.exchange is Exchange.HTTP
        self._reset()

    def _reset(self) -> None:
        self._account = Account(self._ctx)
        self._sent: list[WireId] = []
        self._probes = 0
        self._restarted = False
        self._late: Modern | None = None

    # -- beginning -----------------------------------------------------------------

    def begin(self, message: Message) -> None:
        """Take the session's ``initialize`` and start finding out."""
        if self.phase is not Phase.NEW:
            state = "over" if self.phase is Phase.READY else "running or impossible"
            text = f"initialize came when the handshake is {state}; send it once"
            self._ctx.fail(message["id"], Failure(Fault.BAD_REQUEST, text))
            return
        self.client_id, self._ctx.initialize = message["id"], jsonrpc.params_of(message)
        self._start()

    def reopen(self, reason: str) -> None:
        """Open again what was open: the server does not know us any more."""
        self._ctx.notice(Reopened(reason))
        self.reopening, self.broken = True, False
        self.on_reopening()
        self._start()

    def ensure_session(self) -> None:
        """Open again what a call needs, after an attempt that has failed."""
        if self.broken:
            self.reopen("the last attempt has failed")

    def _start(self) -> None:
        self._reset()
        limit = self._ctx.config.connect_timeout
        if limit is not None:
            text = f"no answer within {limit:g} s (connect_timeout_seconds)"
            self._patience.begin("connect", limit, lambda: self._fail(text))
        self._open()

    def _open(self) -> None:
        config = self._ctx.config
        if config.probes:
            self._probe(LATEST_MODERN)
        elif config.only is Era.LEGACY:
            self._handshake()
        else:
            discover = config.prior_discover or synthesise_discover_result(config.mode)
            self._connect_modern(
                Modern(config.mode, discover), "pinned; nothing was asked"
            )

    def give_up(self) -> None:
        """Stop because the session no longer wants to; nothing goes on the wire."""
        self._end(Phase.NEW)

    # -- asking --------------------------------------------------------------------

    def _probe(self, revision: str) -> None:
        self.phase = Phase.PROBING
        self._probes += 1
        members = stamp(revision, self._ctx.initialize, None)
        self._send(
            "server/discover", {"_meta": members}, self._on_probe, self._probe_failed
        )
        if self._ctx.config.only is None:
            patience = self._ctx.config.probe_timeout
            self._patience.begin("probe", patience, self._lose_patience)

    def _lose_patience(self) -> None:
        patience = self._ctx.config.probe_timeout
        self._account.step("server/discover", f"no answer within {patience:g} s")
        self._handshake()

    def _handshake(self) -> None:
        self.phase = Phase.HANDSHAKING
        self._patience.end("probe")
        pinned = era_of(self._ctx.config.mode) is Era.LEGACY
        initialize = self._ctx.initialize
        revision = self._ctx.config.mode if pinned else legacy_revision_for(initialize)
        params = {**initialize, "protocolVersion": revision}
        self._send("initialize", params, self._on_initialize, self._initialize_failed)

    # -- hearing -------------------------------------------------------------------

    def _on_probe(self, reply: Message) -> None:
        finding = detection.classify(reply)
        if self.phase is Phase.HANDSHAKING:
            self._late_answer(finding)
            return
        self._patience.end("probe")
        match finding:
            case Modern():
                self._connect_modern(finding, f"offers {finding.revision}")
            case AskAgain(revision):
                self._account.step("server/discover", f"asked for {revision}")
                self._ask_again(revision)
            case Legacy(reason):
                self._account.step("server/discover", reason)
                self._legacy_found()
            case NoCommonGround(reason):  # pragma: no branch - there is no other
                self._fail(reason)

    def _late_answer(self, finding: detection.Finding) -> None:
        if not isinstance(finding, Modern):
            return
        if self._http:
            self._connect_modern(finding, "its late answer counts")
        else:
            self._late = finding

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
            and self._ctx.config.only is None
        ):
            self._account.step("server/discover", fault.reason)
            self._account.denied = fault
            self._handshake()
        else:
            self._account.step("server/discover", fault.reason)
            self._fail(why_unasked(fault), fault)

    def _ask_again(self, revision: str) -> None:
        if self._probes > 1:
            self._fail("the server refuses the revision that it offers")
        else:
            self._probe(revision)

    def _legacy_found(self) -> None:
        if self._ctx.config.only is Era.MODERN:
            self._fail(
                "the server is legacy and mode='modern' excludes that; use mode='auto'"
            )
        else:
            self._handshake()

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
        if era is Era.MODERN and self._may_probe():
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
        if self._late is not None:
            self._connect_modern(self._late, "its late answer counts")
        elif code == UNSUPPORTED_VERSION and self._may_probe():
            self._probe(LATEST_MODERN)
        else:
            self._fail("the server accepts neither opening", fault)

    def _initialize_failed(self, fault: ExchangeFault) -> None:
        if (
            self._late is None
            and not self._account.denied
            and self._may_fall_back(fault)
        ):
            self._account.step("initialize", fault.reason)
            self._fall_back(fault)
        elif fault.error is not None and fault.conclusive:
            self._initialize_refused(fault.error, fault)
        else:
            self._account.step("initialize", fault.reason)
            self._fail("the handshake failed", fault)

    def _may_fall_back(self, fault: ExchangeFault) -> bool:
        config = self._ctx.config
        # What had a session here is no HTTP+SSE server, and will be tried again.
        possible = config.sse_fallback and not self.reopening
        wanted = config.only is not Era.MODERN and self._account.first is None
        return possible and wanted and fault.elsewhere

    def _fall_back(self, fault: ExchangeFault) -> None:
        self._account.first, self.phase = fault, Phase.RESTARTING
        self._forget()
        self._ctx.notice(FellBack(fault.reason))
        self._ctx.out.append(FallBack(fault.reason))

    def _may_probe(self) -> bool:
        return self._ctx.config.only is None and self._probes <= 1

    # -- deciding ------------------------------------------------------------------

    def _connect_modern(self, found: Modern, outcome: str) -> None:
        self._account.step(f"server/discover at {found.revision}", outcome)
        ctx = self._ctx
        ctx.era, ctx.revision = Era.MODERN, found.revision
        capabilities = found.discover.get("capabilities")
        ctx.server_capabilities = (
            capabilities if jsonrpc.is_object(capabilities) else {}
        )
        ctx.restamp()
        verdict = Verdict(
            Era.MODERN, found.revision, self._account.evidence, discover=found.discover
        )
        self._connected(
            verdict, synthesise_initialize_result(found.discover, ctx.initialize)
        )

    def _connect_legacy(self, revision: str, result: dict[str, Any]) -> None:
        self._account.step("initialize", f"agreed on {revision}")
        ctx = self._ctx
        ctx.era, ctx.revision = Era.LEGACY, revision
        capabilities = result.get("capabilities")
        ctx.server_capabilities = (
            capabilities if jsonrpc.is_object(capabilities) else {}
        )
        verdict = Verdict(
            Era.LEGACY, revision, self._account.evidence, initialize=result
        )
        self._connected(verdict, result)

    def _connected(self, verdict: Verdict, result: dict[str, Any]) -> None:
        client_id = self._end(Phase.READY)
        self._ctx.notice(Connected(verdict))
        if client_id is not None:
            self._ctx.face_era = verdict.era
            self._ctx.reply(client_id, result)
        else:
            self.reopening = False
            self.on_reopened()

    def _fail(self, reason: str, fault: ExchangeFault | None = None) -> None:
        self._failed(self._account.failure(reason, fault))

    def _failed(self, failure: Failure) -> None:
        if self.reopening:
            self.reopening, self.broken = False, True
            self._end(Phase.READY)
            self.on_lost(failure)
            return
        client_id = self._end(Phase.NEW)
        if client_id is not None:  # pragma: no branch - an opening is somebody's
            self._ctx.fail(client_id, failure)

    def _end(self, phase: Phase) -> WireId | None:
        client_id = self.client_id
        self.phase, self.client_id = phase, None
        self._forget()
        self._patience.end("connect")
        return client_id

    # -- the process ---------------------------------------------------------------

    def server_closed(self, reason: str) -> None:
        """The server ended; start it again if only the probe can be to blame."""
        if self.phase in {Phase.PROBING, Phase.HANDSHAKING, Phase.RESTARTING}:
            self._account.step("the server", f"ended ({reason})")
            if self._may_restart():
                self._restart()
            else:
                self._fail("the server ended before the handshake was over")
                self.phase = Phase.CLOSED
        else:
            self.phase = Phase.CLOSED

    def _may_restart(self) -> bool:
        config = self._ctx.config
        possible = config.restartable and config.only is None
        return possible and bool(self._probes) and not self._restarted

    def _restart(self) -> None:
        self._restarted, self.phase = True, Phase.RESTARTING
        self._forget()
        reason = "it ended when it was asked for server/discover"
        self._ctx.notice(Restarted(reason))
        self._ctx.out.append(RestartServer(reason))

    def hold(self, wire_id: WireId, *, held: bool) -> None:
        """Stop the clocks while a request waits for a login, or let them go on."""
        if not held:
            self._patience.release(wire_id)
        elif wire_id in self._sent:
            self._patience.hold(wire_id, "probe", "connect")

    def server_started(self) -> None:
        """The server runs again: this time nothing but a plain handshake."""
        if self.phase is Phase.RESTARTING:
            self._handshake()

    # -- helpers -------------------------------------------------------------------

    def _send(
        self,
        method: str,
        params: dict[str, Any],
        on_reply: OnReply,
        on_fault: OnFault,
    ) -> None:
        wire_id = self._ctx.send_own(method, params, on_reply, on_fault=on_fault)
        self._sent.append(wire_id)
        self._account.begin_step()

    def _forget(self) -> None:
        for wire_id in self._sent:
            self._ctx.abort_own(wire_id)
            self._patience.release(wire_id)
        self._sent.clear()
        self._patience.end("probe")
