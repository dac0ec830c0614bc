"""Text of a peer on its way to a terminal.

A server could write escape sequences that move the cursor, change the title or
hide what it asks. Nothing of that kind leaves here, nor the marks that turn the
direction of a text around.
"""

from __future__ import annotations

import unicodedata
from typing import Final

_KEPT: Final = frozenset("\n\t")
_TURNING: Final = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))


def clean(text: str) -> str:
    """Return a text without what a terminal would act on."""
    return "".join(map(_shown, text.replace("\r\n", "\n")))


def clean_line(text: str) -> str:
    """Return the same on one line."""
    return " ".join(clean(text).split())


def _shown(letter: str) -> str:
    if letter in _KEPT:
        return letter
    bad = unicodedata.category(letter) in {"Cc", "Cs"} or letter in _TURNING
    return "\N{REPLACEMENT CHARACTER}" if bad else letter
