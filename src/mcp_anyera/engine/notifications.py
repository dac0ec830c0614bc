"""What servers tell: progress, log messages, changes.

Spec: 2026-07-28 ``basic/patterns/progress``, ``server/utilities/logging``,
``basic/patterns/subscriptions``.
"""

from __future__ import annotations

from typing import Any

from mcp_anyera.engine import jsonrpc
from mcp_anyera.engine.calls import Call, Calls
from mcp_anyera.engine.config import LOG_LEVELS, Questions
from mcp_anyera.engine.context import Context
from mcp_anyera.engine.effects import Message
from mcp_anyera.engine.metadata import SUBSCRIPTION_KEY
from mcp_anyera.engine.subscriptions import Subscriptions
from mcp_anyera.eras import Era


class Notifications:
    """The way of a server's notification to the client side."""

    def __init__(
        self, context: Context, calls: Calls, subscriptions: Subscriptions
    ) -> None:
        self._ctx = context
        self._calls = calls
        self._subscriptions = subscriptions

    def progress(self, message: Message) -> None:
        """Pass progress on as one rising series over all rounds of its call."""
        params = jsonrpc.params_of(message)
        call = self._calls.of_token(params.get("progressToken"))
        value = params.get("progress")
        if call is not None and _is_number(value):
            self._calls.progressed(call)
            self._ctx.deliver(_rising(call, message, params, value))
        elif self._ctx.era is Era.LEGACY:
            # A legacy task keeps its token after the call that began it.
            self._ctx.deliver(message)
        else:
            self._ctx.drop(message["method"], "it belongs to no open call")

    def log(self, message: Message) -> None:
        """Pass a log message on if it is as severe as was asked for."""
        wanted = self._ctx.log_level
        level = jsonrpc.params_of(message).get("level")
        if wanted is None and self._unasked():
            self._ctx.drop(message["method"], "no log_level asked for it")
        elif wanted is None:
            self._ctx.deliver(message)
        elif level in LOG_LEVELS and LOG_LEVELS.index(level) < LOG_LEVELS.index(wanted):
            self._ctx.drop("notifications/message", f"it is below {wanted}")
        else:
            self._ctx.deliver(message)

    def _unasked(self) -> bool:
        shell = self._ctx.config.questions is Questions.SHELL
        return shell and self._ctx.era is Era.MODERN and not self._ctx.opted_in

    def change(self, message: Message) -> None:
        """Pass a change on, without the id of the stream that it came on."""
        params = jsonrpc.params_of(message)
        meta = jsonrpc.meta_of(params)
        name = meta.get(SUBSCRIPTION_KEY)
        if name is None or (call := self._calls.of_wire(name)) is None:
            self._change_of_ours(message, name)
            return
        renamed = {**meta, SUBSCRIPTION_KEY: call.client_id}
        self._ctx.deliver({**message, "params": {**params, "_meta": renamed}})

    def _change_of_ours(self, message: Message, name: object) -> None:
        # One without an id breaks the rule for servers, but it is still news.
        if name is not None and not self._subscriptions.knows(name):
            self._ctx.drop(message["method"], "its subscription is over")
            return
        self._ctx.deliver(_without_subscription(message))

    def acknowledged(self, message: Message) -> None:
        """Take the acknowledgement of a listen stream."""
        params = jsonrpc.params_of(message)
        name = jsonrpc.meta_of(params).get(SUBSCRIPTION_KEY)
        if self._subscriptions.acknowledged(name, params.get("notifications")):
            return
        if self._calls.of_wire(name) is None:
            self._ctx.drop(message["method"], "it belongs to no subscription")
        else:
            self.change(message)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _rising(
    call: Call, message: Message, params: dict[str, Any], value: Any
) -> Message:
    if (
        call.rounds.newest is not None
        and not call.progress_offset
        and value <= call.last_progress
    ):
        call.progress_offset = call.last_progress
    call.last_progress = value + call.progress_offset
    if not call.progress_offset:
        return message
    shifted = {**params, "progress": call.last_progress}
    total: Any = params.get("total")
    if _is_number(total):
        shifted["total"] = total + call.progress_offset
    return {**message, "params": shifted}


def _without_subscription(message: Message) -> Message:
    params = jsonrpc.params_of(message)
    meta = jsonrpc.meta_of(params)
    if SUBSCRIPTION_KEY not in meta:
        return message
    kept = {key: value for key, value in meta.items() if key != SUBSCRIPTION_KEY}
    bare = {key: value for key, value in params.items() if key != "_meta"}
    if kept:
        bare["_meta"] = kept
    stripped = {key: value for key, value in message.items() if key != "params"}
    return {**stripped, "params": bare} if bare else stripped
