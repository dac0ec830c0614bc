"""Generated pages are what their scripts write, and links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop.peers import ROOT

PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        ROOT / "compat-matrix" / "README.md",
    ]
)


def test_the_translation_table_is_what_the_registry_says() -> None:
    script = ROOT / "scripts" / "translation_table.py"
    code = f"import runpy; print(runpy.run_path({str(script)!r})['table'](), end='')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == (ROOT / "docs/reference/translation.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target
