"""FastMCP's proxy on stdio, in front of the server at the URL that is given."""

from __future__ import annotations

import sys

from fastmcp.server import create_proxy

create_proxy(sys.argv[1]).run(show_banner=False)
