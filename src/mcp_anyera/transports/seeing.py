"""Looking into a transport that was not entered yet.

A transport of the SDK is the context manager that ``contextlib`` makes of a
generator, and keeps the function and its arguments. One whose parameters can be
seen becomes a wire of ours; all else is taken as the stream pair that it yields.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any, cast

from mcp_anyera._sdk import SDK1, StdioServerParameters, httpx
from mcp_anyera.transports.http import HttpOptions, StreamableHttpWire
from mcp_anyera.transports.stdio import StdioWire
from mcp_anyera.transports.streams import StreamsWire
from mcp_anyera.transports.wire import Wire


def wire_for(transport: AbstractAsyncContextManager[Any] | Sequence[Any]) -> Wire:
    """Return the wire to put the engine on.

    Args:
        transport: What `adapt` or `Client` was given.
    """
    function = cast("Callable[..., Any] | None", getattr(transport, "func", None))
    module, name = (
        getattr(function, "__module__", ""),
        getattr(function, "__name__", ""),
    )
    make = _MAKERS.get((module, name))
    given = None if make is None else _arguments(cast("Any", transport))
    wire = None if make is None or given is None else make(given)
    if wire is not None:
        return wire
    # An HTTP transport of SDK 1.x ends with the first 4xx, and a server that
    # speaks HTTP+SSE is legacy: neither may be probed.
    blind = module == "mcp.client.sse" or (
        SDK1 and module == "mcp.client.streamable_http"
    )
    return StreamsWire(transport, legacy_only=blind)


def _arguments(transport: Any) -> dict[str, Any] | None:
    # A wrapper, such as one that marks a function as deprecated, hides the
    # signature that counts.
    function = inspect.unwrap(transport.func)
    try:
        return (
            inspect.signature(function)
            .bind(*transport.args, **transport.kwds)
            .arguments
        )
    except (TypeError, ValueError):
        return None


def _stdio(given: dict[str, Any]) -> Wire | None:
    server = given.get("server")
    if not isinstance(server, StdioServerParameters):
        return None
    return StdioWire(server, given.get("errlog"))


def _streamable_http(given: dict[str, Any]) -> Wire | None:
    options = HttpOptions(
        client=given.get("http_client"),
        terminate_on_close=given.get("terminate_on_close", True),
        **_limit(given),
    )
    return StreamableHttpWire(given["url"], options)


def _limit(given: dict[str, Any]) -> dict[str, Any]:
    if "max_sse_event_size" not in given:
        return {}
    return {"max_message_size": given["max_sse_event_size"]}


def _streamablehttp(given: dict[str, Any]) -> Wire | None:
    return StreamableHttpWire(given["url"], http_options(**given))


def http_options(
    *,
    url: str,
    headers: dict[str, str] | None = None,
    timeout: float | timedelta = 30,
    sse_read_timeout: float | timedelta = 300,
    terminate_on_close: bool = True,
    httpx_client_factory: Callable[..., httpx.AsyncClient] | None = None,
    auth: Any = None,
) -> HttpOptions:
    """Return options from the parameters of SDK 1.x's ``streamablehttp_client``."""
    del url
    times = httpx.Timeout(_seconds(timeout), read=_seconds(sse_read_timeout))

    def make() -> httpx.AsyncClient:
        factory = httpx_client_factory or httpx.AsyncClient
        return factory(headers=headers, timeout=times, auth=auth)

    return HttpOptions(make=make, terminate_on_close=terminate_on_close)


def _seconds(time: float | timedelta) -> float:
    return time.total_seconds() if isinstance(time, timedelta) else time


_MAKERS: dict[tuple[str, str], Callable[[dict[str, Any]], Wire | None]] = {
    ("mcp.client.stdio", "stdio_client"): _stdio,
    ("mcp.client.stdio.stdio_client", "stdio_client"): _stdio,
    ("mcp.client.streamable_http", "streamable_http_client"): _streamable_http,
    ("mcp.client.streamable_http", "streamablehttp_client"): _streamablehttp,
}
