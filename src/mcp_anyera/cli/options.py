"""The options that ``call``, ``prompt`` and ``resource`` share."""

from __future__ import annotations

import argparse

from mcp_anyera.cli import kinds, target
from mcp_anyera.cli.target import CommandTarget
from mcp_anyera.cli.trouble import misused
from mcp_anyera.engine.config import LOG_LEVELS


def add_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options of a command that calls something.

    Args:
        parser: The parser of the command.
        what: The last word of the command line, as the help names it.
    """
    parser.add_argument(
        "words",
        nargs="*",
        metavar="[URL] " + what,
        help=f"the server, unless a command stands behind --, and the {what}; "
        "without it, what there is",
    )
    parser.add_argument(
        "--output",
        choices=("text", "json"),
        default="text",
        help="text (the default), or json: the result as the server sent it",
    )
    _add_asking(parser)
    _add_watching(parser)
    target.add_arguments(parser)


def _add_asking(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("questions of the server")
    group.add_argument(
        "--answers",
        metavar="FILE",
        help="answer from this file, before anybody is asked",
    )
    group.add_argument(
        "--no-input", action="store_true", help="ask nobody, also in a terminal"
    )
    group.add_argument(
        "--root",
        metavar="DIR",
        action="append",
        default=[],
        help="a directory, or a URI, that the server may ask for; may be repeated",
    )
    group.add_argument(
        "--max-rounds",
        type=kinds.count,
        default=10,
        metavar="N",
        help="rounds of questions that one call may take (10)",
    )


def _add_watching(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is shown on stderr")
    group.add_argument(
        "--log-level",
        choices=LOG_LEVELS,
        metavar="LEVEL",
        default="info",
        help=f"the least severe log message that is wanted: {', '.join(LOG_LEVELS)}",
    )
    group.add_argument(
        "--quiet", action="store_true", help="show questions and errors only"
    )
    group.add_argument(
        "--timeout",
        type=kinds.seconds,
        metavar="SECONDS",
        help="time that the server may take for the call; waiting for you is free",
    )


def server_and_name(arguments: argparse.Namespace) -> tuple[CommandTarget, str | None]:
    """Return the server of a command line, and the name behind it, if any.

    Raises:
        Trouble: There are too many words, or none that names a server.
    """
    words: list[str] = list(arguments.words)
    expected = 1 if arguments.command is not None else 2
    if len(words) > expected:
        raise misused(
            f"what is {words[expected]!r} for? Arguments are --arg NAME=VALUE, and a "
            "command that starts a server stands behind --, or in quotes"
        )
    name = words.pop() if len(words) == expected else None
    return target.read(arguments, words), name
