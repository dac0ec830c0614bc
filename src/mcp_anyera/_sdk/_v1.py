"""SDK 1.x: ``McpError``, camelCase, ``timedelta``, RootModel messages."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import anyio
import httpx
from mcp import ClientSession, types
from mcp.client.session import (
    ElicitationFnT,
    ListRootsFnT,
    LoggingFnT,
    SamplingFnT,
)
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, get_default_environment
from mcp.server import Server
from mcp.server.fastmcp import FastMCP
from mcp.shared.context import RequestContext
from mcp.shared.exceptions import McpError
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp.shared.session import ProgressFnT
from mcp.types import (
    ElicitResult,
    ErrorData,
    Implementation,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    LoggingMessageNotificationParams,
)
from pydantic import BaseModel, TypeAdapter

from mcp_anyera._sdk._v1_session import Verbs, check_native, dump_discover
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

SDKError = McpError
AnyServer: TypeAlias = Server[Any, Any] | FastMCP[Any]
DEFAULT_CLIENT_INFO: Final = Implementation(name="mcp-anyera", version="0.1.0")


# -- messages ----------------------------------------------------------------------


def from_session_message(message: SessionMessage) -> dict[str, Any]:
    """Return the plain JSON-RPC message inside an SDK one, values by identity."""
    root = message.message.root
    plain: dict[str, Any] = {"jsonrpc": "2.0"}
    if isinstance(root, JSONRPCResponse):
        return {**plain, "id": root.id, "result": root.result}
    if isinstance(root, JSONRPCError):
        return {
            **plain,
            "id": root.id,
            "error": root.error.model_dump(exclude_unset=True),
        }
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
        root = kind.model_construct(**message)
    elif "error" in message:
        error = ErrorData.model_construct(**message["error"])
        root = JSONRPCError.model_construct(
            jsonrpc="2.0", id=message["id"], error=error
        )
    else:
        root = JSONRPCResponse.model_construct(**message)
    return SessionMessage(JSONRPCMessage.model_construct(root))


# -- errors ------------------------------------------------------------------------


def make_error(error: dict[str, Any]) -> McpError:
    """Return the exception for an error that the server sent."""
    return McpError(
        ErrorData(code=error["code"], message=error["message"], data=error.get("data"))
    )


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
    return _PARAMS[method].validate_python(params)


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
        revision: The protocol revision on the wire; all share one set of types here.

    Returns:
        The notification, not wrapped; ``None`` for a method that the SDK does not
        know.

    Raises:
        pydantic.ValidationError: The method is known and the params are wrong.
    """
    del revision
    if message["method"] not in _NOTIFICATIONS:
        return None
    body = {"method": message["method"], "params": message.get("params")}
    return types.ServerNotification.model_validate(body).root


_NOTIFICATIONS: Final = frozenset(
    f"notifications/{name}"
    for name in (
        "cancelled",
        "progress",
        "message",
        "resources/updated",
        "resources/list_changed",
        "tools/list_changed",
        "prompts/list_changed",
        "elicitation/complete",
        "tasks/status",
    )
)


@dataclass(kw_only=True)
class CallbackContext(RequestContext[ClientSession, Any], QuestionFacts):
    """The SDK's context, with what this library knows about the question."""


def make_context(
    session: ClientSession, request_id: int | str, params: object, **facts: Any
) -> CallbackContext:
    """Build the context of one question; ``facts`` are those of `QuestionFacts`."""
    return CallbackContext(
        request_id, getattr(params, "meta", None), session, None, **facts
    )


# -- in-process servers ------------------------------------------------------------


def is_in_process_server(server: object) -> bool:
    """Tell whether this is a server object of the installed line."""
    return isinstance(server, (Server, FastMCP))


@asynccontextmanager
async def _in_process(
    server: AnyServer, *, raise_exceptions: bool
) -> AsyncGenerator[tuple[Any, Any]]:
    low = server._mcp_server if isinstance(server, FastMCP) else server  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    options = low.create_initialization_options()
    async with (
        create_client_server_memory_streams() as (near, far),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(
            lambda: low.run(*far, options, raise_exceptions=raise_exceptions)
        )
        yield near
        tasks.cancel_scope.cancel()


def in_process(
    server: AnyServer, *, raise_exceptions: bool
) -> AbstractAsyncContextManager[tuple[Any, Any]]:
    """Return a transport to a server that runs in this process."""
    return _in_process(server, raise_exceptions=raise_exceptions)
