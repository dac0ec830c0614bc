"""What is mended underneath a call, so that its caller does not hear of it.

Nothing here sends a call again that may have run: a server that answers 404 for
a session, or refuses a revision or a header, has not looked at the call.

Spec: 2026-07-28 ``basic/transports/streamable-http`` § Client Behavior (headers);
2025-11-25 ``basic/transports`` § Session Management (404).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from mcp_anyera.engine import backchannel, jsonrpc
from mcp_anyera.engine.calls import Call, Calls
from mcp_anyera.engine.config import Exchange
from mcp_anyera.engine.context import Context
from mcp_anyera.engine.effects import Message
from mcp_anyera.engine.exchanges import ExchangeFault, SessionState
from mcp_anyera.engine.failures import (
    HEADER_MISMATCH,
    UNSUPPORTED_VERSION,
    Failure,
)
from mcp_anyera.engine.lifecycle import Lifecycle
from mcp_anyera.engine.subscriptions import Subscriptions
from mcp_anyera.eras import Era

MAX_PAGES: Final = 50
"""Pages of a tool list that are read for the headers of one call."""


class Recovery:
    """Sessions that were lost, eras that have changed, headers that were unknown."""

    def __init__(
        self,
        context: Context,
        calls: Calls,
        subscriptions: Subscriptions,
        lifecycle: Lifecycle,
    ) -> None:
        self._ctx = context
        self._calls = calls
        self._subscriptions = subscriptions
        self._lifecycle = lifecycle
        self._subscribed: dict[str, None] = {}
        lifecycle.on_reopening = self._begin
        lifecycle.on_reopened = self._restore
        lifecycle.on_lost = self._give_up

    # -- what a call met -----------------------------------------------------------

    def of_fault(self, call: Call, fault: ExchangeFault) -> bool:
        """Take a failed exchange; ``False`` when the call has to bear it."""
        if fault.session is SessionState.UNTOUCHED or call.resent:
            return False
        call.resent = True
        if fault.session is SessionState.GONE and not self._lifecycle.reopening:
            self._lifecycle.reopen(f"the server has lost the session ({fault.reason})")
        self._calls.resend(call)
        return True

    def of_error(self, call: Call, error: dict[str, Any]) -> bool:
        """Take an error of the server; ``False`` when it is for the caller."""
        if self._ctx.config.exchange is not Exchange.HTTP:
            return False
        code, modern = error["code"], self._ctx.era is Era.MODERN
        if modern and code == HEADER_MISMATCH:
            return self._list_tools(call, error)
        changed = not modern and code in {HEADER_MISMATCH, UNSUPPORTED_VERSION}
        if not changed or call.resent or self._ctx.config.only is Era.LEGACY:
            return False
        call.resent = True
        if not self._lifecycle.reopening:
            self._lifecycle.reopen(f"the server has become modern (error {code})")
        self._calls.resend(call)
        return True

    def note(self, call: Call) -> None:
        """Remember what a legacy server has agreed to keep for us."""
        params = call.params or {}
        match call.method:
            case "logging/setLevel":
                self._ctx.log_level = params.get("level")
            case "resources/subscribe":
                self._subscribed[str(params.get("uri"))] = None
            case "resources/unsubscribe":
                self._subscribed.pop(str(params.get("uri")), None)
            case _:
                return

    # -- a tool that calls back ----------------------------------------------------

    def of_missing_back_channel(self, call: Call, reply: Message) -> bool:
        """Take the error of a tool that calls back; ``False`` when it has to stand."""
        config = self._ctx.config
        wanted = config.no_back_channel == "legacy" and config.only is None
        # A server that was slow may be met as legacy and still be in two minds.
        fresh = self._ctx.era is Era.MODERN or not self._lifecycle.downgraded
        possible = config.restartable and not self._lifecycle.has_no_legacy
        if not (wanted and possible and fresh and backchannel.missing(reply)):
            return False
        call.rejection = partial(self._pass_on, call, reply)
        self._go_legacy(call)
        return True

    def _pass_on(self, call: Call, reply: Message) -> None:
        if "error" in reply:
            self._calls.reject(call, reply["error"])
        else:
            self._calls.complete(call, reply["result"])

    def start(self, call: Call) -> bool:
        """Take a call of a tool that is known to call back; ``False`` for any other."""
        tool = call.info.name
        known = call.method == "tools/call" and tool in self._ctx.config.legacy_tools
        config = self._ctx.config
        possible = config.restartable and not self._lifecycle.has_no_legacy
        if not (known and possible and self._ctx.era is Era.MODERN):
            return False
        self._go_legacy(call)
        return True

    def _go_legacy(self, call: Call) -> None:
        # Never a second copy: the process is ended once nothing else is at work.
        tool, waits = call.info.name, self._calls.on_idle is not None
        self._calls.hold(only_new=True)
        self._calls.resend(call)
        text = f"the tool {tool!r} calls the client back, which is legacy"
        if not waits:
            downgrade = partial(self._lifecycle.downgrade, text, tool)
            self._calls.when_idle(downgrade)

    # -- a session -----------------------------------------------------------------

    def _begin(self) -> None:
        self._calls.hold()
        if self._ctx.era is Era.MODERN:
            self._subscribed.update(dict.fromkeys(self._subscriptions.leave()))

    def _restore(self) -> None:
        ctx = self._ctx
        if ctx.era is Era.LEGACY:
            ctx.send(jsonrpc.notification("notifications/initialized"))
            ctx.ask_for_logs()
            for uri in self._subscribed:
                ctx.send_own("resources/subscribe", {"uri": uri}, lambda _reply: None)
        else:
            if ctx.config.list_changes:
                self._subscriptions.watch_lists()
            self._subscriptions.take_over(self._subscribed)
            self._subscribed = {}
        self._calls.release()

    def _give_up(self, failure: Failure) -> None:
        self._calls.fail_held(failure)

    # -- headers -------------------------------------------------------------------

    def _list_tools(self, call: Call, error: dict[str, Any]) -> bool:
        if call.relisted or call.method != "tools/call":
            return False
        call.relisted = True
        self._list_page(call, error, {}, MAX_PAGES)
        return True

    def _list_page(
        self, call: Call, error: dict[str, Any], params: dict[str, Any], left: int
    ) -> None:
        def listed(reply: Message) -> None:
            if not call.closed:
                self._listed(call, error, reply, left)

        self._ctx.send_own("tools/list", params, listed)

    def _listed(
        self, call: Call, error: dict[str, Any], reply: Message, left: int
    ) -> None:
        result = reply.get("result")
        if not jsonrpc.is_object(result):
            self._calls.reject(call, error)
            return
        self._ctx.learn_tools(result)
        cursor = result.get("nextCursor")
        if isinstance(cursor, str) and left > 1:
            self._list_page(call, error, {"cursor": cursor}, left - 1)
        else:
            self._calls.resend(call)
