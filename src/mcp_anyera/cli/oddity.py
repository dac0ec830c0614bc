"""One thing that is odd about a server: what was seen, what it means, what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from mcp_anyera.cli.examining import Examined

NOTE: Final = "note"
"""Harmless, and worth knowing."""
WARNING: Final = "warning"
"""Something is lost, or slow, or other clients will not get along."""


@dataclass(frozen=True, slots=True)
class Oddity:
    """One thing that is not as expected."""

    code: str
    severity: str
    seen: str
    meaning: str
    advice: str


Rule: TypeAlias = Callable[[Examined], Iterator[Oddity]]
"""Looks at one thing."""
