"""The bridge's own log: to stderr, or to a file, never to stdout."""

from __future__ import annotations

import logging
from typing import Final

_LEVELS: Final = (logging.WARNING, logging.INFO, logging.DEBUG)


def configure(verbosity: int, path: str | None) -> None:
    """Say where the log goes and how much is in it.

    Args:
        verbosity: 0 for warnings, 1 for what happens to the connection, 2 for the
            method and the id of every message; what is in a message is never logged.
        path: A file to append to; stderr when ``None``.

    Raises:
        OSError: The file cannot be written.
    """
    handler = logging.StreamHandler() if path is None else logging.FileHandler(path)
    form = "anyera: %(message)s" if path is None else "%(asctime)s %(message)s"
    handler.setFormatter(logging.Formatter(form))
    log = logging.getLogger("mcp_anyera")
    log.addHandler(handler)
    log.setLevel(_LEVELS[min(verbosity, len(_LEVELS) - 1)])
    log.propagate = False
