"""The HTTP library that the installed SDK uses, without the SDK itself."""

from __future__ import annotations

from mcp_anyera.transports.line import SDK1

if SDK1:
    import httpx
else:
    import httpx2 as httpx

__all__ = ["SDK1", "httpx"]
