"""A modern verdict that still has to show that it is true.

What was remembered may be out of date, and some servers answer the probe and then
serve nothing but legacy: a gateway answers for them, or a half-finished upgrade.
The first success settles it. Until then, a refusal that a legacy server could have
given is kept back while one harmless question finds out; a server that cannot
answer that either is met as legacy from then on. A call that was refused unseen is
then sent again, and every other one gets the answer that it got.

Spec: 2026-07-28 ``basic/versioning`` § Backward Compatibility.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mcp_anyera.engine import detection, jsonrpc
from mcp_anyera.engine.calls import Call, Calls
from mcp_anyera.engine.config import CHECK_TIMEOUT
from mcp_anyera.engine.context import Context, WireId
from mcp_anyera.engine.detection import Legacy
from mcp_anyera.engine.effects import Message
from mcp_anyera.engine.events import Mistaken
from mcp_anyera.engine.exchanges import MODERN_CODES, ExchangeFault
from mcp_anyera.engine.failures import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_VERSION,
)
from mcp_anyera.engine.lifecycle import Lifecycle
from mcp_anyera.engine.subscriptions import LISTS

_LEGACY_SHAPED: Final = frozenset(
    {INVALID_REQUEST, METHOD_NOT_FOUND, CONNECTION_CLOSED, RESOURCE_NOT_FOUND}
)
"""What servers say that wait for a handshake, or for the id of a session."""
_UNSEEN: Final = frozenset(
    {INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, UNSUPPORTED_VERSION}
)
"""What a request is refused with that was not executed."""


class Proof:
    """Finds out whether a server that is in doubt is modern."""

    def __init__(self, context: Context, calls: Calls, lifecycle: Lifecycle) -> None:
        self._ctx = context
        self._calls = calls
        self._lifecycle = lifecycle
        self._waiting: list[tuple[Call, bool]] = []
        self._asked: WireId | None = None

    def of_error(self, call: Call, error: dict[str, Any]) -> bool:
        """Keep an error of the server back; ``False`` when it is no cause for doubt."""
        code = error["code"]
        if code in MODERN_CODES - {UNSUPPORTED_VERSION}:
            self._ctx.doubt = None
        if not self._doubtful(call.method, code):
            return False
        call.rejection = lambda: self._calls.reject(call, error)
        self._keep(call, unseen=code in _UNSEEN)
        return True

    def of_fault(self, call: Call, fault: ExchangeFault) -> bool:
        """Keep a failed exchange back; ``False`` when it says nothing about the era."""
        if self._ctx.doubt is None or not fault.conclusive:
            return False
        call.rejection = lambda: self._calls.fail(call, fault.failure(call.label))
        self._keep(call, unseen=True)
        return True

    def timed_out(self) -> None:
        """Take note that a call was not answered; it has had its error."""
        self._check()

    def _doubtful(self, method: str, code: int) -> bool:
        if self._ctx.doubt is None:
            return False
        listing = code == INVALID_PARAMS and method.endswith("/list")
        known = self._ctx.doubt == "remembered"
        return known or listing or code in _LEGACY_SHAPED

    def _keep(self, call: Call, *, unseen: bool) -> None:
        self._waiting.append((call, unseen))
        self._check()

    # -- the question --------------------------------------------------------------

    def _check(self) -> None:
        if self._asked is not None:
            return
        method = self._harmless()
        if method is None:
            self._settle()
            return
        self._asked = self._ctx.send_own(
            method, {}, self._answered(method), on_fault=self._failed(method)
        )
        text = f"{method} was not answered within {CHECK_TIMEOUT:g} s"
        when = self._ctx.now + CHECK_TIMEOUT
        self._ctx.timers.set("proof", when, lambda: self._refute(text))

    def _harmless(self) -> str | None:
        if self._ctx.doubt == "remembered":
            return "server/discover"
        offered = self._ctx.server_capabilities
        return next((f"{key}/list" for key in LISTS if key in offered), None)

    def _answered(self, method: str) -> Callable[[Message], None]:
        def answered(reply: Message) -> None:
            if method == "server/discover":
                finding = detection.classify(reply)
                wrong = finding.reason if isinstance(finding, Legacy) else None
            else:
                wrong = _refused(method, reply)
            self._settle() if wrong is None else self._refute(wrong)

        return answered

    def _failed(self, method: str) -> Callable[[ExchangeFault], None]:
        def failed(fault: ExchangeFault) -> None:
            if fault.conclusive and not fault.modern:
                self._refute(f"{method} failed: {fault.reason}")
            else:
                self._settle(proven=fault.conclusive)

        return failed

    # -- the outcome ---------------------------------------------------------------

    def _done(self) -> list[tuple[Call, bool]]:
        self._ctx.timers.clear("proof")
        if self._asked is not None:
            self._ctx.abort_own(self._asked)
        self._asked = None
        waiting, self._waiting = self._waiting, []
        return [(call, unseen) for call, unseen in waiting if not call.closed]

    def _settle(self, *, proven: bool = True) -> None:
        if proven:
            self._ctx.doubt = None
        for call, _ in self._done():
            call.give_up()

    def _refute(self, reason: str) -> None:
        waiting = self._done()
        if self._ctx.doubt == "remembered":
            self._ctx.notice(Mistaken(f"it is not modern any more: {reason}"))
        self._ctx.doubt = None
        for call, unseen in waiting:
            if not unseen:
                call.give_up()
        self._lifecycle.downgrade(f"the server is not modern after all: {reason}")
        for call, unseen in waiting:
            if unseen:
                self._calls.resend(call)


def _refused(method: str, reply: Message) -> str | None:
    error = reply.get("error")
    code = error.get("code") if jsonrpc.is_object(error) else None
    wrong = code in _LEGACY_SHAPED or code == INVALID_PARAMS
    return f"it offers {method} and refuses it with error {code}" if wrong else None
