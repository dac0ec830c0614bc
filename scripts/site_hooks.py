"""What the site does with the pages beyond what its generator does.

Pictures are put into the page, so that they take its colours. Links to files of the
repository that are not part of the site lead to the repository. A page that would
load something from elsewhere is an error.
"""

from __future__ import annotations

import posixpath
import re
from html import escape
from pathlib import Path
from typing import Any

LINK = re.compile(r"(\]\()(\.\./[^)#\s]*)([^)]*\))")
ELSEWHERE = re.compile(
    r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="https?://[^"]*'
)
PICTURE = re.compile(r'<img alt="([^"]*)" src="[^"]*pictures/([a-z-]+\.svg)"\s*/?>')


def on_page_markdown(markdown: str, page: Any, config: Any, **_more: Any) -> str:
    """Lead links out of the documentation to the repository."""
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def lead(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, match[2]))
        in_site = target.startswith("docs/") and not target.startswith("docs/examples")
        if target == "docs" or in_site or target.startswith("../"):
            return match[0]
        kind = "tree" if (Path(config.docs_dir).parent / target).is_dir() else "blob"
        return f"{match[1]}{config.extra['repository']}/{kind}/main/{target}{match[3]}"

    return LINK.sub(lead, markdown)


def on_page_content(html: str, config: Any, **_more: Any) -> str:
    """Put pictures into the page."""

    def draw(match: re.Match[str]) -> str:
        drawing = Path(config.docs_dir, "pictures", match[2]).read_text("utf-8")
        label = f'<svg class="picture" role="img" aria-label="{escape(match[1])}"'
        return f'<div class="drawing">{drawing.replace("<svg", label, 1)}</div>'

    return PICTURE.sub(draw, html)


def on_post_build(config: Any, **_more: Any) -> None:
    """Refuse a site that needs a network."""
    for page in sorted(Path(config.site_dir).rglob("*.html")):
        found = ELSEWHERE.search(page.read_text("utf-8"))
        if found is not None:
            raise SystemExit(f"{page} loads from elsewhere: {found[0]}")
