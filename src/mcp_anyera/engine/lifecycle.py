"""The life of a connection: opened for a session, opened again, ended.

`opening` finds out the era; this module knows whom it is for. The first one answers
the session's ``initialize``. A legacy session that the server has lost is opened again
in the same way, from the probe on, for the server may be another one by now; so is a
process that has ended, and a server that turns out not to be modern after all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp_anyera.engine import jsonrpc
from mcp_anyera.engine.context import Context, WireId
from mcp_anyera.engine.effects import Message
from mcp_anyera.engine.events import Connected, Downgraded, Event, Reopened, Verdict
from mcp_anyera.engine.failures import Failure, Fault
from mcp_anyera.engine.opening import Opening
from mcp_anyera.engine.phase import Phase


def _nothing(*_args: object) -> None:
    """Stand in until `recovery` listens."""


class Lifecycle:
    """The openings and the end of one connection."""

    def __init__(self, context: Context) -> None:
        self._ctx = context
        self.client_id: WireId | None = None
        """Id of the ``initialize`` that waits for an answer."""
        self.reopening: bool = False
        """Whether a session that was lost is being opened again."""
        self.broken: bool = False
        """Whether the last attempt at that has failed."""
        self.on_reopening: Callable[[], None] = _nothing
        self.on_reopened: Callable[[], None] = _nothing
        self.on_lost: Callable[[Failure], None] = _nothing
        self.has_no_legacy: bool = False
        """Whether a modern server was asked to shake hands, and would not."""
        self._legacy_only = self._locked = False
        self.downgraded: bool = False
        self._remembered = context.config.remembered
        self._opening = Opening(context)
        self._opening.on_found, self._opening.on_failed = self._found, self._failed

    @property
    def phase(self) -> Phase:
        """Where the opening stands."""
        return self._opening.phase

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
        self._again(Reopened(reason))
        self._start()

    def downgrade(self, reason: str, tool: str | None = None) -> None:
        """Open as legacy what was open as modern; a process is started again first."""
        self._legacy_only = self.downgraded = True
        self._again(Downgraded(reason, tool))
        self._start(restart=self._ctx.config.restartable)

    def revive(self) -> None:
        """Start a server again that has ended, and open it."""
        self._again(Reopened("the server had ended"))
        self._start(restart=True)

    def _again(self, event: Event) -> None:
        self._remembered = None
        self._ctx.notice(event)
        self.reopening, self.broken = True, False
        self.on_reopening()

    def ensure_session(self) -> None:
        """Open again what a call needs, after an attempt that has failed."""
        if self.broken:
            self._again(Reopened("the last attempt has failed"))
            self._start(restart=self._locked)

    def _start(self, *, restart: bool = False) -> None:
        self._opening.trusting = self.downgraded
        self._opening.start(
            self._remembered,
            legacy_only=self._legacy_only,
            again=self.reopening,
            restart=restart,
        )

    def give_up(self) -> None:
        """Stop because the session no longer wants to; nothing goes on the wire."""
        self.client_id = None
        self._opening.end(Phase.NEW)

    # -- what happens to the server ------------------------------------------------

    def hold(self, wire_id: WireId, *, held: bool) -> None:
        """Stop the clocks while a request waits for a login, or let them go on."""
        self._opening.hold(wire_id, held=held)

    def server_closed(self, reason: str) -> None:
        """The server ended; start it again if only the probe can be to blame."""
        self._opening.server_closed(reason)

    def server_started(self) -> None:
        """The server runs again, or another transport does."""
        self._opening.server_started()

    # -- what it came to -----------------------------------------------------------

    def _found(self, verdict: Verdict, result: dict[str, Any]) -> None:
        client_id, self.client_id = self.client_id, None
        self._ctx.notice(Connected(verdict))
        if client_id is not None:
            self._ctx.face_era = verdict.era
            self._ctx.reply(client_id, result)
        else:
            self.reopening = False
            self.on_reopened()

    def _failed(self, failure: Failure) -> None:
        client_id, self.client_id = self.client_id, None
        if self.reopening:
            # A process that has refused a handshake may be of no use for anything.
            self._locked = self._legacy_only and self._ctx.config.restartable
            self.has_no_legacy = self.has_no_legacy or self._legacy_only
            self.reopening, self.broken, self._legacy_only = False, True, False
            self._opening.end(Phase.READY)
            self.on_lost(failure)
            return
        self._opening.end(Phase.NEW)
        if client_id is not None:  # pragma: no branch - an opening is somebody's
            self._ctx.fail(client_id, failure)
