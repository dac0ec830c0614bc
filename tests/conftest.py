"""What all tests share."""

from __future__ import annotations

import signal
from collections.abc import Iterator

# Its stdio_client keeps the stderr that is there when it is imported, which must not be
# what one test captures.
import mcp.client.stdio  # noqa: F401  # pyright: ignore[reportUnusedImport]
import pytest

from tests.interop.peers import end_shared


@pytest.fixture(scope="session", autouse=True)
def _peers_end_with_the_tests() -> Iterator[None]:
    yield
    end_shared()


@pytest.fixture(scope="session", autouse=True)
def _children_can_be_interrupted() -> None:
    # Whoever starts the tests in the background has SIGINT ignored, and every program
    # that they start would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
