"""``python -m mcp_anyera`` is the ``anyera`` command."""

from __future__ import annotations

from mcp_anyera.cli.main import program

program()
