"""The clocks of an opening, which stand still while somebody logs in."""

from __future__ import annotations

from collections.abc import Callable

from mcp_anyera.engine.context import Context, WireId
from mcp_anyera.engine.timers import Action


class Patience:
    """How long an opening may take, and how long its probe."""

    def __init__(self, context: Context) -> None:
        self._ctx = context
        self._held: set[WireId] = set()
        self._stopped: dict[str, tuple[float, Action]] = {}

    def begin(self, key: str, seconds: float, action: Callable[[], None]) -> None:
        """Run ``action`` after so many seconds, logins not counted."""
        self._ctx.timers.set(key, self._ctx.now + seconds, action)

    def end(self, *keys: str) -> None:
        """Forget clocks, running or not."""
        for key in keys:
            self._stopped.pop(key, None)
            self._ctx.timers.clear(key)

    def hold(self, wire_id: WireId, *keys: str) -> None:
        """Stop the clocks for the sake of one request; once is as good as twice."""
        self._held.add(wire_id)
        for key in keys:
            entry = self._ctx.timers.take(key)
            if entry is not None:
                self._stopped[key] = (entry[0] - self._ctx.now, entry[1])

    def release(self, wire_id: WireId) -> None:
        """Start them again when the last request goes on that has stopped them."""
        self._held.discard(wire_id)
        if self._held:
            return
        stopped, self._stopped = self._stopped, {}
        for key, (left, action) in stopped.items():
            self.begin(key, left, action)
