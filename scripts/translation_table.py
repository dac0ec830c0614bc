"""Write the translation table of the documentation from the engine's registry.

``python3 scripts/translation_table.py`` rewrites ``docs/reference/translation.md``;
a test fails when the file is not what this script would write.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from mcp_anyera.engine.registry import Direction, Rule, lookup, rows  # noqa: E402
from mcp_anyera.eras import Era  # noqa: E402

TARGET = ROOT / "docs" / "reference" / "translation.md"
HEAD = """# What happens to each method

Written by `scripts/translation_table.py` from `mcp_anyera.engine.registry`, which is
also what the engine runs on. *Forward* passes a message on, *rewrite* passes it on in
the words of the other era, *answer here* and *consume* keep it from the other side,
*refuse* says no. What is not listed is forwarded, in both directions and both eras,
except that a modern server may not send requests at all: those are dropped.
"""
COLUMNS = "| method | legacy server | modern server | spec |\n|---|---|---|---|"


def table() -> str:
    """Return the whole page."""
    return "\n".join([HEAD, *map(section, Direction)])


def section(direction: Direction) -> str:
    """Return the part about one direction."""
    title = direction.value[0].upper() + direction.value[1:]
    methods = dict.fromkeys(
        method for where, method, _, _ in rows() if where is direction
    )
    lines = [line(direction, method) for method in methods]
    return "\n".join([f"## {title}s\n", COLUMNS, *lines, ""])


def line(direction: Direction, method: str) -> str:
    """Return the line about one method."""
    legacy, modern = (
        lookup(direction, era, method) for era in (Era.LEGACY, Era.MODERN)
    )
    specs = dict.fromkeys(rule.spec for rule in (legacy, modern) if rule.spec != "–")
    return f"| `{method}` | {cell(legacy)} | {cell(modern)} | {', '.join(specs)} |"


def cell(rule: Rule) -> str:
    """Return what one era does; what is not in the table is just forwarded."""
    listed = rule.spec != "–"
    return f"**{rule.action.value}**: {rule.how}" if listed else "**forward**"


if __name__ == "__main__":
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(table(), encoding="utf-8")
