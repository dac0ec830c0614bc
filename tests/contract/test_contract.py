"""The behaviour contract: one outcome for each row, in every cell."""

from __future__ import annotations

import pytest

from tests.contract import asking, telling
from tests.contract.table import CELLS, ROWS, Cell, Row

pytestmark = pytest.mark.interop
assert asking.row is telling.row  # the rows register themselves

PAIRS = [
    pytest.param(row, cell, id=f"{row.name} {cell}")
    for row in ROWS
    for cell in CELLS
    if cell.era in row.eras
]


@pytest.mark.parametrize(("row", "cell"), PAIRS)
async def test_the_outcome_is_the_same_everywhere(
    row: Row, cell: Cell, kept: set[tuple[str, str]]
) -> None:
    assert await row.scene(cell) == row.outcome
    kept.add((row.name, str(cell)))


def test_every_row_has_a_name_of_its_own() -> None:
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names))
    assert {f"B{number}" for number in range(1, 29)} <= set(names)
