"""The two eras of MCP, and the protocol revisions that belong to each.

A revision is never compared as a string: it is looked up here. An unknown one
belongs to no era, and whoever meets it decides what is safe.

Spec: 2026-07-28 ``basic/versioning``.
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class Era(Enum):
    """The era of one connection; a server that offers both is *dual-era*."""

    LEGACY = "legacy"
    """An ``initialize`` handshake; the server calls the client back."""

    MODERN = "modern"
    """No handshake; the server returns its questions, the client retries."""


LEGACY_REVISIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Handshake revisions, newest first."""

MODERN_REVISIONS: Final = ("2026-07-28",)
"""Revisions without a handshake, newest first."""

LATEST_LEGACY: Final = LEGACY_REVISIONS[0]
LATEST_MODERN: Final = MODERN_REVISIONS[0]

BATCHING_REVISION: Final = "2025-03-26"
"""The only revision in which JSON-RPC batches are legal."""


REVISIONS_WITH_HEADER: Final = LEGACY_REVISIONS[:2]
"""The handshake revisions that know the ``MCP-Protocol-Version`` header."""


def era_of(revision: str) -> Era | None:
    """Return the era that a protocol revision belongs to.

    Args:
        revision: A protocol revision such as ``"2025-11-25"``.

    Returns:
        Its era, or ``None`` for a revision that this library does not know.
    """
    if revision in MODERN_REVISIONS:
        return Era.MODERN
    return Era.LEGACY if revision in LEGACY_REVISIONS else None


def newest_common(known: tuple[str, ...], offered: list[str]) -> str | None:
    """Return the newest of ``known`` (ordered newest first) that is in ``offered``."""
    return next((revision for revision in known if revision in offered), None)
