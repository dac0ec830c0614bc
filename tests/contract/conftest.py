"""Keep what has held, for the table in the reference (scripts/behaviour_table.py)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.table import CELLS, LINE, ROWS

RESULTS = Path(__file__).resolve().parents[2] / ".contract"


@pytest.fixture(scope="session")
def kept() -> Iterator[set[tuple[str, str]]]:
    """The rows and cells that have held; written down when all were tried."""
    held: set[tuple[str, str]] = set()
    yield held
    whole = {
        (row.name, str(cell)) for row in ROWS for cell in CELLS if cell.era in row.eras
    }
    if held == whole:
        RESULTS.mkdir(exist_ok=True)
        rows = [
            {
                "name": row.name,
                "situation": row.situation,
                "outcome": row.outcome,
                "cells": {str(cell): (row.name, str(cell)) in held for cell in CELLS},
            }
            for row in ROWS
        ]
        (RESULTS / f"{LINE}.json").write_text(json.dumps(rows, indent=1))
