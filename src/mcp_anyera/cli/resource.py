"""``anyera resource``: read a resource, and answer what it asks."""

from __future__ import annotations

import argparse
from typing import Final

from mcp_anyera.cli import options
from mcp_anyera.cli.trouble import need_extra

SUMMARY: Final = "Read a resource, and answer its questions in the terminal."
COMMAND_BEHIND_MARK: Final = True
USAGE: Final = "anyera resource [options] (URL URI | URI -- COMMAND ...)"
EXAMPLES: Final = """\
examples:
  anyera resource https://example.com/mcp note://plain
  anyera resource note://plain -- python server.py
  anyera resource https://example.com/mcp file:///logo.png > logo.png
  anyera resource -- python server.py      lists the resources and templates

exit status: 0 it worked, 1 it failed, 2 wrong command line, 130 interrupted.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    options.add_arguments(parser, "URI")


def run(arguments: argparse.Namespace) -> int:
    """Read the resource and print its contents."""
    server, uri = options.server_and_name(arguments)
    need_extra()
    from mcp_anyera._sdk import dump  # noqa: PLC0415 - needs the SDK
    from mcp_anyera.cli import listing, output  # noqa: PLC0415 - needs the extra
    from mcp_anyera.cli.calling import Caller  # noqa: PLC0415 - the same

    caller = Caller(server, arguments)
    if uri is None:
        for resource in caller.run("resources", listing.resources):
            print(listing.described(resource))  # noqa: T201 - its purpose
        return 0
    result = dump(caller.run(uri, lambda client: client.read_resource(uri)))
    show = output.print_json if arguments.output == "json" else output.print_resource
    show(result)
    return 0
