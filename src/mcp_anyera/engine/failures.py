"""What can go wrong inside the layer, and how it reads as a JSON-RPC error.

An error that the *server* sent is never one of these: it travels on untouched.
A failure is decided here and must not be mistaken for the server's (2026-07-28
``basic`` § Error Codes), so its ``data`` names the fault under our own prefix.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mcp_anyera.engine.events import Step

INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
CONNECTION_CLOSED: Final = -32000
"""What both SDK lines use for a call whose connection went away."""
REQUEST_TIMEOUT: Final = -32001
"""What SDK 2.x uses for a call that took too long."""
RESOURCE_NOT_FOUND: Final = -32002
"""Legacy only; 2026-07-28 says -32602 with ``data.uri``."""
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022

FAULT_KEY: Final = "io.github.mcp-anyera/fault"
"""Key in ``error.data`` that marks an error as made by this library."""


class Fault(Enum):
    """The kind of a failure; each has its own exception class above the SDK."""

    REFUSED = "refused"
    """A question that nothing registered can, or may, answer."""
    DECLINED = "declined"
    """The user said no, and the server insists."""
    CALLBACK = "callback"
    """A callback raised, or returned what is no answer."""
    TIMEOUT = "timeout"
    """A call, an answer or the whole exchange took longer than allowed."""
    ROUNDS = "rounds"
    """The server keeps asking."""
    VIOLATION = "violation"
    """The server sent what the protocol does not allow."""
    LOST = "lost"
    """The connection ended while the call was open."""
    CONNECT = "connect"
    """No connection came about."""
    HTTP = "http"
    """The server answered with an HTTP status and nothing that JSON-RPC knows."""
    BAD_REQUEST = "bad_request"
    """The client side sent what cannot be sent on."""


_CODES: Final = {
    Fault.REFUSED: INVALID_REQUEST,
    Fault.DECLINED: INTERNAL_ERROR,
    Fault.CALLBACK: INTERNAL_ERROR,
    Fault.TIMEOUT: REQUEST_TIMEOUT,
    Fault.ROUNDS: INTERNAL_ERROR,
    Fault.VIOLATION: INTERNAL_ERROR,
    Fault.LOST: CONNECTION_CLOSED,
    Fault.CONNECT: INTERNAL_ERROR,
    Fault.HTTP: INTERNAL_ERROR,
    Fault.BAD_REQUEST: INVALID_REQUEST,
}


STATUS_KEY: Final = "io.github.mcp-anyera/status"
"""Key in ``error.data`` for the HTTP status that a failure came with."""


@dataclass(frozen=True, slots=True)
class HttpFacts:
    """What HTTP said about a failure."""

    status: int | None = None
    """The status code; ``None`` when no response came."""
    challenge: str | None = None
    """``WWW-Authenticate``: what a 401 or 403 asks for."""
    retry_after: str | None = None
    """``Retry-After``, as it came: seconds or a date."""


NO_HTTP: Final = HttpFacts()


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure of one call, as data.

    The shell turns it into an exception or lets it travel as a JSON-RPC error.
    """

    fault: Fault
    """Its kind, which decides the class of the exception."""
    message: str
    """What happened, in which state, what was expected and what to do."""
    code: int | None = None
    """JSON-RPC code; ``None`` takes the fault's usual one."""
    data: Any = None
    """A peer's own ``error.data``, passed on; ours is made when this is ``None``."""
    questions: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    """For ``ROUNDS``: the questions that were left, as the server sent them."""
    steps: tuple[Step, ...] = field(default=(), repr=False)
    """For ``CONNECT``: what was tried."""
    http: HttpFacts = NO_HTTP
    """What HTTP said; empty on other transports."""
    cause: Failure | BaseException | dict[str, Any] | None = field(
        default=None, repr=False
    )
    """What was raised, what went wrong when something else was tried, or the error
    object of the server."""

    def as_error(self) -> dict[str, Any]:
        """Return the JSON-RPC error object that carries this failure."""
        code = _CODES[self.fault] if self.code is None else self.code
        data = self._marks() if self.data is None else self.data
        return {"code": code, "message": self.message, "data": data}

    def _marks(self) -> dict[str, Any]:
        marks: dict[str, Any] = {FAULT_KEY: self.fault.value}
        if self.http.status is not None:
            marks[STATUS_KEY] = self.http.status
        return marks

    def for_server(self) -> dict[str, Any]:
        """Return what a legacy server is told, which has no use for our marks."""
        body = self.as_error()
        if self.data is None:
            del body["data"]
        return body
