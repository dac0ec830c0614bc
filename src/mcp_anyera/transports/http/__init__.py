"""Streamable HTTP of both eras, on the HTTP library that the installed SDK uses."""

from __future__ import annotations

from mcp_anyera.transports.http.clients import HttpOptions
from mcp_anyera.transports.http.wire import StreamableHttpWire

__all__ = ["HttpOptions", "StreamableHttpWire"]
