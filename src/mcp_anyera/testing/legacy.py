"""The manners of a legacy server."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from mcp_anyera.engine import Message, jsonrpc
from mcp_anyera.engine.config import LOG_LEVELS
from mcp_anyera.engine.failures import METHOD_NOT_FOUND
from mcp_anyera.eras import LATEST_LEGACY, LEGACY_REVISIONS
from mcp_anyera.testing.calls import Call, Handler
from mcp_anyera.testing.steps import ServerError


class Legacy:
    """A handshake; questions are requests of the server's own."""

    def __init__(self, say: Callable[[Message], None], about: Message) -> None:
        self._say = say
        self._about = about
        self._ids = count(1)
        self._asked: dict[int | str, tuple[Call, str]] = {}
        self._level = LOG_LEVELS[0]

    def methods(self) -> dict[str, Handler]:
        """Return what every legacy server answers."""
        names = ("ping", "resources/subscribe", "resources/unsubscribe")
        return {
            **dict.fromkeys(names, _agree),
            "initialize": self._initialize,
            "logging/setLevel": self._set_level,
        }

    def _initialize(self, call: Call) -> Message:
        asked = call.params["protocolVersion"]
        agreed = asked if asked in LEGACY_REVISIONS else LATEST_LEGACY
        return {
            "protocolVersion": agreed,
            "capabilities": self._about["capabilities"],
            "serverInfo": self._about["serverInfo"],
        }

    def _set_level(self, call: Call) -> Message:
        self._level = call.params["level"]
        return {}

    def unknown(self, method: str) -> ServerError:
        """Return the error of JSON-RPC."""
        return ServerError(METHOD_NOT_FOUND, f"Method not found: {method}")

    def finish(self, result: Message) -> Message:
        """Return the result as it is."""
        return result

    def ask(self, call: Call) -> None:
        """Send each question as a request."""
        for key, question in call.asked.items():
            request_id = f"ask-{next(self._ids)}"
            self._asked[request_id] = (call, key)
            params = question.params or None
            self._say(jsonrpc.request(request_id, question.method, params))

    def resumed(self, message: Message) -> Call | None:
        """Take an answer; the last one of a round ends it."""
        if "method" in message or message["id"] not in self._asked:
            return None
        call, key = self._asked.pop(message["id"])
        if "error" in message:
            error = message["error"]
            refusal = ServerError(error["code"], error["message"], error.get("data"))
            call.answers[key] = refusal
        else:
            call.answers[key] = message["result"]
        return call if len(call.answers) == len(call.asked) else None

    def log_level(self, call: Call) -> str | None:
        """Return the level of the connection."""
        del call
        return self._level

    def news(self, method: str, params: Message) -> list[Message]:
        """Tell everybody at once."""
        return [jsonrpc.notification(method, params or None)]

    def cancel(self, call: Call) -> None:
        """Withdraw the questions of a call that was cancelled."""
        for request_id, (asking, _key) in list(self._asked.items()):
            if asking is call:
                del self._asked[request_id]
                params = {"requestId": request_id}
                self._say(jsonrpc.notification("notifications/cancelled", params))


def _agree(_call: Call) -> Message:
    return {}
