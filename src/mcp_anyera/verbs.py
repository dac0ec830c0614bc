"""The verbs of `Client`: those of ``mcp.Client`` of SDK 2.x, in both eras.

They are the installed session's own verbs; what they need of the other era happens
below the session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp_anyera._sdk import ProgressFnT, Verbs, types
from mcp_anyera._sdk.raised import exception_for
from mcp_anyera.connection import Connection
from mcp_anyera.engine import Failure, Fault


class ClientVerbs:
    """What a client can ask of its server."""

    _connection: Connection | None = None

    @property
    def _open(self) -> Connection:
        if self._connection is None:
            text = "the client is not connected; use it inside 'async with Client(...)'"
            raise exception_for(Failure(Fault.LOST, text))
        return self._connection

    @property
    def _verbs(self) -> Verbs:
        if self._open.ended:
            text = "the call was not sent: the client is closed"
            raise exception_for(Failure(Fault.LOST, text))
        return self._open.verbs

    # -- verbs that may be answered with questions ---------------------------------

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
        """Call a tool; its questions go to the callbacks.

        Args:
            name: The tool.
            arguments: Its arguments, as JSON.
            read_timeout_seconds: Machine time that this call may take, in seconds.
            progress_callback: Is awaited with ``(progress, total, message)``, one
                rising series over all rounds, and before the call returns.
            input_responses: Answers to begin with, of an earlier exchange.
            request_state: State to begin with, of an earlier exchange.
            meta: More members for ``_meta``.

        Returns:
            The result, of the installed SDK's own type.

        Raises:
            AnyEraError: See `mcp_anyera.errors`; each is the SDK's error as well.
            Exception: The SDK's error (`McpError`, `MCPError`), sent by the server.

        Spec:
            2026-07-28 ``server/tools``, ``basic/patterns/mrtr``.
        """
        return await self._verbs.call_tool(
            name,
            arguments,
            read_timeout_seconds,
            progress_callback,
            input_responses=input_responses,
            request_state=request_state,
            meta=meta,
        )

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, str] | None = None,
        *,
        input_responses: Mapping[str, Any] | None = None,
        request_state: str | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> types.GetPromptResult:
        """Get a prompt; its questions go to the callbacks.

        Args:
            name: The prompt.
            arguments: Its arguments.
            input_responses: Answers to begin with, of an earlier exchange.
            request_state: State to begin with, of an earlier exchange.
            meta: More members for ``_meta``.

        Returns:
            The result, of the installed SDK's own type.

        Raises:
            AnyEraError: See `mcp_anyera.errors`.
            Exception: The SDK's error, sent by the server.

        Spec:
            2026-07-28 ``server/prompts``.
        """
        return await self._verbs.get_prompt(
            name,
            arguments,
            input_responses=input_responses,
            request_state=request_state,
            meta=meta,
        )

    async def read_resource(
        self,
        uri: str,
        *,
        input_responses: Mapping[str, Any] | None = None,
        request_state: str | None = None,
        meta: Mapping[str, Any] | None = None,
        **native: Any,
    ) -> types.ReadResourceResult:
        """Read a resource; its questions go to the callbacks.

        Args:
            uri: The resource.
            input_responses: Answers to begin with, of an earlier exchange.
            request_state: State to begin with, of an earlier exchange.
            meta: More members for ``_meta``.
            **native: ``cache_mode`` on SDK 2.x.

        Returns:
            The result, of the installed SDK's own type.

        Raises:
            AnyEraError: See `mcp_anyera.errors`.
            Exception: The SDK's error, sent by the server.

        Spec:
            2026-07-28 ``server/resources``.
        """
        return await self._verbs.read_resource(
            str(uri),
            input_responses=input_responses,
            request_state=request_state,
            meta=meta,
            **native,
        )

    # -- lists ---------------------------------------------------------------------

    async def list_tools(
        self,
        *,
        cursor: str | None = None,
        meta: Mapping[str, Any] | None = None,
        **native: Any,
    ) -> types.ListToolsResult:
        """List tools, one page; ``cache_mode`` exists on SDK 2.x."""
        return await self._verbs.list_tools(cursor=cursor, meta=meta, **native)

    async def list_prompts(
        self,
        *,
        cursor: str | None = None,
        meta: Mapping[str, Any] | None = None,
        **native: Any,
    ) -> types.ListPromptsResult:
        """List prompts, one page; ``cache_mode`` exists on SDK 2.x."""
        return await self._verbs.list_prompts(cursor=cursor, meta=meta, **native)

    async def list_resources(
        self,
        *,
        cursor: str | None = None,
        meta: Mapping[str, Any] | None = None,
        **native: Any,
    ) -> types.ListResourcesResult:
        """List resources, one page; ``cache_mode`` exists on SDK 2.x."""
        return await self._verbs.list_resources(cursor=cursor, meta=meta, **native)

    async def list_resource_templates(
        self,
        *,
        cursor: str | None = None,
        meta: Mapping[str, Any] | None = None,
        **native: Any,
    ) -> types.ListResourceTemplatesResult:
        """List resource templates, one page; ``cache_mode`` exists on SDK 2.x."""
        return await self._verbs.list_resource_templates(
            cursor=cursor, meta=meta, **native
        )

    # -- the rest ------------------------------------------------------------------

    async def complete(
        self,
        ref: types.ResourceTemplateReference | types.PromptReference,
        argument: dict[str, str],
        context_arguments: dict[str, str] | None = None,
    ) -> types.CompleteResult:
        """Ask for completions of an argument of a prompt or a resource template."""
        return await self._verbs.complete(ref, argument, context_arguments)

    async def send_ping(
        self, *, meta: Mapping[str, Any] | None = None
    ) -> types.EmptyResult:
        """Ping; a modern server has no ping, so there the connection itself answers."""
        return await self._verbs.send_ping(meta=meta)

    async def set_logging_level(
        self, level: types.LoggingLevel, *, meta: Mapping[str, Any] | None = None
    ) -> types.EmptyResult:
        """Ask for log messages of this severity and above from now on."""
        return await self._verbs.set_logging_level(level, meta=meta)

    async def subscribe_resource(
        self, uri: str, *, meta: Mapping[str, Any] | None = None
    ) -> types.EmptyResult:
        """Subscribe to a resource; the message handler hears of updates."""
        return await self._verbs.subscribe_resource(str(uri), meta=meta)

    async def unsubscribe_resource(
        self, uri: str, *, meta: Mapping[str, Any] | None = None
    ) -> types.EmptyResult:
        """End a subscription to a resource, in either era."""
        return await self._verbs.unsubscribe_resource(str(uri), meta=meta)

    async def send_roots_list_changed(self) -> None:
        """Say that the roots have changed; a modern server asks when it needs them."""
        self._open.notify("notifications/roots/list_changed", None)

    async def send_progress_notification(
        self,
        progress_token: str | int,
        progress: float,
        total: float | None = None,
        message: str | None = None,
    ) -> None:
        """Report progress of the client's own work, to a legacy server only."""
        params = {
            "progressToken": progress_token,
            "progress": progress,
            "total": total,
            "message": message,
        }
        bare = {key: value for key, value in params.items() if value is not None}
        self._open.notify("notifications/progress", bare)

    def listen(
        self,
        *,
        tools_list_changed: bool = False,
        prompts_list_changed: bool = False,
        resources_list_changed: bool = False,
        resource_subscriptions: Sequence[str] = (),
    ) -> AbstractAsyncContextManager[Any]:
        """Open a stream of typed change events: a modern server, on SDK 2.x.

        Anywhere else `message_handler` and `subscribe_resource` do the same work.

        Raises:
            NotImplementedError: On SDK 1.x, which has no types for the events.
            Exception: On entering, the SDK's own ``ListenNotSupportedError`` on a
                legacy connection.

        Spec:
            2026-07-28 ``basic/patterns/subscriptions``.
        """
        return self._verbs.listen(
            tools_list_changed=tools_list_changed,
            prompts_list_changed=prompts_list_changed,
            resources_list_changed=resources_list_changed,
            resource_subscriptions=resource_subscriptions,
        )
