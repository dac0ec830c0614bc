"""``anyera matrix``: which client stack works with which server."""

from __future__ import annotations

import argparse
from typing import Any, Final

from mcp_anyera.cli.kinds import count, seconds

SUMMARY: Final = "Find out which client stack works with which server, and why not."
EXAMPLES: Final = """\
examples:
  anyera matrix run --server https://example.com/mcp
  anyera matrix run --server "python my_server.py" --html matrix.html
  anyera matrix run --client "python my_client.py" --only form,url
  anyera matrix page matrix.json --html matrix.html

exit status: 0 all required cells pass, 1 a required cell failed, 2 the run could not
be completed, 130 it was interrupted.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    commands = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)
    run_options(commands.add_parser("run", help="run scenarios, print a table"))
    page = commands.add_parser("page", help="make views of a result file")
    page.add_argument("result", metavar="RESULT.json", help="what --json has written")
    page.add_argument("--html", metavar="FILE", help="one self-contained page")
    page.add_argument("--markdown", metavar="FILE", help="a page for the documentation")
    page.add_argument("--gaps", metavar="FILE", help="judge again with these gaps")
    page.add_argument("--json", metavar="FILE", help="write the result again")
    page.set_defaults(matrix="page")
    listed = commands.add_parser("list", help="list client stacks, servers, scenarios")
    listed.set_defaults(matrix="list")


def run_options(parser: argparse.ArgumentParser) -> None:
    """Describe the options of ``anyera matrix run``."""
    parser.set_defaults(matrix="run")
    add = parser.add_mutually_exclusive_group().add_argument
    add("--server", metavar="TARGET", help="your server: a URL, or a command")
    add("--servers", metavar="NAMES", help="servers of the repository, with commas")
    add = parser.add_mutually_exclusive_group().add_argument
    add("--client", metavar="COMMAND", help="your client; see compat-matrix/README.md")
    add("--clients", metavar="NAMES", help="client stacks or their groups, with commas")
    add = parser.add_argument
    add("--only", metavar="IDS", help="scenarios, with commas")
    add("--transport", choices=("stdio", "http"), help="one of the two only")
    add("--quick", action="store_true", help="the reduced matrix")
    add("--jobs", type=count, metavar="N", help="pairs at a time (default: 2)")
    add("--timeout", type=seconds, metavar="S", help="of one scenario (default: 10)")
    add("--json", metavar="FILE", help="write the result")
    add("--into", metavar="FILE", help="replace these pairs in an earlier result")
    add("--html", metavar="FILE", help="write one self-contained page")
    add("--gaps", metavar="FILE", help="known gaps, in place of the project's")


def run(arguments: Any) -> int:
    """Run, render or list."""
    from mcp_anyera.matrix import commands  # noqa: PLC0415 - heavy

    return getattr(commands, f"{arguments.matrix}_command")(arguments)
