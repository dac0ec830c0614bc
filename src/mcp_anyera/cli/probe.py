"""``anyera probe``: what a server is, and what is odd about it."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Final

from mcp_anyera.cli import remembering, target
from mcp_anyera.cli.trouble import extra

SUMMARY: Final = "Say what a server is: its era, its features, and what is odd."
COMMAND_BEHIND_MARK: Final = True
USAGE: Final = "anyera probe [options] (URL | -- COMMAND ...)"
EXAMPLES: Final = """\
examples:
  anyera probe https://example.com/mcp
  anyera probe -- python server.py
  anyera probe --header 'Authorization: Bearer ${TOKEN}' https://example.com/mcp
  anyera probe --json -- npx -y some-server | jq .era

exit status: 0 the server can be reached, 1 it cannot, 2 wrong command line.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("words", nargs="*", metavar="URL", help="the server")
    parser.add_argument(
        "--json", action="store_true", help="print the report as JSON, for programs"
    )
    target.add_arguments(parser)
    parser.add_argument(
        "--forget",
        action="store_true",
        help="drop what is remembered of the server; without --memory-file, in the "
        "file of --memory",
    )


def run(arguments: argparse.Namespace) -> int:
    """Look at the server and print what was found."""
    server = target.only(arguments)
    arguments.memory = arguments.memory or arguments.forget
    shown = None if arguments.json else extra("rich.console")
    found = _examined(server, arguments)
    if shown is None:
        _print_json(found)
    else:
        from mcp_anyera.cli.page import print_report  # noqa: PLC0415 - needs rich

        print_report(found, shown.Console(soft_wrap=False))
    return 0 if found["reachable"] else 1


def _examined(
    server: target.CommandTarget, arguments: argparse.Namespace
) -> dict[str, Any]:
    # Everything below needs the SDK, and half a second.
    from mcp_anyera.cli.examining import examine  # noqa: PLC0415
    from mcp_anyera.cli.report import report  # noqa: PLC0415
    from mcp_anyera.cli.running import run_async  # noqa: PLC0415

    memory = remembering.memory_aloud(arguments)
    found = run_async(
        lambda: examine(
            server,
            mode=arguments.mode,
            probe_timeout=arguments.probe_timeout,
            connect_timeout=arguments.connect_timeout,
            stderr=sys.stderr if arguments.stderr else None,
            memory=memory,
            forget=arguments.forget,
        )
    )
    return report(found)


def _print_json(found: dict[str, Any]) -> None:
    import json  # noqa: PLC0415

    print(json.dumps(found, indent=2, ensure_ascii=False))  # noqa: T201 - its purpose
