"""The TARGET of a command line: a URL, or a command that starts a server.

::

    anyera probe https://example.com/mcp
    anyera probe -- python server.py --verbose
    anyera call 'python server.py' add --arg a=1

A command stands behind ``--``, in the place of TARGET, or is one quoted word.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from mcp_anyera.cli import kinds, pairs, remembering
from mcp_anyera.cli.trouble import misused

_URL: Final = re.compile(r"https?://", re.IGNORECASE).match
_INHERITED: Final = (
    "set this for the server, which inherits all variables of the bridge, for the "
    "configuration of a client sets them for the server; may be repeated"
)
_HARMLESS: Final = (
    "set this for the server; NAME alone passes on a variable of this shell. Nothing "
    "else of the shell is passed on but what is harmless, such as PATH and HOME, for "
    "it may hold secrets; may be repeated"
)


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """A server as the command line names it."""

    url: str | None
    command: tuple[str, ...] = ()
    headers: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    env: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None

    @property
    def server(self) -> Any:
        """What `Client` takes."""
        if self.url is not None:
            return self.url
        from mcp_anyera._sdk import StdioServerParameters  # noqa: PLC0415 - heavy

        command, *args = self.command
        return StdioServerParameters(
            command=command, args=args, env=self.env or None, cwd=self.cwd
        )


def add_arguments(parser: argparse.ArgumentParser, *, bridged: bool = False) -> None:
    """Add what every command with a TARGET takes.

    Args:
        parser: The parser of the command.
        bridged: Whether it is the bridge, which stands in the place of the server:
            whoever starts it has meant all variables for the server.
    """
    _add_url(parser)
    _add_command(parser, bridged=bridged)
    _add_opening(parser)
    remembering.add_arguments(parser)


def _add_url(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a server at a URL")
    group.add_argument(
        "--header",
        metavar="'NAME: VALUE'",
        action="append",
        default=[],
        help="send this with every request; ${VAR} is replaced by the variable of the "
        "environment, which keeps secrets out of process lists",
    )
    group.add_argument(
        "--header-env",
        metavar="NAME=VAR",
        action="append",
        default=[],
        help="send the variable VAR as the header NAME, where no shell keeps ${VAR}",
    )


def _add_command(parser: argparse.ArgumentParser, *, bridged: bool) -> None:
    group = parser.add_argument_group("a server that is started")
    group.add_argument(
        "--env",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help=_INHERITED if bridged else _HARMLESS,
    )
    group.add_argument("--cwd", metavar="DIR", help="start the server there")
    if not bridged:
        group.add_argument(
            "--stderr", action="store_true", help="show what it writes to stderr"
        )


def _add_opening(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the connection")
    group.add_argument(
        "--mode",
        type=kinds.mode,
        metavar="MODE",
        default="auto",
        help="auto (the default), legacy, modern, or a revision such as 2025-11-25",
    )
    group.add_argument(
        "--probe-timeout",
        type=kinds.seconds,
        metavar="SECONDS",
        help="patience with server/discover (0.9 for a command, 10 for a URL)",
    )
    group.add_argument(
        "--connect-timeout",
        type=kinds.seconds,
        metavar="SECONDS",
        default=90.0,
        help="limit for the whole opening (90)",
    )


def read(arguments: argparse.Namespace, words: Sequence[str]) -> CommandTarget:
    """Return the server that a command line names.

    Args:
        arguments: What argparse has made of it.
        words: The words for TARGET: one, or none where a command stands behind
            ``--``.

    Raises:
        Trouble: It names none, or has options that do not belong to it.
    """
    command = arguments.command
    if command is not None and words:
        raise misused(f"name {words[0]!r} or a command behind --, not both")
    if command is None:
        if not words:
            raise misused("name a URL, or a command behind --")
        if _URL(words[0]):
            return _url(arguments, words[0])
        command = _words(words[0])
    elif len(command) == 1 and _URL(command[0]):
        return _url(arguments, command[0])  # no program is called that
    if not command or not command[0]:
        raise misused("the command that starts the server is empty")
    return _command(arguments, command)


def only(arguments: argparse.Namespace) -> CommandTarget:
    """Return the server of a command line that has no other words.

    Raises:
        Trouble: There are more, or what `read` raises.
    """
    if len(arguments.words) > 1:
        raise misused(f"what is {arguments.words[1]!r} for? A command stands behind --")
    return read(arguments, arguments.words)


def _url(arguments: argparse.Namespace, url: str) -> CommandTarget:
    if arguments.env or arguments.cwd:
        raise misused("--env and --cwd are for commands; a URL takes --header")
    _check_url(url)
    headers = pairs.headers(arguments.header, arguments.header_env)
    return CommandTarget(url, headers=headers)


def _check_url(url: str) -> None:
    # Part of it may be a secret, so it is not repeated.
    try:
        parts = urlsplit(url)
        _, host = parts.port, parts.hostname
    except ValueError as error:
        raise misused(f"the URL makes no sense: {error}") from error
    if not host:
        raise misused("the URL names no host")


def _command(arguments: argparse.Namespace, command: Sequence[str]) -> CommandTarget:
    if arguments.header or arguments.header_env:
        raise misused("--header and --header-env are for URLs; a command takes --env")
    env = pairs.variables(arguments.env)
    return CommandTarget(None, tuple(command), env=env, cwd=arguments.cwd)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, posix=os.name != "nt")
    except ValueError as error:
        raise misused(f"{text!r} is no command: {error}") from error
