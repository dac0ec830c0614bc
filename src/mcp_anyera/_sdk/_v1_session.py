"""The session of SDK 1.x on a link, and its verbs under the names of 2.x."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any, Self, TypeVar, cast

from mcp import ClientSession, types
from mcp.shared.session import ProgressFnT
from mcp.types import Implementation
from pydantic import BaseModel

from mcp_anyera._sdk.link import Link, Opened
from mcp_anyera._sdk.shared import dump

T = TypeVar("T", bound=BaseModel)


class _LinkedSession(ClientSession):
    """A session that talks to a link; it has no streams and no receive loop."""

    def __init__(self, link: Link, client_info: Implementation) -> None:
        nothing = cast("Any", None)
        super().__init__(nothing, nothing, client_info=client_info)
        self._link = link

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        return None

    def adopt(self, opened: Opened) -> None:
        """Install what the handshake below has found out."""
        self._adopted = types.InitializeResult.model_validate(opened.initialize)
        self._server_capabilities = self._adopted.capabilities

    @property
    def adopted(self) -> types.InitializeResult:
        """What the handshake below has found out."""
        return self._adopted

    async def initialize(self) -> types.InitializeResult:
        """Return what was negotiated; the connection did it before."""
        return self._adopted

    async def validate_tool_result(
        self, name: str, result: types.CallToolResult
    ) -> None:
        """Check structured content against the schema that the tool was listed with."""
        await self._validate_tool_result(name, result)

    async def send_request(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        request: types.ClientRequest,
        result_type: type[T],
        request_read_timeout_seconds: timedelta | None = None,
        metadata: object = None,
        progress_callback: ProgressFnT | None = None,
    ) -> T:
        """Send a request through the link; the SDK's parameters and result."""
        del metadata
        timeout = request_read_timeout_seconds
        data = dump(request)
        raw = await self._link.request(
            data["method"],
            data.get("params"),
            timeout=None if timeout is None else timeout.total_seconds(),
            on_progress=progress_callback,
        )
        return result_type.model_validate(raw)

    async def send_notification(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, notification: types.ClientNotification, related_request_id: object = None
    ) -> None:
        """Send a notification through the link."""
        del related_request_id
        data = dump(notification)
        self._link.notify(data["method"], data.get("params"))


def check_native(native: Mapping[str, Any]) -> None:
    """Refuse parameters that only the 2.x line has a use for.

    Raises:
        TypeError: There are any; the message names them.
    """
    if native:
        names = ", ".join(f"{name}=" for name in sorted(native))
        msg = f"{names} needs mcp 2.x, and mcp 1.x is installed; leave it out"
        raise TypeError(msg)


