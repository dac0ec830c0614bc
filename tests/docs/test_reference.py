"""The reference has everything that is public, and says what it is."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from importlib import import_module
from itertools import pairwise

import pytest

from tests.interop.peers import ROOT

REFERENCE = "".join(
    page.read_text("utf-8") for page in sorted(ROOT.glob("docs/reference/*.md"))
)
SHOWN = re.findall(r"^::: ([\w.]+)$", REFERENCE, re.MULTILINE)
MODULES = ("mcp_anyera", "mcp_anyera.testing", "mcp_anyera.transports")
ELSEWHERE = {
    "Adapted": "what `adapt` returns, to be entered",
    "StdioServerParameters": "the SDK's",
    "streamablehttp_client": "of SDK 1.x; the page says so in words",
}


def shown(path: str) -> object:
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError):
        return import_module(path)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_on_a_page(module: str) -> None:
    names = {path.rpartition(".")[2] for path in SHOWN}
    public = set(import_module(module).__all__)
    assert sorted(public - names - set(ELSEWHERE)) == []


@pytest.mark.parametrize("path", SHOWN)
def test_what_is_on_a_page_says_what_it_is(path: str) -> None:
    thing = shown(path)
    within = vars(thing).values() if inspect.ismodule(thing) else [thing]
    for each in within:
        if dataclasses.is_dataclass(each) and isinstance(each, type):
            assert undocumented(each) == []


def undocumented(cls: type) -> list[str]:
    """Return the fields of a data class that nothing is said about."""
    (node,) = ast.parse(inspect.getsource(cls)).body
    assert isinstance(node, ast.ClassDef)
    said = ast.get_docstring(node) or ""
    return [
        f"{cls.__name__}.{field.target.id}"
        for field, after in pairwise([*node.body, ast.Pass()])
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and not field.target.id.startswith("_")
        and not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant))
        and f"\n    {field.target.id}: " not in said
    ]
