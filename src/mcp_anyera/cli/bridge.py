"""``anyera bridge``: read its options and start it."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from mcp_anyera.bridge.options import BridgeOptions

SUMMARY: Final = (
    "Be a legacy server on stdin and stdout, in front of a server of any era."
)

EXAMPLES: Final = """\
TARGET is a URL, or a command after "--"; one quoted string is a command too.

examples:
  anyera bridge https://example.com/mcp
  anyera bridge https://example.com/mcp --header-env 'Authorization=AUTH'
  anyera bridge https://example.com/mcp --oauth
  anyera bridge -- npx -y some-server --its-own-option
  anyera bridge --http 8123 -- python server.py

In the configuration of a client:
  {"command": "anyera", "args": ["bridge", "https://example.com/mcp"]}

exit status: 0 when the client has left, 1 when the server is gone or could not
be started, 2 when the command line is wrong, 130 or 143 when a signal ended it.
"""

_URLS: Final = ("http://", "https://")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this sub-command takes."""
    parser.add_argument(
        "target", nargs="+", metavar="TARGET", help="a URL, or a command and its words"
    )
    _add_server(parser)
    _add_protocol(parser)
    _add_face(parser)


def _add_server(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a server at a URL")
    add = group.add_argument
    add(
        "--header",
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="send this with every request; ${VAR} in it is taken from the environment",
    )
    add(
        "--header-env",
        action="append",
        default=[],
        metavar="NAME=VAR",
        help="send the variable VAR as the header NAME, so that no list of processes "
        "shows it",
    )
    add("--oauth", action="store_true", help="log in in the browser if asked to")
    group = parser.add_argument_group("a server that is started")
    add = group.add_argument
    add(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a variable for the server, which inherits all others",
    )
    add("--cwd", metavar="FOLDER", help="start the server in this folder")


def _add_protocol(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("protocol")
    add = group.add_argument
    add(
        "--mode",
        default="auto",
        help="auto (the default), legacy, modern, or a revision such as 2026-07-28",
    )
    add(
        "--log-level",
        metavar="LEVEL",
        help="ask the server for its log from this level on, before the client does",
    )
    seconds: dict[str, Any] = {"type": _seconds, "metavar": "SECONDS"}
    add("--connect-timeout", default=90.0, help="for the whole opening; 90", **seconds)
    add(
        "--probe-timeout",
        help="patience with the question for the era; 0.9 for a process, 10 for a URL",
        **seconds,
    )
    add(
        "--read-timeout",
        help="most of a call while no question is open; no limit",
        **seconds,
    )
    add("--total-timeout", help="most of a call, humans included; no limit", **seconds)
    add(
        "--max-rounds",
        type=_positive,
        default=10,
        metavar="N",
        help="how often a server may ask during one call; 10",
    )


def _add_face(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the bridge itself")
    add = group.add_argument
    add(
        "--http",
        type=_port,
        metavar="PORT",
        help="be a Streamable HTTP server on this port of 127.0.0.1; 0 for a free one",
    )
    add(
        "--token-env",
        metavar="VAR",
        help="with --http: want the variable VAR as bearer token",
    )
    add("--token", metavar="TOKEN", help="the same, spelt out")
    add(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="log to stderr what happens; twice for every message's method and id",
    )
    add("--log-file", metavar="FILE", help="log to this file instead of stderr")


def run(arguments: argparse.Namespace) -> int:
    """Serve until either side ends.

    Args:
        arguments: What `add_arguments` describes.

    Returns:
        The exit status; see `EXAMPLES`.
    """
    from mcp_anyera.bridge.logs import configure  # noqa: PLC0415 - the help needs none

    options = options_from(arguments)
    try:
        configure(arguments.verbose, arguments.log_file)
    except OSError as error:
        _wrong(f"--log-file: {error}")
    if arguments.http is None:
        from mcp_anyera.bridge.stdio import serve  # noqa: PLC0415 - one of two

        return serve(options)
    from mcp_anyera.bridge.web import serve_http  # noqa: PLC0415 - one of two

    return serve_http(options, arguments.http, _token(arguments))


def options_from(arguments: argparse.Namespace) -> BridgeOptions:
    """Return what the command line says; ends the process when it is wrong."""
    from mcp_anyera.bridge.options import BridgeOptions  # noqa: PLC0415 - as above
    from mcp_anyera.engine import EngineConfig  # noqa: PLC0415 - as above

    url, command = _target(arguments.target)
    given = {"--header": arguments.header, "--header-env": arguments.header_env}
    only_http: dict[str, Any] = {**given, "--oauth": arguments.oauth}
    only_stdio: dict[str, Any] = {"--env": arguments.env, "--cwd": arguments.cwd}
    _fits(only_http if url is None else only_stdio, "a URL" if url is None else "one")
    try:
        EngineConfig(mode=arguments.mode, log_level=arguments.log_level)
    except ValueError as error:
        _wrong(str(error))
    return BridgeOptions(
        url=url,
        command=command,
        env=dict(_pair(text, "=", "--env") for text in arguments.env),
        cwd=arguments.cwd,
        headers=_headers(arguments),
        oauth=arguments.oauth,
        mode=arguments.mode,
        log_level=arguments.log_level,
        connect_timeout=arguments.connect_timeout,
        probe_timeout=arguments.probe_timeout,
        read_timeout=arguments.read_timeout,
        total_timeout=arguments.total_timeout,
        max_rounds=arguments.max_rounds,
    )


def _target(words: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    first, *more = words
    if first.lower().startswith(_URLS):
        if more:
            _wrong(f"nothing may follow the URL, and {more[0]!r} does")
        return first, ()
    command = words if more else shlex.split(first, posix=os.name != "nt")
    if not command:
        _wrong("TARGET is empty; give a URL, or a command after --")
    return None, command


def _fits(given: dict[str, Any], kind: str) -> None:
    for name, value in given.items():
        if value:
            needs = kind if kind == "a URL" else "a command as TARGET, not a URL"
            _wrong(f"{name} needs {needs}")


def _headers(arguments: argparse.Namespace) -> dict[str, str]:
    headers: dict[str, str] = {}
    for text in arguments.header:
        name, value = _pair(text, ":", "--header")
        headers[name] = os.path.expandvars(value)
    for text in arguments.header_env:
        name, variable = _pair(text, "=", "--header-env")
        headers[name] = _variable(variable, "--header-env")
    return headers


def _token(arguments: argparse.Namespace) -> str | None:
    if arguments.token_env is not None:
        return _variable(arguments.token_env, "--token-env")
    return arguments.token


def _variable(name: str, option: str) -> str:
    if name not in os.environ:
        _wrong(f"{option}: the variable {name} is not set")
    return os.environ[name]


def _pair(text: str, mark: str, option: str) -> tuple[str, str]:
    name, found, value = text.partition(mark)
    if not found or not name.strip():
        # The value may be a secret, so it is not repeated.
        _wrong(f"{option} takes NAME{mark}VALUE")
    return name.strip(), value.strip() if mark == ":" else value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(text)
    return value


_seconds.__name__ = "number of seconds"


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


_positive.__name__ = "number"


def _port(text: str) -> int:
    value = int(text)
    if not 0 <= value < 2**16:
        raise ValueError(text)
    return value


_port.__name__ = "port"


def _wrong(problem: str) -> NoReturn:
    print(f"anyera bridge: {problem}", file=sys.stderr)  # noqa: T201 - the usual place
    raise SystemExit(2)
