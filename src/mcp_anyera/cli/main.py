"""Read the command line and run one sub-command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from mcp_anyera.cli import streams
from mcp_anyera.cli.clean import clean_line
from mcp_anyera.cli.trouble import FAILED, INTERRUPTED, Ended, Trouble

COMMANDS: Final = ("probe", "call", "prompt", "resource", "bridge", "matrix")
"""The sub-commands, in the order in which the help shows them."""
MARK: Final = "--"
"""Stands before the command that starts a server."""

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
    streams.hold()
    arguments = _parse(list(sys.argv[1:] if argv is None else argv))
    try:
        status = arguments.run(arguments)
        sys.stdout.flush()
    except Trouble as trouble:
        # Part of it may be a server's, and stderr a terminal.
        sys.stderr.write(f"anyera: {clean_line(str(trouble))}\n")
        return trouble.status
    except KeyboardInterrupt:
        return INTERRUPTED
    except Ended as ended:
        return ended.status
    except BrokenPipeError:
        # Whoever read the output has enough.
        streams.drop_output()
        return INTERRUPTED
    except OSError as error:
        streams.drop_output()
        sys.stderr.write(f"anyera: {error}\n")
        return FAILED
    return status


def program() -> None:
    """Run the command line and end the process with its status."""
    sys.exit(main())


def _parse(argv: list[str]) -> argparse.Namespace:
    # A command that is named needs none of the others, and starts the faster.
    named = argv[:1] if argv and argv[0] in COMMANDS else list(COMMANDS)
    found = parser(named)
    if not getattr(_module(named[0]), "COMMAND_BEHIND_MARK", False) or len(named) > 1:
        return found.parse_args(argv)
    place = argv.index(MARK) if MARK in argv else len(argv)
    # Options may stand between two words, which argparse alone does not allow.
    arguments, rest = found.parse_known_args(argv[:place])
    unknown = [word for word in rest if word.startswith("-")]
    if unknown:
        found.error(f"unrecognized arguments: {' '.join(unknown)}")
    arguments.words += rest
    arguments.command = argv[place + 1 :] if MARK in argv else None
    return arguments


def parser(names: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser of the whole command line, or of a part of it."""
    top = argparse.ArgumentParser(prog="anyera", description=_DESCRIPTION)
    top.add_argument(
        "--version", action=_ShowVersions, nargs=0, help="say the versions and end"
    )
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in names:
        _add(commands, name, _module(name))
    return top


def _module(name: str) -> Any:
    return import_module(f"mcp_anyera.cli.{name}")


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


class _ShowVersions(argparse.Action):
    """Says the versions; looking them up takes time that only this may take."""

    def __call__(
        self, parser: argparse.ArgumentParser, *_args: object, **_more: object
    ) -> None:
        """Print them and end."""
        from mcp_anyera.cli.versions import versions  # noqa: PLC0415 - slow

        found = versions()
        sys.stdout.write(f"anyera {found['mcp-anyera']} (mcp {found['mcp']})\n")
        parser.exit()
