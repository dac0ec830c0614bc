"""An HTTP exchange that gave no JSON-RPC result, and what its status means.

A status is evidence about the era in few cases only. Who may come in, and
whether the server is well, says nothing about the protocol that it speaks.

Spec: 2026-07-28 ``basic/transports/streamable-http`` § Backward Compatibility;
2025-11-25 ``basic/transports`` § Session Management.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from mcp_anyera.engine.failures import (
    HEADER_MISMATCH,
    MISSING_CAPABILITY,
    NO_HTTP,
    UNSUPPORTED_VERSION,
    Failure,
    Fault,
    HttpFacts,
)
from mcp_anyera.engine.jsonrpc import is_error

AUTHORIZATION: Final = frozenset({401, 403})
_NOT_NOW: Final = frozenset({408, 425, 429})
_NOT_OURS: Final = frozenset({3, 5})
"""Classes of status that are about the place or its health."""
_NO_SUCH_PLACE: Final = frozenset({400, 404, 405})
MODERN_CODES: Final = frozenset(
    {HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION}
)


class SessionState(Enum):
    """What the exchange says about the legacy session that it named."""

    UNTOUCHED = auto()
    """Nothing, or it named none."""
    GONE = auto()
    """The server does not know it any more; the request was not executed."""
    STALE = auto()
    """The same, and another session has taken its place already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeFault:
    """How one HTTP exchange failed."""

    fault: Fault
    """The kind of failure that it is for the call."""
    reason: str
    """A clause that says what happened, such as ``"HTTP 503 Service Unavailable"``."""
    http: HttpFacts = NO_HTTP
    """What HTTP said."""
    error: dict[str, Any] | None = None
    """The JSON-RPC error in the body of a 4xx or 5xx."""
    credentials: bool = False
    """Whether the request carried any."""
    session: SessionState = SessionState.UNTOUCHED
    """What it says about the legacy session."""
    exception: BaseException | None = None
    """What the HTTP library raised."""

    @property
    def modern(self) -> bool:
        """Whether it holds an error that only modern servers know."""
        return is_error(self.error) and (self.error or {})["code"] in MODERN_CODES

    @property
    def conclusive(self) -> bool:
        """Whether it says anything about the era of the server."""
        status = self.http.status
        if status is None or status in AUTHORIZATION:
            return False
        unwell = status // 100 in _NOT_OURS or status in _NOT_NOW
        return self.modern or not unwell

    @property
    def elsewhere(self) -> bool:
        """Whether the old HTTP+SSE transport may be what is served here."""
        return self.http.status in _NO_SUCH_PLACE and not self.modern

    def failure(self, label: str, fault: Fault | None = None) -> Failure:
        """Return the failure of what the exchange was for.

        Args:
            label: What it was for, as errors name it.
            fault: Its kind, where that is not the exchange's own.
        """
        said = "" if self.error is None else f": {str(self.error.get('message'))[:200]}"
        advice = ""
        if self.http.status in AUTHORIZATION:
            advice = "; check the credentials (headers=, auth= or http_client=)"
        text = f"{label} failed: {self.reason}{said}{advice}"
        kind = self.fault if fault is None else fault
        return Failure(kind, text, http=self.http, cause=self.exception)
