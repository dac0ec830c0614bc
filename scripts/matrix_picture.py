"""Draw the last matrix: how much of what was tried passes, client stack by server.

Usage: ``python scripts/matrix_picture.py``, in an environment with the project; reads
``compat-matrix/results/latest.json`` and writes ``docs/pictures/matrix.svg``.
``make matrix-docs`` does so too.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from mcp_anyera.matrix import result as results

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "compat-matrix" / "results" / "latest.json"
PICTURE = ROOT / "docs" / "pictures" / "matrix.svg"
STYLE = (ROOT / "docs" / "pictures" / "layer.svg").read_text("utf-8")
ERAS = {"legacy": "legacy", "dual": "dual-era", "modern": "modern only"}
GROUPS = ("sdk", "anyera", "bridge")
LEFT, TOP, WIDE, HIGH, GAP = 118, 218, 30, 22, 12


def picture() -> str:
    """Return the picture as SVG."""
    data = results.load(RESULT)
    xs = dict(placed(groups(data["servers"], "era", ERAS), LEFT, WIDE))
    ys = dict(placed(groups(data["clients"], "group", GROUPS), TOP, HIGH))
    width, height = max(xs.values()) + WIDE + 8, max(ys.values()) + HIGH + 30
    cells = (cell(data, *row, *place) for row in ys.items() for place in xs.items())
    below = f"Percent of the scenarios that were tried, {data['started'][:10]}."
    legend = f'<text class="pk-small" x="{LEFT}" y="{height - 8}">{below}</text>'
    parts = [*headings(data, xs), *titles(data, ys), *cells, legend]
    size = f'viewBox="0 0 {width} {height}" width="{width}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size}>
<title>The compat matrix</title>
<desc>How many percent of the scenarios pass, for each client stack and server.</desc>
{STYLE[STYLE.index("<style>") : STYLE.index("</style>")]}</style>
{chr(10).join(filter(None, parts))}
</svg>
"""


def groups(peers: dict[str, Any], key: str, order: Any) -> list[list[str]]:
    """Return the names of peers, one list for each group."""
    return [[name for name, each in peers.items() if each[key] == one] for one in order]


def placed(lists: list[list[str]], start: int, step: int) -> Iterator[tuple[str, int]]:
    """Give each name a place, with a gap between groups."""
    for names in filter(None, lists):
        for name in names:
            yield name, start
            start += step
        start += GAP


def headings(data: Any, columns: dict[str, int]) -> Iterator[str]:
    """Write the servers, and above them their eras."""
    for era, title in ERAS.items():
        places = [
            x for name, x in columns.items() if data["servers"][name]["era"] == era
        ]
        if places:
            yield f'<text class="pk-text pk-bold" x="{places[0]}" y="16">{title}</text>'
    for name, x in columns.items():
        title = escape(data["servers"][name].get("title", name))
        turned = f"rotate(-90 {x + WIDE / 2 + 4:g} {TOP - 8})"
        yield (
            f'<text class="pk-small" x="{x + WIDE / 2 + 4:g}" y="{TOP - 8}" '
            f'transform="{turned}">{title}</text>'
        )


def titles(data: Any, rows: dict[str, int]) -> Iterator[str]:
    """Write the client stacks."""
    for name, y in rows.items():
        title = escape(data["clients"][name]["title"])
        place = f'class="pk-small pk-end" x="{LEFT - 8}" y="{y + 15}"'
        yield f"<text {place}>{title}</text>"


def cell(data: Any, client: str, y: int, server: str, x: int) -> str:
    """Draw one pair, over all its transports."""
    pairs = (p for p in data["pairs"] if (p["client"], p["server"]) == (client, server))
    counts = results.counted(each for pair in pairs for each in pair["cells"].values())
    tried = sum(counts[name] for name in ("pass", "gap", "fail", "error"))
    if not tried:
        return ""
    percent = 100 * counts["pass"] // tried
    kind, strength = ("modern", percent**2 / 20_000) if percent else ("legacy", 0.2)
    colour = f"fill: var(--{kind}); fill-opacity: {strength:.2f}"
    return (
        f'<rect style="{colour}" x="{x + 1}" y="{y + 1}" width="{WIDE - 2}" '
        f'height="{HIGH - 2}" rx="3"/>'
        f'<text class="pk-text pk-middle" x="{x + WIDE / 2:g}" y="{y + 15.5}" '
        f'style="font-size: 11px">{percent}</text>'
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), "utf-8")
