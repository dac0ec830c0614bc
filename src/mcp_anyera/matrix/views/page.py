"""One self-contained page: the grid, and the transcript of each cell as a diagram."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from mcp_anyera.matrix.result import Json

_HERE: Final = Path(__file__).parent
_PARTS: Final = ("page.css", "page.js", "diagram.js")


def rendered(data: Json) -> str:
    """Return the page as HTML; it needs no network."""
    page = (_HERE / "page.html").read_text("utf-8")
    for name in _PARTS:
        page = page.replace(f"@{name}@", (_HERE / name).read_text("utf-8"))
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # Inside a script element, nothing may look like its end.
    return page.replace("@data@", text.replace("<", "\\u003c"))
