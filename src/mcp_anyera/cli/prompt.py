"""``anyera prompt``: get a prompt, and answer what it asks."""

from __future__ import annotations

import argparse
from typing import Final

from mcp_anyera.cli import options, values
from mcp_anyera.cli.trouble import need_extra

SUMMARY: Final = "Get a prompt, and answer its questions in the terminal."
COMMAND_BEHIND_MARK: Final = True
USAGE: Final = "anyera prompt [options] (URL PROMPT | PROMPT -- COMMAND ...)"
EXAMPLES: Final = """\
examples:
  anyera prompt https://example.com/mcp greeting --arg name=Ada
  anyera prompt greeting --arg name=Ada -- python server.py
  anyera prompt -- python server.py        lists the prompts

exit status: 0 it worked, 1 it failed, 2 wrong command line, 130 interrupted.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--arg",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="one argument, which is text; may be repeated",
    )
    options.add_arguments(parser, "PROMPT")


def run(arguments: argparse.Namespace) -> int:
    """Get the prompt and print its messages."""
    server, name = options.server_and_name(arguments)
    typed = dict(values.pairs(arguments.arg))
    need_extra()
    from mcp_anyera._sdk import dump  # noqa: PLC0415 - needs the SDK
    from mcp_anyera.cli import listing, output  # noqa: PLC0415 - needs the extra
    from mcp_anyera.cli.calling import Caller  # noqa: PLC0415 - the same

    caller = Caller(server, arguments)
    if name is None:
        for prompt in caller.run("prompts", listing.prompts):
            print(listing.described(prompt))  # noqa: T201 - its purpose
        return 0
    result = dump(caller.run(name, lambda client: client.get_prompt(name, typed)))
    show = output.print_json if arguments.output == "json" else output.print_prompt
    show(result)
    return 0
