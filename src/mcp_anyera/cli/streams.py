"""The standard streams, where whoever has started the command left one out."""

from __future__ import annotations

import os
import sys
from typing import Final

_STANDARD: Final = (0, 1, 2)


def hold() -> None:
    """Open what is closed on nothing.

    Else the first pipe to a server would become our stdout, and a mere ``print``
    would be the end.
    """
    for descriptor in _STANDARD:
        try:
            os.fstat(descriptor)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
    # For the interpreter they are missing all the same.
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115, PTH123 - stays open
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123 - the same
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123 - the same


def drop_output() -> None:
    """Throw away what is still on its way to stdout, which cannot be written.

    The interpreter would try once more at its end, and complain.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
