"""Every Python block of the documentation runs, and prints what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import Run, eras_of, pieces
from tests.interop.peers import LEGACY, ROOT

pytestmark = pytest.mark.interop
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
WITH_CODE = [
    page
    for page in PAGES
    if any(piece.language == "python" for piece in pieces(page.read_text("utf-8")))
]
CELLS = [
    (page, peer) for page in WITH_CODE for peer in eras_of(page.read_text("utf-8"))
]


def named(value: object) -> str:
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else str(value)


@pytest.fixture
def anyio_backend() -> str:
    """Pages are written for asyncio, which is what frameworks run on."""
    return "asyncio"


@pytest.mark.timeout(300)  # frameworks take their time to load
@pytest.mark.parametrize(("page", "peer"), CELLS, ids=named)
async def test_the_code_of_the_page_runs(page: Path, peer: str, tmp_path: Path) -> None:
    await Run(page, peer, tmp_path).all()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```python\nprint(1)\n```\n\n```text\n2\n```\n", "page.md:5"),
        ("```python\nprint(1)\n```\n", "does not show"),
        ("<!-- fragment: no -->\n```python\n1 +\n```\n", "no reason"),
        ("```python\nraise AssertionError('ran')\n```\n", "ran"),
    ],
)
async def test_a_page_that_is_wrong_is_seen(
    text: str, complaint: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(AssertionError, match=complaint):
        await Run(page, LEGACY, tmp_path).all()
