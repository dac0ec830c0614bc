"""``anyera bridge``: read its options and start it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from mcp_anyera.cli import kinds, pairs, remembering, target
from mcp_anyera.cli.trouble import misused
from mcp_anyera.engine.config import LOG_LEVELS

if TYPE_CHECKING:
    from mcp_anyera.bridge.options import BridgeOptions

SUMMARY: Final = (
    "Be a legacy server on stdin and stdout, in front of a server of any era."
)
COMMAND_BEHIND_MARK: Final = True
USAGE: Final = "anyera bridge [options] (URL | -- COMMAND ...)"
EXAMPLES: Final = """\
examples:
  anyera bridge https://example.com/mcp
  anyera bridge https://example.com/mcp --header-env 'Authorization=AUTH'
  anyera bridge https://example.com/mcp --oauth --memory
  anyera bridge -- npx -y some-server --its-own-option
  anyera bridge --http 8123 -- python server.py

In the configuration of a client:
  {"command": "anyera", "args": ["bridge", "https://example.com/mcp"]}

exit status: 0 when the client has left, 1 when the server is gone or could not
be started, 2 when the command line is wrong; when a signal ended it 130 (INT),
143 (TERM) or 129 (HUP).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this sub-command takes."""
    parser.add_argument("words", nargs="*", metavar="URL", help="the server")
    _add_face(parser)
    _add_calls(parser)
    target.add_arguments(parser, bridged=True)


def _add_face(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the bridge itself")
    add = group.add_argument
    add(
        "--http",
        type=kinds.port,
        metavar="PORT",
        help="be a Streamable HTTP server on this port of 127.0.0.1; 0 for a free one",
    )
    add(
        "--token-env",
        metavar="VAR",
        help="with --http: want the variable VAR as bearer token",
    )
    add("--token", metavar="TOKEN", help="the same, spelt out")
    add("--oauth", action="store_true", help="for a URL: log in in the browser")
    add(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="log to stderr what happens; twice for every message's method and id",
    )
    add("--log-file", metavar="FILE", help="log to this file instead of stderr")


def _add_calls(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("calls")
    add = group.add_argument
    add(
        "--log-level",
        choices=LOG_LEVELS,
        metavar="LEVEL",
        help="ask the server for its log from this level on, before the client does: "
        + ", ".join(LOG_LEVELS),
    )
    seconds: dict[str, Any] = {"type": kinds.seconds, "metavar": "SECONDS"}
    add(
        "--read-timeout",
        help="most of a call while no question is open; no limit",
        **seconds,
    )
    add("--total-timeout", help="most of a call, humans included; no limit", **seconds)
    add(
        "--max-rounds",
        type=kinds.count,
        default=10,
        metavar="N",
        help="how often a server may ask during one call (10)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until either side ends.

    Args:
        arguments: What `add_arguments` describes.

    Returns:
        The exit status; see `EXAMPLES`.
    """
    from mcp_anyera.bridge.logs import configure  # noqa: PLC0415 - the help needs none

    options = options_from(arguments)
    token = _token(arguments)
    try:
        configure(arguments.verbose, arguments.log_file)
    except OSError as error:
        raise misused(f"--log-file: {error}") from error
    if arguments.http is None:
        from mcp_anyera.bridge.stdio import serve  # noqa: PLC0415 - one of two

        return serve(options)
    from mcp_anyera.bridge.web import serve_http  # noqa: PLC0415 - one of two

    return serve_http(options, arguments.http, token)


def options_from(arguments: argparse.Namespace) -> BridgeOptions:
    """Return what the command line says.

    Raises:
        Trouble: It makes no sense.
    """
    from mcp_anyera.bridge.options import BridgeOptions  # noqa: PLC0415 - as above

    server = target.only(arguments)
    if arguments.oauth and server.url is None:
        raise misused("--oauth is for a URL")
    return BridgeOptions(
        url=server.url,
        command=server.command,
        env=server.env,
        cwd=server.cwd,
        headers=server.headers,
        oauth=arguments.oauth,
        mode=arguments.mode,
        memory=remembering.memory(arguments),
        log_level=arguments.log_level,
        connect_timeout=arguments.connect_timeout,
        probe_timeout=arguments.probe_timeout,
        read_timeout=arguments.read_timeout,
        total_timeout=arguments.total_timeout,
        max_rounds=arguments.max_rounds,
    )


def _token(arguments: argparse.Namespace) -> str | None:
    if arguments.token_env is None and arguments.token is None:
        return None
    if arguments.http is None:
        raise misused("--token and --token-env belong to --http")
    if arguments.token_env is not None:
        token = pairs.variable(arguments.token_env, "--token-env")
    else:
        token = arguments.token
    if not token.strip():
        # Anybody could show an empty one.
        raise misused("the token is empty")
    return token.strip()
