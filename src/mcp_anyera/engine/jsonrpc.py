"""JSON-RPC shapes: telling messages apart, and building them.

Messages come from strangers. What leaves `classify` as a request, a response
or a notification has members of the right types; everything else has a reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, TypeGuard, cast

from mcp_anyera.engine.effects import Message


class Shape(Enum):
    """What kind of JSON-RPC message a value is."""

    REQUEST = auto()
    NOTIFICATION = auto()
    RESPONSE = auto()
    ERROR = auto()


def is_id(value: object) -> TypeGuard[int | str]:
    """Tell whether a value may be a request id: a string or an integer."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a value is a JSON object."""
    return isinstance(value, dict)


def classify(message: object) -> Shape | str:
    """Return the shape of a message, or a phrase that says what is wrong with it."""
    if not is_object(message):
        return "it is not a JSON object"
    if "method" in message:
        return _classify_call(message)
    if "id" not in message:
        return "it has neither a method nor an id"
    if ("result" in message) == ("error" in message):
        return "it must have exactly one of result and error"
    return _classify_reply(message)


def _classify_call(message: Message) -> Shape | str:
    if not isinstance(message["method"], str):
        return "its method is not a string"
    if not (message.get("params") is None or is_object(message["params"])):
        return "its params are not an object"
    if "id" not in message:
        return Shape.NOTIFICATION
    return Shape.REQUEST if is_id(message["id"]) else "its id is no string or integer"


def _classify_reply(message: Message) -> Shape | str:
    if "result" in message:
        return (
            Shape.RESPONSE
            if is_object(message["result"])
            else "its result is not an object"
        )
    return Shape.ERROR if is_error(message["error"]) else "its error is malformed"


def is_error(value: object) -> bool:
    """Tell whether a value is a JSON-RPC error object: integer code, string message."""
    if not is_object(value):
        return False
    code = value.get("code")
    return (
        isinstance(code, int)
        and not isinstance(code, bool)
        and isinstance(value.get("message"), str)
    )


def as_message(value: object) -> Message:
    """Narrow a value that `classify` has recognised."""
    return cast("Message", value)


def params_of(message: Message) -> dict[str, Any]:
    """Return the params of a classified message; an absent or null one is empty."""
    return message.get("params") or {}


def meta_of(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``_meta`` of params or of a result; anything but an object is empty."""
    meta = params.get("_meta")
    return cast("dict[str, Any]", meta) if isinstance(meta, dict) else {}


def request(
    request_id: int | str, method: str, params: dict[str, Any] | None
) -> Message:
    """Build a request; ``params=None`` leaves the member out."""
    message: Message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    if params is not None:
        message["params"] = params
    return message


def notification(method: str, params: dict[str, Any] | None = None) -> Message:
    """Build a notification; ``params=None`` leaves the member out."""
    message: Message = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message


def response(request_id: int | str, result: dict[str, Any]) -> Message:
    """Build a successful response."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def error(request_id: int | str | None, body: dict[str, Any]) -> Message:
    """Build an error response; ``None`` stands for an id that could not be read."""
    return {"jsonrpc": "2.0", "id": request_id, "error": body}
