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

from mcp_anyera.cli.trouble import misused
from mcp_anyera.eras import era_of

_MODES: Final = frozenset({"auto", "legacy", "modern"})
_URL: Final = re.compile(r"https?://", re.IGNORECASE).match
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+").fullmatch


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what every command with a TARGET takes."""
    group = parser.add_argument_group("the server")
    group.add_argument(
        "--header",
        metavar="'NAME: VALUE'",
        action="append",
        default=[],
        help="for a URL: send this with every request; ${VAR} is replaced by the "
        "variable of the environment, which keeps secrets out of process lists",
    )
    group.add_argument(
        "--env",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="for a command: set this in its environment",
    )
    group.add_argument("--cwd", metavar="DIR", help="for a command: run it there")
    group.add_argument(
        "--mode",
        type=mode,
        metavar="MODE",
        default="auto",
        help="auto (the default), legacy, modern, or a revision such as 2025-11-25",
    )
    group.add_argument(
        "--probe-timeout",
        type=seconds,
        metavar="SECONDS",
        help="patience with server/discover (0.9 for a command, 10 for a URL)",
    )
    group.add_argument(
        "--connect-timeout",
        type=seconds,
        metavar="SECONDS",
        default=90.0,
        help="limit for the whole opening (90)",
    )
    group.add_argument(
        "--stderr",
        action="store_true",
        help="for a command: show what it writes to stderr",
    )


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
    if not value > 0:
        raise ValueError
    return value


def count(text: str) -> int:
    """Return a number of things of the command line.

    Raises:
        ValueError: It is no whole number above zero.
    """
    value = int(text)
    if value < 1:
        raise ValueError
    return value


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
        raise misused(f"give {words[0]!r} or a command behind --, not both")
    if command is None:
        if not words:
            raise misused("name a URL, or a command behind --")
        if _URL(words[0]):
            return _url(arguments, words[0])
        command = _words(words[0])
    if not command:
        raise misused("no command follows --")
    if arguments.header:
        raise misused("--header is for URLs; a command takes --env")
    env = dict(_pair(text) for text in arguments.env)
    return CommandTarget(None, tuple(command), env=env, cwd=arguments.cwd)


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
    return CommandTarget(url, headers=dict(_header(text) for text in arguments.header))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise misused(f"{text!r} is no command: {error}") from error


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not _NAME(name.strip()):
        raise misused("--header takes 'NAME: VALUE'")
    return name.strip(), _VARIABLE.sub(_from_environment, value.strip())


def _from_environment(found: re.Match[str]) -> str:
    value = os.environ.get(found[1])
    if value is None:
        raise misused(f"--header names ${{{found[1]}}}, which is not set")
    return value


def _pair(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not mark or not name:
        raise misused(f"--env takes NAME=VALUE; got {name!r}")
    return name, value
