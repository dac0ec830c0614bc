"""What an opening has tried, and the sentence about it when nothing worked."""

from __future__ import annotations

from typing import Final

from mcp_anyera.engine.config import EngineConfig
from mcp_anyera.engine.context import Context
from mcp_anyera.engine.events import Step
from mcp_anyera.engine.exchanges import AUTHORIZATION, ExchangeFault
from mcp_anyera.engine.failures import NO_HTTP, Failure, Fault
from mcp_anyera.eras import Era

_DENIED: Final = (
    "the server refused the credentials; check them (headers=, auth= or http_client=)"
)


class Account:
    """The steps of one opening, and the refusals that count more than the last one."""

    def __init__(self, context: Context) -> None:
        self._ctx = context
        self._began = context.now
        self._steps: list[Step] = []
        self.denied: ExchangeFault | None = None
        """What refused the credentials that came with the probe."""
        self.first: ExchangeFault | None = None
        """What refused the handshake before the transport was changed."""

    @property
    def evidence(self) -> tuple[Step, ...]:
        """The steps so far."""
        return tuple(self._steps)

    def begin_step(self) -> None:
        """Note that something is being tried from now on."""
        self._began = self._ctx.now

    def step(self, what: str, outcome: str) -> None:
        """Note what came of something that was tried."""
        self._steps.append(Step(what, outcome, self._ctx.now - self._began))

    def failure(self, reason: str, fault: ExchangeFault | None) -> Failure:
        """Return the failure of the opening.

        Args:
            reason: Why it is over.
            fault: The exchange that has ended it, if it was one.
        """
        cause = None if fault is None else fault.exception
        if self.first is not None:
            # The first error tells more: most servers are at the right address.
            cause = Failure(Fault.CONNECT, f"the HTTP+SSE transport failed: {reason}")
            fault, reason = self.first, "the handshake was refused"
        elif self.denied is not None:
            # Whatever `initialize` met, this is what somebody can do something about.
            fault, reason, cause = self.denied, _DENIED, self.denied.exception
        target = self._ctx.config.target
        tried = "; ".join(map(str, self._steps)) or "nothing was tried before"
        return Failure(
            Fault.CONNECT,
            f"could not connect to {target}: {reason} (tried: {tried})",
            steps=self.evidence,
            http=NO_HTTP if fault is None else fault.http,
            cause=cause,
        )


def why_unasked(fault: ExchangeFault) -> str:
    """Return why a failed probe is no verdict."""
    if fault.http.status in AUTHORIZATION:
        return "the server wants credentials (headers=, auth= or http_client=)"
    return "the server could not be asked for its era"


def why_shut(config: EngineConfig) -> str:
    """Return why there is nothing left to try after a handshake that was refused."""
    if config.only is Era.LEGACY:
        return (
            f"the server refused the handshake, and mode={config.mode!r} "
            "allows nothing else; use mode='auto'"
        )
    return "the server accepts neither opening"
