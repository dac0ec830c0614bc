"""What the rule modules of one engine share: the clock, the ids, the outbox.

One context belongs to one connection. Effects are collected in order while one
input is being worked on and handed out when it is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from mcp_anyera.engine import jsonrpc
from mcp_anyera.engine.config import EngineConfig, Exchange
from mcp_anyera.engine.effects import (
    AbortLeg,
    Effect,
    Message,
    Notice,
    ToClient,
    ToServer,
)
from mcp_anyera.engine.events import Dropped, Event, ToolHidden
from mcp_anyera.engine.exchanges import ExchangeFault
from mcp_anyera.engine.failures import Failure, Fault
from mcp_anyera.engine.headers import Headers
from mcp_anyera.engine.metadata import legacy_revision_for, stamp, stamped
from mcp_anyera.engine.timers import Timers
from mcp_anyera.eras import Era

WireId: TypeAlias = int | str
Handler: TypeAlias = Callable[[Message], None]
OnReply: TypeAlias = Handler
OnFault: TypeAlias = Callable[[ExchangeFault], None]


@dataclass(frozen=True, slots=True)
class OwnRequest:
    """Who waits for the reply to a request of our own."""

    replied: OnReply
    failed: OnFault


class Context:
    """The state that belongs to the connection and to no single feature."""

    def __init__(self, config: EngineConfig) -> None:
        self.config = config
        self.timers: Timers = Timers()
        self.now: float = 0.0
        self.out: list[Effect] = []
        self.era: Era | None = None
        self.revision: str | None = None
        self.server_capabilities: dict[str, Any] = {}
        self.initialize: dict[str, Any] = {}
        """Params of the session's ``initialize``."""
        self.log_level: str | None = config.log_level
        self.opted_in = False
        """Whether a single request has asked for log messages by itself."""
        self.members: dict[str, Any] = {}
        """What every modern request carries in ``_meta``."""
        self.open: set[WireId] = set()
        """Ids of the client side that still wait for an answer."""
        self.face_era: Era | None = None
        """The era that the client side was told; a server may change its own."""
        self.suspicion: str | None = None
        """Why a legacy server may be unable to ask, as a clause for errors."""
        self.doubt: str | None = None
        """Why a modern verdict still has to show that it is true; see `proof`."""
        self._http = config.exchange is Exchange.HTTP
        self._headers = Headers()
        self._own: dict[WireId, OwnRequest] = {}
        self._serial = 0

    # -- identity ------------------------------------------------------------------

    @property
    def declared(self) -> dict[str, Any]:
        """The capabilities that the server was told."""
        capabilities = self.initialize.get("capabilities")
        return capabilities if jsonrpc.is_object(capabilities) else {}

    @property
    def face_revision(self) -> str:
        """The revision that a session with a handshake speaks."""
        return legacy_revision_for(self.initialize)

    @property
    def known_era(self) -> Era:
        """The era, where only a known one leads."""
        assert self.era is not None
        return self.era

    def next_id(self) -> int:
        """Return a request id that this connection has not used before."""
        self._serial += 1
        return self._serial

    def next_name(self, kind: str) -> str:
        """Return a string id that cannot be anybody else's."""
        return f"{self.config.prefix}-{kind}-{self.next_id()}"

    def adopt(self, era: Era, revision: str, capabilities: object) -> None:
        """Take over what an opening has found out about the server."""
        self.era, self.revision = era, revision
        known = jsonrpc.is_object(capabilities)
        self.server_capabilities = capabilities if known else {}

    def restamp(self) -> None:
        """Work out again what every modern request carries."""
        assert self.revision is not None
        self.members = stamp(self.revision, self.initialize, self.log_level)

    # -- towards the server --------------------------------------------------------

    def send(self, message: Message) -> None:
        """Write one message to the server."""
        headers = None
        if self._http:
            legacy = self.revision if self.era is Era.LEGACY else None
            headers = self._headers.of(message, legacy)
        self.out.append(ToServer(message, headers))

    def send_own(
        self,
        method: str,
        params: dict[str, Any],
        on_reply: OnReply,
        wire_id: WireId | None = None,
        on_fault: OnFault | None = None,
        *,
        bare: bool = False,
    ) -> WireId:
        """Send a request of our own; a modern one gets its metadata here.

        What opens a connection is ``bare``: it says by itself what it has to say.

        Without ``on_fault``, a failed exchange counts as an error reply.
        """
        own_id = self.next_id() if wire_id is None else wire_id
        as_reply = _as_error_reply(method, own_id, on_reply)
        self._own[own_id] = OwnRequest(on_reply, on_fault or as_reply)
        modern = self.era is Era.MODERN and not bare
        body = stamped(params, self.members) if modern else params
        self.send(jsonrpc.request(own_id, method, body))
        return own_id

    def take_own(self, wire_id: object) -> OwnRequest | None:
        """Return, once, who waits for the reply to a request of our own."""
        return self._own.pop(wire_id, None) if jsonrpc.is_id(wire_id) else None

    def forget_own(self, wire_id: WireId) -> None:
        """Stop waiting for a reply; when it comes after all it is dropped."""
        self._own.pop(wire_id, None)

    def abort_own(self, wire_id: WireId) -> None:
        """Stop waiting, and over HTTP close the exchange too."""
        if self._own.pop(wire_id, None) is not None and self._http:
            self.out.append(AbortLeg(wire_id))

    def cancel_wire(self, wire_id: WireId, reason: str) -> None:
        """Tell the wire that a request is given up, in the way of its transport."""
        if not (self._http and self.era is Era.MODERN):
            params = {"requestId": wire_id, "reason": reason}
            self.send(jsonrpc.notification("notifications/cancelled", params))
        if self._http:
            # On a legacy wire this is no cancellation, but nobody reads on.
            self.out.append(AbortLeg(wire_id))

    def learn_tools(self, result: dict[str, Any]) -> dict[str, Any]:
        """Read a ``tools/list`` result for headers; return what may be shown of it."""
        if not self._http or self.era is not Era.MODERN:
            return result
        shown, hidden = self._headers.learn(result)
        for name, reason in hidden.items():
            self.notice(ToolHidden(name, reason))
        return shown

    def ask_for_logs(self) -> None:
        """Tell a legacy server which log messages are wanted, where it has any.

        Best effort: what a server that dislikes it sends is filtered all the same.
        """
        logs = jsonrpc.is_object(self.server_capabilities.get("logging"))
        if self.log_level is not None and logs:
            level = {"level": self.log_level}
            self.send_own("logging/setLevel", level, lambda _reply: None)

    # -- towards the client side ---------------------------------------------------

    def deliver(self, message: Message) -> None:
        """Give one message, that answers nothing, to the client side."""
        self.out.append(ToClient(message))

    def reply(self, client_id: WireId, result: dict[str, Any]) -> None:
        """Answer a request of the client side."""
        self.open.discard(client_id)
        self.out.append(ToClient(jsonrpc.response(client_id, result)))

    def reject(self, client_id: WireId, error: dict[str, Any]) -> None:
        """Answer a request of the client side with the server's own error."""
        self.open.discard(client_id)
        self.out.append(ToClient(jsonrpc.error(client_id, error)))

    def fail(self, client_id: WireId | None, failure: Failure) -> None:
        """Answer a request of the client side with a failure of ours."""
        if client_id is not None:
            self.open.discard(client_id)
        error = jsonrpc.error(client_id, failure.as_error())
        self.out.append(ToClient(error, failure))

    # -- towards whoever watches ---------------------------------------------------

    def notice(self, event: Event) -> None:
        """Report that something happened."""
        self.out.append(Notice(event))

    def drop(self, what: str, reason: str) -> None:
        """Report that a message goes no further."""
        self.notice(Dropped(what, reason))


def _as_error_reply(method: str, own_id: WireId, on_reply: OnReply) -> OnFault:
    def failed(fault: ExchangeFault) -> None:
        body = fault.error or fault.failure(method, Fault.LOST).as_error()
        on_reply(jsonrpc.error(own_id, body))

    return failed
