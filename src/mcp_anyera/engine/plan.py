"""What an opening tries, in which order and how often.

The usual order is the probe first, for some servers lock when a handshake comes
before it. A caller may want the handshake first, where servers are known to be
legacy; so does a memory that says so, and a downgrade leaves nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp_anyera.engine.config import EngineConfig, Remembered
from mcp_anyera.engine.context import WireId
from mcp_anyera.engine.detection import Modern
from mcp_anyera.engine.exchanges import ExchangeFault
from mcp_anyera.engine.failures import (
    HEADER_MISMATCH,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
)
from mcp_anyera.engine.metadata import legacy_revision_for
from mcp_anyera.eras import LEGACY_REVISIONS, Era, era_of

_FORWARD: Final = frozenset({METHOD_NOT_FOUND, UNSUPPORTED_VERSION, HEADER_MISMATCH})
"""What ``initialize`` is refused with where only modern requests are known."""
_BAD_REQUEST: Final = 400


class Plan:
    """The state of one opening that decides what comes next."""

    def __init__(
        self,
        config: EngineConfig,
        initialize: Mapping[str, Any],
        *,
        remembered: Remembered | None = None,
        legacy_only: bool = False,
    ) -> None:
        """Begin.

        Args:
            config: The rules of the connection.
            initialize: Params of the session's ``initialize``.
            remembered: What is known of the server from before.
            legacy_only: Whether nothing but a handshake is left to try.
        """
        self.only: Era | None = Era.LEGACY if legacy_only else config.only
        self.remembered: Remembered | None = remembered if self.only is None else None
        self.handshake_first: bool = self.only is None and (
            config.probe == "legacy_first" or _sure_of_legacy(self.remembered)
        )
        self.probes = 0
        self.restarted = False
        self.silent: WireId | None = None
        """The probe that had no answer when the handshake began."""
        self.late: Modern | None = None
        """What the probe was answered with after the handshake had begun."""
        self.refused = False
        """Whether a handshake was refused before the probe went out."""
        self.refusal: ExchangeFault | None = None
        """The exchange that has refused it."""
        self.then_probe = False
        """Whether the process that is started again is to be probed."""
        self._rungs = _rungs(config, initialize)

    @property
    def revision(self) -> str:
        """The revision to shake hands at."""
        return self._rungs[0]

    def next_rung(self) -> bool:
        """Go on to an older revision; ``False`` when there is none."""
        if len(self._rungs) == 1:
            return False
        del self._rungs[0]
        return True

    def may_probe(self) -> bool:
        """Tell whether another probe makes sense."""
        return self.only is None and self.probes <= 1

    def forward(self, code: object, fault: ExchangeFault | None) -> bool:
        """Tell whether a refused handshake means that the server may be modern.

        Args:
            code: The JSON-RPC code of the refusal, or ``None``.
            fault: The HTTP exchange that was refused, if there was one.
        """
        unwell = fault is not None and not fault.conclusive
        if unwell or not self.may_probe():
            return False
        if code == UNSUPPORTED_VERSION:
            return True
        first = self.handshake_first and not self.probes
        status = None if fault is None else fault.http.status
        wrong = self.remembered is not None or code in _FORWARD
        return first and (wrong or status == _BAD_REQUEST)


def _sure_of_legacy(known: Remembered | None) -> bool:
    # One that has answered the probe late is dual-era, and gets more patience.
    return known is not None and known.era is Era.LEGACY and known.patience is None


def _rungs(config: EngineConfig, initialize: Mapping[str, Any]) -> list[str]:
    if era_of(config.mode) is Era.LEGACY:
        return [config.mode]
    newest = legacy_revision_for(initialize)
    if not config.handshake_ladder:
        return [newest]
    return list(LEGACY_REVISIONS[LEGACY_REVISIONS.index(newest) :])
