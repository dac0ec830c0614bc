"""Drop-ins with the names, the parameters and the yields of the SDK's own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TextIO

from mcp_anyera._sdk import StdioServerParameters, httpx
from mcp_anyera._sdk import sse_client as _sse_client
from mcp_anyera.transports.adapted import Adapted
from mcp_anyera.transports.http import HttpOptions, StreamableHttpWire
from mcp_anyera.transports.http.clients import MAX_MESSAGE_SIZE
from mcp_anyera.transports.seeing import http_options, wire_for
from mcp_anyera.transports.stdio import StdioWire


def stdio_client(server: StdioServerParameters, errlog: TextIO = sys.stderr) -> Adapted:
    """Start a server of any era and yield streams that look like a legacy one.

    Args:
        server: The command, its arguments, its environment.
        errlog: Where the server's stderr goes.

    Returns:
        An async context manager that yields ``(read, write)``, as the SDK's own.

    Raises:
        OSError: On entering, when the command cannot be run.

    Spec:
        2026-07-28 ``basic/transports/stdio``.
    """
    return Adapted(StdioWire(server, errlog))


def streamable_http_client(
    url: str,
    *,
    http_client: httpx.AsyncClient | None = None,
    terminate_on_close: bool = True,
    max_sse_event_size: int | None = MAX_MESSAGE_SIZE,
) -> Adapted:
    """Reach a URL of any era and yield streams that look like a legacy server.

    Args:
        url: The endpoint; one that speaks HTTP+SSE of 2024-11-05 is reached too.
        http_client: Your own client, used with all its settings and left open.
        terminate_on_close: Whether a legacy session is deleted at the end.
        max_sse_event_size: The longest event or JSON body, in bytes; ``None`` for
            no limit.

    Returns:
        An async context manager that yields what the installed SDK's own yields:
        ``(read, write)``, and on 1.x a function that returns the session id.

    Spec:
        2026-07-28 and 2025-11-25 ``basic/transports``.
    """
    options = HttpOptions(
        client=http_client,
        terminate_on_close=terminate_on_close,
        max_message_size=max_sse_event_size,
    )
    return Adapted(StreamableHttpWire(url, options))


def sse_client(
    url: str,
    headers: dict[str, Any] | None = None,
    timeout: float = 5.0,
    sse_read_timeout: float = 300.0,
    **more: Any,
) -> Adapted:
    """Reach a server of HTTP+SSE (2024-11-05), which is legacy, so it is not probed.

    Args:
        url: The endpoint of the event stream.
        headers: Sent with every request.
        timeout: For every request, in seconds.
        sse_read_timeout: Longest silence on the stream, in seconds.
        more: The rest of what the SDK's own takes: ``httpx_client_factory``,
            ``auth``, ``on_session_created``.

    Returns:
        An async context manager that yields ``(read, write)``, as the SDK's own.

    Spec:
        2024-11-05 ``basic/transports`` § HTTP with SSE.
    """
    transport = _sse_client(url, headers, timeout, sse_read_timeout, **more)
    return Adapted(wire_for(transport))


def streamablehttp_client(
    url: str,
    headers: dict[str, str] | None = None,
    timeout: float | timedelta = 30,
    sse_read_timeout: float | timedelta = 300,
    terminate_on_close: bool = True,  # noqa: FBT001, FBT002 - the SDK's signature
    httpx_client_factory: Callable[..., httpx.AsyncClient] | None = None,
    auth: httpx.Auth | None = None,
) -> Adapted:
    """Do what `streamable_http_client` does, with the older parameters of SDK 1.x.

    Args:
        url: The endpoint.
        headers: Sent with every request.
        timeout: For every request, in seconds.
        sse_read_timeout: Longest silence on a response, in seconds.
        terminate_on_close: Whether a legacy session is deleted at the end.
        httpx_client_factory: Makes the HTTP client, which is closed at the end.
        auth: Authentication as the HTTP library takes it.

    Returns:
        An async context manager that yields ``(read, write, get_session_id)``.
    """
    options = http_options(
        url=url,
        headers=headers,
        timeout=timeout,
        sse_read_timeout=sse_read_timeout,
        terminate_on_close=terminate_on_close,
        httpx_client_factory=httpx_client_factory,
        auth=auth,
    )
    return Adapted(StreamableHttpWire(url, options))
