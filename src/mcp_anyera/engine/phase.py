"""Where the opening of a connection stands."""

from __future__ import annotations

from enum import Enum, auto


class Phase(Enum):
    """Where the opening stands."""

    NEW = auto()
    """Nothing was asked of us yet, or the last opening was given up."""
    PROBING = auto()
    """``server/discover`` is out."""
    HANDSHAKING = auto()
    """``initialize`` is out; a late answer to the probe is still welcome."""
    RESTARTING = auto()
    """The process ended and is being started again, or the transport is changed."""
    READY = auto()
    """The era is known."""
    CLOSED = auto()
    """The server is gone."""
