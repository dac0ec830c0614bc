"""Everything that is odd about a server."""

from __future__ import annotations

from mcp_anyera.cli import odd_connections, odd_contents, odd_probes
from mcp_anyera.cli.examining import Examined
from mcp_anyera.cli.oddity import Oddity


def oddities(found: Examined) -> list[Oddity]:
    """Return what is odd about a server, in the order in which it came up."""
    rules = (*odd_probes.RULES, *odd_connections.RULES, *odd_contents.RULES)
    return [oddity for rule in rules for oddity in rule(found)]
