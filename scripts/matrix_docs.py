"""Write the views of the last matrix: a page of the documentation, the README's table.

Usage: ``python scripts/matrix_docs.py``, in an environment with the project; reads
``compat-matrix/results/latest.json``.
"""

from __future__ import annotations

from pathlib import Path

from mcp_anyera.matrix import result as results
from mcp_anyera.matrix.views import markdown

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "compat-matrix" / "results" / "latest.json"
PAGE = ROOT / "docs" / "reference" / "compat-matrix.md"
README = ROOT / "README.md"


def page() -> str:
    """Return the page of the documentation."""
    return markdown.rendered(results.load(RESULT))


def readme() -> str:
    """Return the README with the table that belongs to the last run."""
    return markdown.inserted(README.read_text("utf-8"), results.load(RESULT))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    README.write_text(readme(), "utf-8")
