"""Generated pages are what their scripts write, and links lead somewhere."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop.peers import ROOT

PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("*/README.md"),
    ]
)


@pytest.mark.parametrize(
    ("name", "function", "page"),
    [
        ("translation_table", "table", "translation"),
        ("command_line", "page", "command-line"),
    ],
)
def test_a_generated_page_is_what_its_script_writes(
    name: str, function: str, page: str
) -> None:
    script = ROOT / "scripts" / f"{name}.py"
    code = (
        f"import runpy; print(runpy.run_path({str(script)!r})[{function!r}](), end='')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "80"},
    )
    written = (ROOT / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8")
    assert done.stdout == written


def test_the_picture_of_the_matrix_is_what_the_last_run_says() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "matrix_picture.py"))
    written = script["PICTURE"].read_text(encoding="utf-8")
    assert written == script["picture"](), "run: make matrix-docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        target, _, anchor = link.partition("#")
        if "://" in link:
            continue
        there = page.parent / target if target else page
        assert there.exists(), link
        if anchor and there.suffix == ".md":
            assert anchor in anchors(there.read_text(encoding="utf-8")), link


def anchors(text: str) -> set[str]:
    """Return what the headings of a page are called in a link."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    words = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[\s-]+", "-", each) for each in words}
