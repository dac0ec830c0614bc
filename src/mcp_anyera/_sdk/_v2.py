"""SDK 2.x: ``MCPError``, snake_case, float seconds, union messages."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import httpx2 as httpx
import mcp_types as types
from mcp.client import ClientSession
from mcp.client._memory import InMemoryTransport
from mcp.client.session import (
    ClientRequestContext,
    ElicitationFnT,
    ListRootsFnT,
    LoggingFnT,
    SamplingFnT,
)
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, get_default_environment
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.shared.dispatcher import (
    ProgressFnT,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import (
    PROTOCOL_VERSION_META_KEY,
    ElicitResult,
    ErrorData,
    Implementation,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    LoggingMessageNotificationParams,
    methods,
)
from pydantic import BaseModel, TypeAdapter

from mcp_anyera._sdk._v2_session import Verbs, check_native, dump_discover
from mcp_anyera._sdk.shared import QuestionFacts, coerce_answer, dump

__all__ = [
    "DEFAULT_CLIENT_INFO",
    "AnyServer",
    "CallbackContext",
    "ClientSession",
    "ElicitationFnT",
    "ErrorData",
    "Implementation",
    "ListRootsFnT",
    "LoggingFnT",
    "LoggingMessageNotificationParams",
    "ProgressFnT",
    "SDKError",
    "SamplingFnT",
    "SessionMessage",
    "StdioServerParameters",
    "Verbs",
    "check_native",
    "dump",
    "dump_discover",
    "from_session_message",
    "get_default_environment",
    "httpx",
    "in_process",
    "is_in_process_server",
    "make_context",
    "make_error",
    "parse_answer",
    "parse_notification",
    "parse_question",
    "sse_client",
    "to_session_message",
    "types",
]

SDKError = MCPError
AnyServer: TypeAlias = Server[Any] | MCPServer
DEFAULT_CLIENT_INFO: Final = Implementation(name="mcp-anyera", version="0.1.0")

# -- messages ----------------------------------------------------------------------


def from_session_message(message: SessionMessage) -> dict[str, Any]:
    """Return the plain JSON-RPC message inside an SDK one, values by identity."""
    root = message.message
    if isinstance(root, JSONRPCResponse):
        return {"jsonrpc": "2.0", "id": root.id, "result": root.result}
    if isinstance(root, JSONRPCError):
        error = root.error.model_dump(exclude_unset=True)
        return {"jsonrpc": "2.0", "id": root.id, "error": error}
    plain: dict[str, Any] = {"jsonrpc": "2.0"}
    if isinstance(root, JSONRPCRequest):
        plain["id"] = root.id
    plain["method"] = root.method
    if root.params is not None:
        plain["params"] = root.params
    return plain


def to_session_message(message: dict[str, Any]) -> SessionMessage:
    """Wrap a plain JSON-RPC message that the engine has classified."""
    if "method" in message:
        kind = JSONRPCRequest if "id" in message else JSONRPCNotification
        return SessionMessage(kind.model_construct(**message), _metadata(message))
    if "error" in message:
        error = ErrorData.model_construct(**message["error"])
        return SessionMessage(
            JSONRPCError.model_construct(jsonrpc="2.0", id=message["id"], error=error)
        )
    return SessionMessage(JSONRPCResponse.model_construct(**message))


def _metadata(message: dict[str, Any]) -> ClientMessageMetadata | None:
    # The SDK's HTTP transport sets its headers from here (2026-07-28
    # basic/transports/streamable-http § Standard Request Headers).
    params: dict[str, Any] = message.get("params") or {}
    meta: dict[str, Any] = params.get("_meta") or {}
    revision = meta.get(PROTOCOL_VERSION_META_KEY)
    if not isinstance(revision, str):
        return None
    headers = {
        MCP_PROTOCOL_VERSION_HEADER: revision,
        MCP_METHOD_HEADER: message["method"],
    }
    key = NAME_BEARING_METHODS.get(message["method"])
    if key is not None and isinstance(name := params.get(key), str):
        headers[MCP_NAME_HEADER] = encode_header_value(name)
    return ClientMessageMetadata(headers=headers)


# -- errors ------------------------------------------------------------------------


def make_error(error: dict[str, Any]) -> MCPError:
    """Return the exception for an error that the server sent."""
    return MCPError(error["code"], error["message"], error.get("data"))


# -- questions and answers ---------------------------------------------------------

_PARAMS: Final[dict[str, TypeAdapter[Any]]] = {
    "elicitation/create": TypeAdapter(types.ElicitRequestParams),
    "sampling/createMessage": TypeAdapter(types.CreateMessageRequestParams),
    "roots/list": TypeAdapter(types.RequestParams | None),
}
_ANSWERS: Final[dict[str, tuple[type[BaseModel], ...]]] = {
    "elicitation/create": (ElicitResult,),
    "sampling/createMessage": (
        types.CreateMessageResult,
        types.CreateMessageResultWithTools,
    ),
    "roots/list": (types.ListRootsResult,),
}


def parse_question(method: str, params: dict[str, Any]) -> Any:
    """Return the params of a question as the SDK's own type.

    Raises:
        pydantic.ValidationError: They are not what the method takes.
    """
    return _PARAMS[method].validate_python(params, by_name=False)


def parse_answer(method: str, value: object) -> BaseModel:
    """Return what a callback gave as one of the types that it may give.

    Raises:
        TypeError: It is none of them; the message says what was expected.
    """
    return coerce_answer(value, _ANSWERS[method], ErrorData)


def parse_notification(message: dict[str, Any], revision: str) -> object | None:
    """Return a server's notification as the SDK's own object.

    Args:
        message: The JSON-RPC notification.
        revision: The protocol revision on the wire.

    Returns:
        The notification; ``None`` for a method that the revision does not know.

    Raises:
        pydantic.ValidationError: The method is known and the params are wrong.
    """
    try:
        return methods.parse_server_notification(
            message["method"], revision, message.get("params")
        )
    except KeyError:
        return None


@dataclass(kw_only=True)
class CallbackContext(ClientRequestContext, QuestionFacts):
    """The SDK's context, with what this library knows about the question."""


def make_context(
    session: ClientSession, request_id: int | str, params: object, **facts: Any
) -> CallbackContext:
    """Build the context of one question; ``facts`` are those of `QuestionFacts`."""
    meta = getattr(params, "meta", None)
    return CallbackContext(session=session, request_id=request_id, meta=meta, **facts)


# -- in-process servers ------------------------------------------------------------


def is_in_process_server(server: object) -> bool:
    """Tell whether this is a server object of the installed line."""
    return isinstance(server, (Server, MCPServer))


def in_process(
    server: AnyServer, *, raise_exceptions: bool
) -> AbstractAsyncContextManager[tuple[Any, Any]]:
    """Return a transport to a server that runs in this process."""
    return cast("Any", InMemoryTransport(server, raise_exceptions=raise_exceptions))
