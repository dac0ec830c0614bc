"""Transports: `adapt`, and drop-ins with the names of the SDK's own.

Change ``from mcp.client.stdio import stdio_client`` to ``from
mcp_anyera.transports import stdio_client``, and the session above works with
servers of any era.
"""

from __future__ import annotations

import sys
from typing import TextIO

from mcp_anyera._sdk import StdioServerParameters
from mcp_anyera.transports.adapt import Adapted, adapt
from mcp_anyera.transports.stdio import StdioWire

__all__ = ["Adapted", "StdioServerParameters", "adapt", "stdio_client"]


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
