"""SDK 2.x: ``MCPError``, snake_case, float seconds, union messages."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, cast

import anyio
import anyio.abc
import mcp_types as types
from mcp import Client
from mcp.client import ClientSession
from mcp.client._memory import InMemoryTransport
from mcp.client.session import (
    ClientRequestContext,
    ElicitationFnT,
    ListRootsFnT,
    LoggingFnT,
    SamplingFnT,
)
from mcp.client.stdio import StdioServerParameters, get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.shared.dispatcher import (
    CallOptions,
    OnNotify,
    OnNotifyIntercept,
    OnRequest,
    ProgressFnT,
    run_notify_intercept,
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

from mcp_anyera._sdk.link import Link, Opened
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
    "http_transport",
    "in_process",
    "is_in_process_server",
    "make_context",
    "make_error",
    "parse_answer",
    "parse_notification",
    "parse_question",
    "to_session_message",
    "types",
]

SDKError = MCPError
AnyServer: TypeAlias = Server[Any] | MCPServer
DEFAULT_CLIENT_INFO: Final = Implementation(name="mcp-anyera", version="0.1.0")

_CONNECTOR: Final = "_connect"
if _CONNECTOR not in Client.__dataclass_fields__:  # pragma: no cover - a future SDK
    raise ImportError(f"mcp.Client has no {_CONNECTOR!r} to put a dispatcher under")


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


# -- the session -------------------------------------------------------------------


class _LinkDispatcher:
    """A dispatcher of the SDK's protocol on top of a link; carries no streams."""

    def __init__(self, link: Link, initialize: dict[str, Any] | None) -> None:
        self._link = link
        self._initialize = initialize
        self._on_notify: OnNotify | None = None
        self._intercept: OnNotifyIntercept | None = None

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
    ) -> dict[str, Any]:
        """Send a request through the link; the handshake was done below."""
        if method == "initialize" and self._initialize is not None:
            return self._initialize
        options: CallOptions = opts or {}
        return await self._link.request(
            method,
            params,
            timeout=options.get("timeout"),
            on_progress=options.get("on_progress"),
            request_id=options.get("request_id"),
        )

    async def notify(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
    ) -> None:
        """Send a notification through the link."""
        del opts
        self._link.notify(method, params)

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Keep the handlers until the session ends; the link's owner pumps."""
        del on_request  # questions never reach the session
        self._on_notify, self._intercept = on_notify, on_notify_intercept
        task_status.started()
        await anyio.sleep_forever()

    def intercept(self, method: str, params: dict[str, Any] | None) -> bool:
        """Offer a notification to open ``listen`` streams, in receive order."""
        return run_notify_intercept(self._intercept, method, params)

    async def tee(self, method: str, params: dict[str, Any] | None) -> None:
        """Offer a notification to the response cache and to extensions."""
        if self._on_notify is not None:
            await self._on_notify(cast("Any", None), method, params)


def check_native(native: Mapping[str, Any]) -> None:
    """Accept what ``mcp.Client`` accepts; it checks by itself."""
    del native