class Verbs:
    """A session over a link, and its verbs as ``mcp.Client`` of SDK 2.x names them."""

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
            native: Parameters that only the 2.x line has a place for; none here.
        """
        del native
        self.session: _LinkedSession = _LinkedSession(link, client_info)
        self.session.adopt(opened)
        self._link = link

    async def __aenter__(self) -> Self:
        """Enter the session."""
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """Leave the session; it holds nothing."""

    def intercept(self, method: str, params: dict[str, Any] | None) -> bool:
        """Offer a notification to the session; this line has no use for it."""
        del method, params
        return False

    async def tee(self, method: str, params: dict[str, Any] | None) -> None:
        """Offer a notification to extensions; this line has none."""

    @property
    def server_capabilities(self) -> types.ServerCapabilities:
        """What the server can do."""
        return self.session.adopted.capabilities

    @property
    def server_info(self) -> Implementation:
        """Who the server says it is."""
        return self.session.adopted.serverInfo

    @property
    def instructions(self) -> str | None:
        """What the server wants its users to know."""
        return self.session.adopted.instructions

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        read_timeout_seconds: float | None = None,
        progress_callback: ProgressFnT | None = None,
        *,
        input_responses: Mapping[str, Any] | None = None,
        request_state: str | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> types.CallToolResult:
        """Call a tool."""
        seed = _seed(input_responses, request_state)
        params = types.CallToolRequestParams.model_validate(
            {"name": name, "arguments": arguments, "_meta": meta, **seed}
        )
        timeout = read_timeout_seconds
        result = await self.session.send_request(
            types.ClientRequest(types.CallToolRequest(params=params)),
            types.CallToolResult,
            None if timeout is None else timedelta(seconds=timeout),
            progress_callback=progress_callback,
        )
        if not result.isError:
            await self.session.validate_tool_result(name, result)
        return result

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, str] | None = None,
        *,
        input_responses: Mapping[str, Any] | None = None,
        request_state: str | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> types.GetPromptResult:
        """Get a prompt."""
        seed = _seed(input_responses, request_state)
        params = types.GetPromptRequestParams.model_validate(
            {"name": name, "arguments": arguments, "_meta": meta, **seed}
        )
        request = types.ClientRequest(types.GetPromptRequest(params=params))
        return await self.session.send_request(request, types.GetPromptResult)

    async def read_resource(
        self,
        uri: str,
        *,
        input_responses: Mapping[str, Any] | None = None,
        request_state: str | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> types.ReadResourceResult:
        """Read a resource."""
        seed = _seed(input_responses, request_state)
        # Sent as plain data: the SDK's URL type would rewrite the URI.
        raw = await self._link.request(
            "resources/read", _bare(uri=uri, _meta=meta, **seed)
        )
        return types.ReadResourceResult.model_validate(raw)

    async def list_tools(
        self, *, cursor: str | None = None, meta: Mapping[str, Any] | None = None
    ) -> types.ListToolsResult:
        """List tools."""
        return await self.session.list_tools(params=_page(cursor, meta))

    async def list_prompts(
        self, *, cursor: str | None = None, meta: Mapping[str, Any] | None = None
    ) -> types.ListPromptsResult:
        """List prompts."""
        return await self.session.list_prompts(params=_page(cursor, meta))

    async def list_resources(
        self, *, cursor: str | None = None, meta: Mapping[str, Any] | None = None
    ) -> types.ListResourcesResult:
        """List resources."""
        return await self.session.list_resources(params=_page(cursor, meta))

    async def list_resource_templates(
        self, *, cursor: str | None = None, meta: Mapping[str, Any] | None = None
    ) -> types.ListResourceTemplatesResult:
        """List resource templates."""
        return await self.session.list_resource_templates(params=_page(cursor, meta))

    async def complete(
        self,
        ref: types.ResourceTemplateReference | types.PromptReference,
        argument: dict[str, str],
        context_arguments: dict[str, str] | None = None,
    ) -> types.CompleteResult:
        """Ask for completions."""
        return await self.session.complete(ref, argument, context_arguments)

    async def send_ping(
        self, *, meta: Mapping[str, Any] | None = None
    ) -> types.EmptyResult:
        """Send a ping."""
        return await self._empty("ping", _meta=meta)

    async def set_logging_level(
        self, level: types.LoggingLevel, *, meta: Mapping[str, Any] | None = None
    ) -> types.EmptyResult:
        """Set the log level."""
        return await self._empty("logging/setLevel", level=level, _meta=meta)

    async def subscribe_resource(
        self, uri: str, *, meta: Mapping[str, Any] | None = None
    ) -> types.EmptyResult:
        """Subscribe to a resource."""
        return await self._empty("resources/subscribe", uri=uri, _meta=meta)

    async def unsubscribe_resource(
        self, uri: str, *, meta: Mapping[str, Any] | None = None
    ) -> types.EmptyResult:
        """Unsubscribe from a resource."""
        return await self._empty("resources/unsubscribe", uri=uri, _meta=meta)

    def listen(self, **_filter: Any) -> AbstractAsyncContextManager[Any]:
        """Refuse: this line has no types for the events of a listen stream.

        Raises:
            NotImplementedError: Always; the message says what to use instead.
        """
        msg = (
            "listen() needs mcp 2.x; on mcp 1.x pass message_handler= and use "
            "subscribe_resource(), which work in both eras"
        )
        raise NotImplementedError(msg)

    async def _empty(self, method: str, **params: Any) -> types.EmptyResult:
        raw = await self._link.request(method, _bare(**params))
        return types.EmptyResult.model_validate(raw)


def dump_discover(result: object) -> dict[str, Any]:
    """Return a ``DiscoverResult`` as JSON; this line has no type for it.

    Raises:
        TypeError: It is not a mapping.
    """
    if isinstance(result, Mapping):
        return dict(cast("Mapping[str, Any]", result))
    msg = "prior_discover takes a mapping, the JSON of a DiscoverResult, on mcp 1.x"
    raise TypeError(msg)


def _seed(responses: Mapping[str, Any] | None, state: str | None) -> dict[str, Any]:
    seed: dict[str, Any] = {}
    if responses is not None:
        seed["inputResponses"] = {
            key: dump(value) if isinstance(value, BaseModel) else value
            for key, value in responses.items()
        }
    if state is not None:
        seed["requestState"] = state
    return seed


def _bare(**params: Any) -> dict[str, Any]:
    return {key: value for key, value in params.items() if value is not None}


def _page(
    cursor: str | None, meta: Mapping[str, Any] | None
) -> types.PaginatedRequestParams | None:
    if cursor is None and meta is None:
        return None
    return types.PaginatedRequestParams.model_validate(
        {"cursor": cursor, "_meta": meta}
    )
