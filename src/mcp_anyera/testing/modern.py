"""The manners of a modern server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Final

from mcp_anyera.engine import Message, jsonrpc
from mcp_anyera.engine.failures import METHOD_NOT_FOUND, UNSUPPORTED_VERSION
from mcp_anyera.engine.metadata import LOG_LEVEL_KEY, SERVER_INFO_KEY, SUBSCRIPTION_KEY
from mcp_anyera.eras import LATEST_LEGACY, LATEST_MODERN
from mcp_anyera.testing.calls import Call, Handler
from mcp_anyera.testing.steps import SILENCE, Script, ServerError, Told

UPDATED: Final = "notifications/resources/updated"
_FILTERS: Final = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
"""What a client listens for, by the notification that it then hears."""


class Modern:
    """No handshake; questions are a result, and the call comes again."""

    def __init__(self, say: Callable[[Message], None], about: Message) -> None:
        self._say = say
        self._about = about
        self._states = count(1)
        self._suspended: dict[str, Call] = {}
        self._listening: dict[int | str, Mapping[str, Any]] = {}

    def methods(self) -> dict[str, Handler]:
        """Return what every modern server answers."""
        return {
            "server/discover": self._discover,
            "subscriptions/listen": self._listen,
        }

    def _discover(self, _call: Call) -> Message:
        return {
            "supportedVersions": [LATEST_MODERN],
            "capabilities": self._about["capabilities"],
            "_meta": {SERVER_INFO_KEY: self._about["serverInfo"]},
        }

    def _listen(self, call: Call) -> Script:
        wanted = self._listening[call.id] = call.params["notifications"]
        params = {"_meta": {SUBSCRIPTION_KEY: call.id}, "notifications": wanted}
        yield Told("notifications/subscriptions/acknowledged", params)
        yield SILENCE

    def unknown(self, method: str) -> ServerError:
        """Return the error of JSON-RPC, or for a handshake what the client may use."""
        if method != "initialize":
            return ServerError(METHOD_NOT_FOUND, f"Method not found: {method}")
        data = {"supported": [LATEST_MODERN], "requested": LATEST_LEGACY}
        return ServerError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)

    def finish(self, result: Message) -> Message:
        """Say that the result is complete, unless it says something itself."""
        return {"resultType": "complete", **result}

    def ask(self, call: Call) -> None:
        """Answer with the questions, and keep the call for its retry."""
        state = f"state-{next(self._states)}"
        self._suspended[state] = call
        questions = {
            key: {"method": it.method, "params": it.params}
            for key, it in call.asked.items()
        }
        result = {"resultType": "input_required", "inputRequests": questions}
        self._say(jsonrpc.response(call.id, {**result, "requestState": state}))

    def resumed(self, message: Message) -> Call | None:
        """Take a retry: another request with the state of the first."""
        params = jsonrpc.params_of(message)
        call = self._suspended.pop(params.get("requestState", ""), None)
        if call is not None:
            call.id, call.params = message["id"], params
            call.answers = params.get("inputResponses", {})
        return call

    def log_level(self, call: Call) -> str | None:
        """Return what this call has opted in to."""
        return jsonrpc.meta_of(call.params).get(LOG_LEVEL_KEY)

    def news(self, method: str, params: Message) -> list[Message]:
        """Tell those who listen for it."""
        return [
            jsonrpc.notification(method, {**params, "_meta": {SUBSCRIPTION_KEY: id_}})
            for id_, wanted in self._listening.items()
            if _hears(wanted, method, params)
        ]

    def cancel(self, call: Call) -> None:
        """Stop telling a client that listens no more."""
        self._listening.pop(call.id, None)


def _hears(wanted: Mapping[str, Any], method: str, params: Message) -> bool:
    if method == UPDATED:
        return params.get("uri") in wanted.get("resourceSubscriptions", ())
    return bool(wanted.get(_FILTERS.get(method, "")))