class Verbs:
    """A session over a link, and its verbs as ``mcp.Client`` names them.

    An `mcp.Client` of the SDK stands on our dispatcher, so that its response
    cache, its extensions and its listen streams work as they always do.
    """

    def __init__(
        self,
        link: Link,
        client_info: Implementation,
        opened: Opened,
        native: Mapping[str, Any],
    ) -> None:
        """Prepare the session; enter it before use.

        Args:
            link: The open connection.
            client_info: Who the client says it is.
            opened: What the opening has found out.
            native: Parameters of ``mcp.Client`` that only this line has.
        """
        modern = opened.discover is not None
        self._dispatcher = _LinkDispatcher(link, None if modern else opened.initialize)
        self._client = Client(
            cast("Any", nullcontext()),
            client_info=client_info,
            mode=opened.revision if modern else "legacy",
            prior_discover=_discover_result(opened) if modern else None,
            **native,
        )
        setattr(self._client, _CONNECTOR, self._connect)

    async def _connect(self, *_args: object) -> _LinkDispatcher:
        return self._dispatcher

    async def __aenter__(self) -> Self:
        """Enter the session."""
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the session."""
        await self._client.__aexit__(exc_type, exc, traceback)

    def __getattr__(self, name: str) -> Any:
        """Return a verb that needs nothing from us."""
        return getattr(self._client, name)

    @property
    def session(self) -> ClientSession:
        """The SDK's session."""
        return self._client.session

    def intercept(self, method: str, params: dict[str, Any] | None) -> bool:
        """Offer a notification to open ``listen`` streams, in receive order."""
        return self._dispatcher.intercept(method, params)

    async def tee(self, method: str, params: dict[str, Any] | None) -> None:
        """Offer a notification to the response cache and to extensions."""
        await self._dispatcher.tee(method, params)

    # The SDK marks these as deprecated because they fail on a modern connection.
    # Here they work on both, so they are sent without the SDK's warning.

    async def send_ping(self, *, meta: Any = None) -> types.EmptyResult:
        """Send a ping."""
        request = types.PingRequest(params=types.RequestParams(_meta=meta))
        return await self.session.send_request(request, types.EmptyResult)

    async def set_logging_level(
        self,
        level: types.LoggingLevel,
        *,
        meta: Any = None,
    ) -> types.EmptyResult:
        """Set the log level."""
        params = types.SetLevelRequestParams(level=level, _meta=meta)
        request = types.SetLevelRequest(params=params)
        return await self.session.send_request(request, types.EmptyResult)

    async def subscribe_resource(
        self,
        uri: str,
        *,
        meta: Any = None,
    ) -> types.EmptyResult:
        """Subscribe to a resource."""
        request = types.SubscribeRequest(
            params=types.SubscribeRequestParams(uri=uri, _meta=meta)
        )
        return await self.session.send_request(request, types.EmptyResult)

    async def unsubscribe_resource(
        self,
        uri: str,
        *,
        meta: Any = None,
    ) -> types.EmptyResult:
        """Unsubscribe from a resource."""
        params = types.UnsubscribeRequestParams(uri=uri, _meta=meta)
        return await self.session.send_request(
            types.UnsubscribeRequest(params=params), types.EmptyResult
        )


_DISCOVER_DEFAULTS: Final[dict[str, Any]] = {
    "resultType": "complete",
    "capabilities": {},
    "ttlMs": 0,
    "cacheScope": "private",
}
"""What a sloppy server leaves out and the SDK's model requires."""


def _discover_result(opened: Opened) -> types.DiscoverResult:
    discover = {**_DISCOVER_DEFAULTS, **(opened.discover or {})}
    if not isinstance(discover["ttlMs"], int) or discover["ttlMs"] < 0:
        discover["ttlMs"] = 0
    return types.DiscoverResult.model_validate(discover, by_name=False)


def dump_discover(result: types.DiscoverResult) -> dict[str, Any]:
    """Return a ``DiscoverResult`` of the SDK as JSON."""
    return dump(result)


# -- in-process servers ------------------------------------------------------------


def is_in_process_server(server: object) -> bool:
    """Tell whether this is a server object of the installed line."""
    return isinstance(server, (Server, MCPServer))


def in_process(
    server: AnyServer, *, raise_exceptions: bool
) -> AbstractAsyncContextManager[tuple[Any, Any]]:
    """Return a transport to a server that runs in this process."""
    return cast("Any", InMemoryTransport(server, raise_exceptions=raise_exceptions))


# -- transports --------------------------------------------------------------------


def http_transport(url: str) -> AbstractAsyncContextManager[tuple[Any, ...]]:
    """Return the SDK's own Streamable HTTP transport, not yet entered."""
    return streamable_http_client(url)
