"""What an option takes: functions for argparse, which names them when they refuse."""

from __future__ import annotations

from typing import Final

from mcp_anyera.eras import era_of

_MODES: Final = frozenset({"auto", "legacy", "modern"})


def mode(text: str) -> str:
    """Return a mode of the command line.

    Raises:
        ValueError: There is no such mode.
    """
    if text not in _MODES and era_of(text) is None:
        raise ValueError
    return text


def seconds(text: str) -> float:
    """Return a time of the command line.

    Raises:
        ValueError: It is no number above zero.
    """
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError
    return value


def count(text: str) -> int:
    """Return how often something may happen.

    Raises:
        ValueError: It is no whole number above zero.
    """
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def port(text: str) -> int:
    """Return a port; 0 is any.

    Raises:
        ValueError: There is no such port.
    """
    value = int(text)
    if not 0 <= value < 2**16:
        raise ValueError
    return value


for _kind, _name in ((seconds, "number of seconds"), (count, "number")):
    _kind.__name__ = _name  # argparse says "invalid number of seconds value"
