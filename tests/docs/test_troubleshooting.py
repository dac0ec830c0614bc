"""The headings of the troubleshooting page are texts that somebody will meet."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.interop.peers import ROOT

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^### (.+)$", PAGE, re.MULTILINE)
THE_SERVERS_OWN = ("Cannot send 'elicitation/create'",)
GAP = "…"


@cache
def texts() -> str:
    """Return every string of the sources, with a gap for what is filled in."""
    files = sorted((ROOT / "src" / "mcp_anyera").rglob("*.py"))
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in files)
    return "\n".join(text for tree in trees for text in strings(tree))


def strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else GAP
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.replace("%s", GAP)


def parts(heading: str) -> list[str]:
    """Return what is fixed in a heading."""
    return [
        part.strip() for part in re.split(f"{GAP}|: ", heading) if len(part.strip()) > 3
    ]


@pytest.mark.parametrize("heading", HEADINGS)
def test_the_words_of_a_heading_are_in_the_sources(heading: str) -> None:
    assert parts(heading), "nothing but gaps"
    if not heading.startswith(THE_SERVERS_OWN):
        assert [part for part in parts(heading) if part not in texts()] == []


def test_no_heading_comes_twice() -> None:
    assert len(HEADINGS) == len(set(HEADINGS)) > 30
