"""What was said on a connection, to be asserted on or looked at."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_anyera.engine import Message


@dataclass(frozen=True, slots=True)
class Entry:
    """One message."""

    sender: str
    """``"client"`` or ``"server"``."""
    message: Message
    """The JSON-RPC message as it was on the wire."""

    def __str__(self) -> str:
        """Render it as one line."""
        return f"{self.sender}: {_summary(self.message)}"


class Transcript(list[Entry]):
    """Everything that was said, in order. As a string, each message is a line."""

    def methods(self, sender: str) -> list[str]:
        """Return the methods that one side has used.

        Args:
            sender: ``"client"`` or ``"server"``.

        Returns:
            The methods of its requests and notifications, in order.
        """
        said = [entry.message for entry in self if entry.sender == sender]
        return [message["method"] for message in said if "method" in message]

    def params(self, method: str) -> list[Message]:
        """Return the params of every request or notification with this method."""
        said = [entry.message for entry in self]
        return [it.get("params") or {} for it in said if it.get("method") == method]

    def __str__(self) -> str:
        """Render the conversation."""
        return "\n".join(map(str, self))


def _summary(message: Message) -> str:
    if "method" in message:
        return _request(message["method"], message.get("params") or {})
    if "error" in message:
        return f"error {message['error']['code']}"
    asked = message["result"].get("inputRequests")
    if asked is None:
        return "result"
    return f"input_required {', '.join(one['method'] for one in asked.values())}"


def _request(method: str, params: Message) -> str:
    named = [method, params["name"]] if method == "tools/call" else [method]
    again = ["with answers"] if "inputResponses" in params else []
    return " ".join([*named, *again])
