"""The session of SDK 2.x on a link, and the ``mcp.Client`` that stands on it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from types import TracebackType
from typing import Any, Final, Self, cast

import anyio
import anyio.abc
import mcp_types as types
from mcp import Client
from mcp.client import ClientSession
from mcp.shared.dispatcher import (
    CallOptions,
    OnNotify,
    OnNotifyIntercept,
    OnRequest,
    run_notify_intercept,
)
from mcp_types import Implementation

from mcp_anyera._sdk.link import Link, Opened
from mcp_anyera._sdk.shared import dump

_CONNECTOR: Final = "_connect"
if _CONNECTOR not in Client.__dataclass_fields__:  # pragma: no cover - a future SDK
    raise ImportError(f"mcp.Client has no {_CONNECTOR!r} to put a dispatcher under")


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
        """Send a notification through the link; the handshake was done below."""
        del opts
        if method != "notifications/initialized":
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
