"""Read the command line and run one sub-command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

COMMANDS: Final = ("bridge", "matrix")
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
    arguments = _parser().parse_args(argv)
    try:
        return arguments.run(arguments)
    except KeyboardInterrupt:
        return 130


def program() -> None:
    """Run the command line and end the process with its status."""
    sys.exit(main())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="anyera", description=_DESCRIPTION)
    parser.add_argument(
        "--version", action=_ShowVersions, nargs=0, help="say the versions and end"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS:
        _add(commands, name, import_module(f"mcp_anyera.cli.{name}"))
    return parser


def _add(commands: Any, name: str, module: Any) -> None:
    command = commands.add_parser(
        name,
        help=module.SUMMARY,
        description=module.SUMMARY,
        epilog=module.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(command)
    command.set_defaults(run=module.run)


class _ShowVersions(argparse.Action):
    """Says the versions; looking them up takes time that only this may take."""

    def __call__(
        self, parser: argparse.ArgumentParser, *_args: object, **_more: object
    ) -> None:
        """Print them and end."""
        sys.stdout.write(_versions() + "\n")
        parser.exit()


def _versions() -> str:
    return f"anyera {_version('mcp-anyera')} (mcp {_version('mcp')})"


def _version(distribution: str) -> str:
    from importlib.metadata import (  # noqa: PLC0415 - slow, and rarely wanted
        PackageNotFoundError,
        version,
    )

    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
