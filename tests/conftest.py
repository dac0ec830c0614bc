"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.interop.peers import end_shared


@pytest.fixture(scope="session", autouse=True)
def _peers_end_with_the_tests() -> Iterator[None]:
    yield
    end_shared()
