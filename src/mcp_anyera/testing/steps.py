"""What a scripted tool yields: questions, news, or silence."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from mcp_anyera.engine import Message

Script: TypeAlias = Generator[Any, Any, Any]
"""What a tool that yields is, for its annotation."""

SILENCE: Final = object()
"""What a tool yields so that its call is never answered."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. A tool that yields a list of them asks all in one round."""

    method: str
    """What is asked, such as ``"elicitation/create"``."""
    params: Message
    """Its params, as they go out."""


@dataclass(frozen=True, slots=True)
class Told:
    """A notification; the tool goes on at once."""

    method: str
    """The method of the notification."""
    params: Message
    """Its params, as they go out."""


class ServerError(Exception):
    """A JSON-RPC error: raised by a tool, or in it when its question is refused.

    Attributes:
        code: The JSON-RPC error code.
        message: The sentence that came with it.
        data: Whatever else came with it, or ``None``.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        """Keep the parts of the error."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def body(self) -> Message:
        """Return the JSON-RPC error object."""
        body: Message = {"code": self.code, "message": self.message}
        return body if self.data is None else {**body, "data": self.data}


def form(message: str, **properties: Mapping[str, Any]) -> Asked:
    """Ask for a form to be filled in.

    Args:
        message: What the user reads.
        **properties: The fields, each as its JSON schema. One without a ``default``
            is required.

    Returns:
        The question; its answer is a mapping with ``action`` and ``content``.
    """
    required = [name for name, schema in properties.items() if "default" not in schema]
    schema = {"type": "object", "properties": properties, "required": required}
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return Asked("elicitation/create", params)


def page(message: str, url: str, elicitation_id: str = "page-1") -> Asked:
    """Ask for a page to be visited.

    Args:
        message: What the user reads.
        url: The page.
        elicitation_id: Its id, as legacy servers give one.

    Returns:
        The question; its answer is a mapping with ``action``.
    """
    params = {"mode": "url", "message": message, "url": url}
    return Asked("elicitation/create", {**params, "elicitationId": elicitation_id})


def sample(text: str, max_tokens: int = 100) -> Asked:
    """Ask for a text of the client's model.

    Args:
        text: What the model is told, as the user's message.
        max_tokens: How long the text may be.

    Returns:
        The question; its answer is a mapping with ``content`` and ``model``.
    """
    content = {"type": "text", "text": text}
    messages = [{"role": "user", "content": content}]
    return Asked(
        "sampling/createMessage", {"messages": messages, "maxTokens": max_tokens}
    )


def roots() -> Asked:
    """Ask for the folders that the client shares.

    Returns:
        The question; its answer is a mapping with ``roots``.
    """
    return Asked("roots/list", {})


def log(level: str, data: Any) -> Told:
    """Log something.

    Args:
        level: Its severity. What is below the level that the client wants is not
            sent, and a modern server sends nothing to a call that wants none.
        data: What there is to say.
    """
    return Told("notifications/message", {"level": level, "data": data})


def progress(done: float, total: float | None = None) -> Told:
    """Report progress; nothing is sent to a call that wants none.

    Args:
        done: How far it is.
        total: How far there is to go, if that is known.
    """
    more = {} if total is None else {"total": total}
    return Told("notifications/progress", {"progress": done, **more})
