"""What the site's hook does to pages, and the pictures."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.interop.peers import ROOT

HOOKS = runpy.run_path(str(ROOT / "scripts" / "site_hooks.py"))
PICTURES = sorted((ROOT / "docs" / "pictures").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"


def config(site: Path | None = None) -> Any:
    return SimpleNamespace(
        docs_dir=str(ROOT / "docs"),
        site_dir=str(site),
        extra={"repository": "https://example.com/repo"},
    )


@pytest.mark.parametrize(
    ("link", "leads_to"),
    [
        ("[a](../reference/api.md#client)", "[a](../reference/api.md#client)"),
        (
            "[a](../../conformance/README.md#x)",
            "[a](https://example.com/repo/blob/main/conformance/README.md#x)",
        ),
        ("[a](../examples)", "[a](https://example.com/repo/tree/main/docs/examples)"),
        ("[a](https://example.com)", "[a](https://example.com)"),
    ],
)
def test_links_out_of_the_site_lead_to_the_repository(link: str, leads_to: str) -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="how-to/http.md"))
    assert HOOKS["on_page_markdown"](link, page=page, config=config()) == leads_to


def test_a_picture_is_put_into_its_page() -> None:
    html = '<p><img alt="a b" src="../pictures/layer.svg" /></p>'
    drawn = HOOKS["on_page_content"](html, config=config())
    assert 'role="img" aria-label="a b"' in drawn
    assert "<img" not in drawn


def test_a_page_that_loads_from_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="https://example.com">fine</a>')
    HOOKS["on_post_build"](config=config(tmp_path))
    (tmp_path / "b.html").write_text('<script src="https://example.com/x.js">')
    with pytest.raises(SystemExit, match=r"b\.html loads from elsewhere"):
        HOOKS["on_post_build"](config=config(tmp_path))


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_a_picture_says_what_it_shows_and_has_colours_of_its_own(picture: Path) -> None:
    root = ET.parse(picture).getroot()
    assert root.tag == f"{SVG}svg"
    assert root.findtext(f"{SVG}title")
    assert root.findtext(f"{SVG}desc")
    style = root.findtext(f"{SVG}style") or ""
    assert "prefers-color-scheme: dark" in style
    assert f"pictures/{picture.name}" in "".join(
        page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md")
    )
