"""The examples of the documentation, as they are, against a legacy and a modern server."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from tests.interop.peers import LEGACY, MODERN, ROOT, command

pytestmark = pytest.mark.interop
EXAMPLES = ROOT / "docs" / "examples"
SAID = {
    "elicitation": [
        "issue_card asks: Whose card is it?",
        "card for Ada Lovelace: Dune",
    ],
    "client_features": [
        "[]",
        '["elicitation"]',
        '["elicitation", "roots", "sampling"]',
    ],
    "sampling": ["summary: Summarise: the sea is"],
    "roots": ["file:///srv/books,file:///srv/maps"],
    "logs": ["[warning] warning message", "[error] error message"],
    "messages": ["heard of ToolListChangedNotification", "True"],
}


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_is_tried() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == SAID.keys()


@pytest.mark.parametrize("peer", [LEGACY, MODERN])
@pytest.mark.parametrize("name", SAID)
async def test_the_example_says_what_it_should(
    name: str, peer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await load(EXAMPLES / f"{name}.py").main(command(peer))
    assert capsys.readouterr().out.splitlines() == SAID[name]
