"""The HTTP library that the installed SDK uses, without the SDK itself.

It is loaded when something of it is first used: a bridge to a server on the same
machine works without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mcp_anyera.transports.line import SDK1

if TYPE_CHECKING:
    if SDK1:
        import httpx
    else:
        import httpx2 as httpx
else:

    class _Later:
        """The library, once somebody asks for something in it."""

        def __getattr__(self, name: str) -> Any:
            """Load what is asked for."""
            value = getattr(import_module("httpx" if SDK1 else "httpx2"), name)
            setattr(self, name, value)
            return value

    httpx = _Later()

__all__ = ["SDK1", "httpx"]
