"""What passed between a client stack and a server, cut into scenarios."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, cast

LONGEST: Final = 200
"""Characters of one string that are kept."""
MOST: Final = 8
"""Members of one list or object that are kept."""
MOST_RECORDS: Final = 36
"""Records of one scenario that are kept; a server may send without end."""

Record = dict[str, Any]


def write(file: Any, time: float, direction: str, message: Any, **more: Any) -> None:
    """Write one record as a line, at once: whoever writes may be ended."""
    entry = {"t": time, "d": direction, "m": message, **more}
    file.write(json.dumps(entry, default=str) + "\n")
    file.flush()


def read(path: Path) -> list[Record]:
    """Read the records of a file; one that was cut off is left out."""
    records: list[Record] = []
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def cut(
    records: Iterable[Record], begins: Mapping[str, float], start: float
) -> dict[str, list[Record]]:
    """Give each scenario the records from its beginning to that of the next.

    Args:
        records: What was written, in any order.
        begins: When each scenario began.
        start: The time that counts as zero.
    """
    times = sorted((time, name) for name, time in begins.items())
    cuts: dict[str, list[Record]] = {name: [] for name in begins}
    for record in sorted(records, key=lambda each: each["t"]):
        current = [name for time, name in times if time <= record["t"]][-1:]
        for name in current:
            if len(cuts[name]) < MOST_RECORDS:
                cuts[name].append(_kept(record, start))
    return cuts


def _kept(record: Record, start: float) -> Record:
    seconds = round(record["t"] - start, 4)
    return {**record, "t": seconds, "m": shortened(record["m"])}


def shortened(value: Any, depth: int = 0) -> Any:
    """Return JSON whose strings, lists and objects have a limit."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
    if isinstance(value, list):
        items = cast("list[Any]", value)
        more = [f"… {len(items) - MOST} more"] if len(items) > MOST else []
        return [shortened(item, depth + 1) for item in items[:MOST]] + more
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        kept = list(members.items())[:MOST]
        return {key: shortened(item, depth + 1) for key, item in kept}
    return value


def packed(value: Any, scrub: Mapping[str, str]) -> str:
    """Return JSON in as few characters as can stand inside JSON.

    Args:
        value: What to pack.
        scrub: Names of places on this machine, and what to write instead.
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for place, instead in scrub.items():
        text = text.replace(place, instead)
    squeezed = gzip.compress(text.encode(), mtime=0)
    return base64.b64encode(squeezed).decode("ascii")


def unpacked(text: str) -> Any:
    """Return what was packed."""
    return json.loads(gzip.decompress(base64.b64decode(text)))
