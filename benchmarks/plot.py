"""What a call costs, drawn against the calls in flight."""

from __future__ import annotations

from collections.abc import Iterator
from math import log10
from typing import Any

from places import ROOT

WAYS = ("Client", "adapt", "session", "mcp.Client")
CLASSES = {
    "Client": "layer",
    "adapt": "modern",
    "session": "plain",
    "mcp.Client": "legacy",
}
STYLE = (ROOT / "docs" / "pictures" / "layer.svg").read_text("utf-8")
LEFT, TOP, WIDE, HIGH, GAP = 60, 46, 280, 220, 116


def picture(figures: dict[str, Any]) -> str:
    """Return the picture as SVG; one plot for each era of server."""
    most = max(
        one["cpu"]
        for counts in figures.values()
        for ways in counts.values()
        for one in ways.values()
    )
    top = 100 * -(-int(most) // 100)
    width, height = LEFT + 2 * WIDE + GAP + 90, TOP + HIGH + 56
    plots = (
        part
        for number, (era, counts) in enumerate(figures.items())
        for part in axes(era, counts, top, LEFT + number * (WIDE + GAP))
    )
    size = f'viewBox="0 0 {width} {height}" width="{width}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size}>
<title>What a call costs while others are in flight</title>
<desc>The client's processor time for one call, by the calls in flight.</desc>
{STYLE[STYLE.index("<style>") : STYLE.index("</style>")]}
.w-layer {{ stroke: var(--layer); }} .w-modern {{ stroke: var(--modern); }}
.w-legacy {{ stroke: var(--legacy); }} .w-plain {{ stroke: var(--dim); }}
.curve {{ fill: none; stroke-width: 2; }}
</style>
{chr(10).join(plots)}
</svg>
"""


def axes(era: str, counts: dict[str, Any], top: int, left: int) -> Iterator[str]:
    """Draw one plot."""
    bottom = TOP + HIGH
    numbers = [int(count) for count in counts]
    step = WIDE / max(1, log10(max(numbers)))
    yield text(left, 20, f"{era} server on stdio", "pk-text pk-bold")
    yield text(left, 36, "microseconds of processor time")
    for cost in range(0, top + 1, 100):
        y = bottom - cost * HIGH / top
        yield f'<path class="pk-line" opacity="0.35" d="M{left} {y:.0f}h{WIDE}"/>'
        yield text(left - 6, y + 4, str(cost), "pk-small pk-end")
    for number in numbers:
        x, shown = left + step * log10(number), f"{number:,}".replace(",", " ")
        yield text(x, bottom + 18, shown, "pk-small pk-middle")
    yield text(left + WIDE / 2, bottom + 38, "calls in flight", "pk-small pk-middle")
    for way in WAYS:
        costs = [counts[count].get(way, {}).get("cpu") for count in counts]
        if None not in costs:
            points = [
                (left + step * log10(number), bottom - cost * HIGH / top)
                for number, cost in zip(numbers, costs, strict=True)
            ]
            yield from curve(way, points)


def curve(way: str, points: list[tuple[float, float]]) -> Iterator[str]:
    """Draw what one way costs, and its name at the end."""
    line = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
    yield f'<polyline class="curve w-{CLASSES[way]}" points="{line}"/>'
    x, y = points[-1]
    yield text(x + 6, y + 4, way)


def text(x: float, y: float, words: str, kind: str = "pk-small") -> str:
    """Write something."""
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}">{words}</text>'
