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
OF_OTHERS = (
    "Cannot send 'elicitation/create'",
    "Client error '400 Bad Request'",
    "Unsupported protocol version",
)
GAP = "…"
PACKAGE = ROOT / "src" / "mcp_anyera"
OF_THEIR_OWN = {"bridge", "cli", "matrix", "testing"}
"""Parts whose errors are said where they are used."""
SAYS = {
    "Failure",
    "ExchangeFault",
    "_fail",
    "failure",
    "warning",
    "error",
    "exception",
}
DETAILS = (
    "it ",
    "its ",
    "the params of question …",
    "… of … is ",
    "… is at a place",
    "two properties are",
    "… may not be answered with questions",
    "the use of tools in sampling",
    "a sample of … content blocks",
    "the transport closed its stream",
    "a pair of streams cannot be started again",
    "a URL cannot be started again",
    "module … has no attribute …",
)
"""What only stands at the end of another sentence."""


@cache
def texts() -> str:
    """Return every string of the sources, with a gap for what is filled in."""
    return "\n".join(text for tree in trees(set()) for text in strings(tree))


def trees(without: set[str]) -> Iterator[ast.AST]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] not in without:
            yield ast.parse(path.read_text(encoding="utf-8"))


def strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        text = worded(node)
        if text is not None:
            yield text


def worded(node: ast.AST) -> str | None:
    """Return the text of a string, or ``None`` for anything else."""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else GAP
            for part in node.values
        )
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.replace("%s", GAP).replace("%r", GAP)
    return None


def said() -> set[str]:
    """Return what errors and warnings say, from where they are made."""
    functions = (
        node
        for tree in trees(OF_THEIR_OWN)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    found = {text for function in functions for text in said_by(function)}
    return {text for text in found if len(re.findall("[a-z]{2,}", text)) > 3}


def said_by(function: ast.AST) -> Iterator[str]:
    names: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names.setdefault(node.targets[0].id, []).append(node.value)
    for node in ast.walk(function):
        for value in spoken(node):
            known = names.get(value.id, []) if isinstance(value, ast.Name) else [value]
            yield from (text for each in known for text in strings_of(each))


def spoken(node: ast.AST) -> list[ast.expr]:
    """Return the values among which the words of an error or a warning are."""
    if isinstance(node, ast.Return) and node.value is not None:
        return [node.value]
    call = node.exc if isinstance(node, ast.Raise) else node
    if not isinstance(call, ast.Call):
        return []
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name not in SAYS and not isinstance(node, ast.Raise):
        return []
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def strings_of(value: ast.expr) -> list[str]:
    either = isinstance(value, ast.IfExp)
    texts = [
        worded(each) for each in ([value.body, value.orelse] if either else [value])
    ]
    return [text for text in texts if text is not None]


def parts(heading: str) -> list[str]:
    """Return what is fixed in a heading."""
    return [
        part.strip() for part in re.split(f"{GAP}|: ", heading) if len(part.strip()) > 3
    ]


@pytest.mark.parametrize("heading", HEADINGS)
def test_the_words_of_a_heading_are_in_the_sources(heading: str) -> None:
    assert parts(heading), "nothing but gaps"
    if not heading.startswith(OF_OTHERS):
        assert [part for part in parts(heading) if part not in texts()] == []


def test_what_errors_and_warnings_say_is_a_heading() -> None:
    known = [parts(heading) for heading in HEADINGS]
    missing = [
        text
        for text in sorted(said())
        if not text.startswith(DETAILS)
        and not any(all(part in text for part in heading) for heading in known)
        and not any(
            all(part in heading for part in parts(text)) for heading in HEADINGS
        )
    ]
    assert missing == []


def test_no_heading_comes_twice() -> None:
    assert len(HEADINGS) == len(set(HEADINGS)) > 30
