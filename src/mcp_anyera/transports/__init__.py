"""Transports: `adapt`, and drop-ins with the names of the SDK's own.

Change ``from mcp.client.stdio import stdio_client`` to ``from
mcp_anyera.transports import stdio_client``, and the session above works with
servers of any era. ``streamablehttp_client`` exists where the SDK has it, on 1.x.

Each name is loaded when it is first used: what works without the SDK, such as
the bridge, needs what is below and must not wait for the SDK.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from mcp_anyera.transports.line import SDK1

if TYPE_CHECKING:
    from mcp_anyera._sdk import StdioServerParameters
    from mcp_anyera.transports.adapted import Adapted, adapt
    from mcp_anyera.transports.dropins import (
        sse_client,
        stdio_client,
        streamable_http_client,
    )

    if SDK1:
        from mcp_anyera.transports.dropins import streamablehttp_client

_DROPINS: Final = "mcp_anyera.transports.dropins"
_LAZY: Final[dict[str, str]] = {
    "Adapted": "mcp_anyera.transports.adapted",
    "StdioServerParameters": "mcp_anyera._sdk",
    "adapt": "mcp_anyera.transports.adapted",
    "sse_client": _DROPINS,
    "stdio_client": _DROPINS,
    "streamable_http_client": _DROPINS,
}

__all__ = [
    "Adapted",
    "StdioServerParameters",
    "adapt",
    "sse_client",
    "stdio_client",
    "streamable_http_client",
]
if SDK1:
    _LAZY["streamablehttp_client"] = _DROPINS
    __all__ += ["streamablehttp_client"]


def __getattr__(name: str) -> Any:
    """Load what needs the SDK when it is first used."""
    module = _LAZY.get(name)
    if module is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = globals()[name] = getattr(import_module(module), name)
    return value
