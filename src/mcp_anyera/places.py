"""Where this package keeps things between two runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def state_folder(variables: Mapping[str, str] = os.environ) -> Path:
    """Return the user's own folder for our state; it need not exist.

    Args:
        variables: The environment, which may name another one.
    """
    if sys.platform == "win32":
        base = variables.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        base = variables.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "mcp-anyera"
