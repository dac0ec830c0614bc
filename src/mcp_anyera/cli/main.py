"""Read the command line and run one sub-command."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from mcp_anyera.cli.target import split
from mcp_anyera.cli.trouble import INTERRUPTED, Ended, Trouble
from mcp_anyera.cli.versions import versions

COMMANDS: Final = ("probe", "call", "prompt", "resource")
"""The sub-commands, in the order in which the help shows them."""

_DESCRIPTION: Final = """\
One MCP client for any era of server: legacy (2024-11-05 to 2025-11-25, with a
handshake) and modern (2026-07-28 and later, without).
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments; those of the process when omitted.

    Returns:
        The exit status: 0 when it worked, 2 when the command line was wrong,
        130 when it was interrupted; else what the sub-command documents.
    """
    own, command = split(sys.argv[1:] if argv is None else argv)
    arguments = _parse(own)
    arguments.command = command
    # What the library has to say comes as events, and is shown where it belongs.
    logging.getLogger("mcp_anyera").addHandler(logging.NullHandler())
    try:
        status = arguments.run(arguments)
        sys.stdout.flush()
    except Trouble as trouble:
        print(f"anyera: {trouble}", file=sys.stderr)  # noqa: T201 - its purpose
        return trouble.status
    except KeyboardInterrupt:
        return INTERRUPTED
    except Ended as ended:
        return ended.status
    except BrokenPipeError:
        # Whoever read the output has enough. The interpreter must not find out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED
    return status


def _parse(argv: list[str]) -> argparse.Namespace:
    # Options may stand between two words, which argparse alone does not allow.
    found = parser()
    arguments, rest = found.parse_known_args(argv)
    unknown = [word for word in rest if word.startswith("-")]
    if unknown or (rest and not hasattr(arguments, "words")):
        found.error(f"unrecognized arguments: {' '.join(unknown or rest)}")
    if rest:
        arguments.words += rest
    return arguments


def program() -> None:
    """Run the command line and end the process with its status."""
    sys.exit(main())


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = argparse.ArgumentParser(prog="anyera", description=_DESCRIPTION)
    top.add_argument("--version", action="version", version=_versions())
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS:
        _add(commands, name, import_module(f"mcp_anyera.cli.{name}"))
    return top


def _add(commands: Any, name: str, module: Any) -> None:
    command = commands.add_parser(
        name,
        help=module.SUMMARY,
        usage=getattr(module, "USAGE", None),
        description=module.SUMMARY,
        epilog=module.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(command)
    command.set_defaults(run=module.run)


def _versions() -> str:
    found = versions()
    return f"anyera {found['mcp-anyera']} (mcp {found['mcp']})"
