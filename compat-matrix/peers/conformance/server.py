"""The everything-server of the public conformance suite, as the SDK ships it.

It is no package: it is in the examples of the SDK's source distribution, which
``scripts/envs.py`` unpacks beside the environment's packages.
"""

import logging
import sys
from pathlib import Path
from typing import Any

EXAMPLE = "sdist/*/examples/servers/everything-server"
logging.disable(logging.CRITICAL)
sys.path.insert(0, str(next(Path(sys.prefix).glob(EXAMPLE))))

from mcp_everything_server import server


def http_app(_flags: set[str]) -> tuple[Any, str]:
    # SDK 1.x is told of its event store when the server is made.
    late = hasattr(server.mcp, "settings") and hasattr(server.mcp.settings, "host")
    options = {} if late else {"event_store": server.event_store, "retry_interval": 100}
    return server.mcp.streamable_http_app(**options), "/mcp"
