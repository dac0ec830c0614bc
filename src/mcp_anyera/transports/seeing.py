"""Looking into a transport that was not entered yet.

A transport of the SDK is the context manager that ``contextlib`` makes of a
generator, and keeps the function and its arguments. A ``stdio_client`` whose
parameters can be seen becomes a wire of ours, which can be restarted; all else
is taken as the stream pair that it yields.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, cast

from mcp_anyera._sdk import StdioServerParameters
from mcp_anyera.transports.stdio import StdioWire
from mcp_anyera.transports.streams import StreamsWire
from mcp_anyera.transports.wire import Wire


def wire_for(transport: AbstractAsyncContextManager[Any] | Sequence[Any]) -> Wire:
    """Return the wire to put the engine on.

    Args:
        transport: What `adapt` or `Client` was given.
    """
    arguments = _stdio_arguments(transport)
    if arguments is None:
        return StreamsWire(transport)
    return StdioWire(arguments["server"], arguments.get("errlog"))


def is_http(transport: object) -> bool:
    """Tell whether a transport of the SDK that was not entered yet speaks HTTP."""
    module = getattr(getattr(transport, "func", None), "__module__", "")
    return module in {"mcp.client.streamable_http", "mcp.client.sse"}


def _stdio_arguments(transport: object) -> dict[str, Any] | None:
    function = cast("Callable[..., Any] | None", getattr(transport, "func", None))
    module = getattr(function, "__module__", "")
    if function is None or not module.startswith("mcp.client.stdio"):
        return None
    args: tuple[Any, ...] = getattr(transport, "args", ())
    kwargs: dict[str, Any] = getattr(transport, "kwds", {})
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return None
    return bound if isinstance(bound.get("server"), StdioServerParameters) else None
