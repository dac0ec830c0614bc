"""What commands remember of servers: nothing, unless they are told to.

One file serves all commands, so that what the bridge has found out saves `call` the
question too.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcp_anyera.cli.trouble import misused

if TYPE_CHECKING:
    # A bridge that remembers nothing starts without it.
    from mcp_anyera.memory import EraMemory

FILE: Final = "eras.json"
"""In the user's folder for our state."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that remembers."""
    group = parser.add_argument_group("memory")
    group.add_argument(
        "--memory",
        action="store_true",
        help="remember the era of the server, in a file that all commands share, and "
        "do not ask for it the next time",
    )
    group.add_argument(
        "--memory-file", metavar="FILE", help="the same, in a file of your own"
    )


def file(arguments: argparse.Namespace) -> Path | None:
    """Return the file to remember in; ``None`` where nothing is remembered.

    Raises:
        Trouble: It is a folder.
    """
    if arguments.memory_file is not None:
        path = Path(arguments.memory_file)
        if path.is_dir() or not path.name:
            raise misused(f"--memory-file takes a file; {path} is a folder")
        return path
    if not arguments.memory:
        return None
    from mcp_anyera.places import state_folder  # noqa: PLC0415 - few need it

    return state_folder() / FILE


def memory(arguments: argparse.Namespace) -> EraMemory | None:
    """Return the memory that a command line asks for, if it does.

    Raises:
        Trouble: What `file` raises.
    """
    path = file(arguments)
    if path is None:
        return None
    from mcp_anyera.memory import EraMemory  # noqa: PLC0415 - as above

    return EraMemory(path)


def memory_aloud(arguments: argparse.Namespace) -> EraMemory | None:
    """Return the same; what is wrong with its file is said on stderr.

    The bridge has a log for that.

    Raises:
        Trouble: What `file` raises.
    """
    found = memory(arguments)
    if found is not None:
        _speak_up()
    return found


def _speak_up() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("anyera: %(message)s"))
    log = logging.getLogger("mcp_anyera.memory")
    log.addHandler(handler)
    log.propagate = False
