"""``anyera call``: call a tool, and answer what it asks."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from mcp_anyera.cli import options, values
from mcp_anyera.cli.trouble import Trouble, need_extra

if TYPE_CHECKING:
    from mcp_anyera.client import Client

SUMMARY: Final = "Call a tool, and answer its questions in the terminal."
COMMAND_BEHIND_MARK: Final = True
USAGE: Final = "anyera call [options] (URL TOOL | TOOL -- COMMAND ...)"
EXAMPLES: Final = """\
examples:
  anyera call https://example.com/mcp add --arg a=1 --arg b=2
  anyera call issue_card --arg book=Dune -- python server.py
  anyera call 'python server.py' search --json '{"query": "sea", "limit": 5}'
  anyera call --output json https://example.com/mcp report | jq .structuredContent
  anyera call --answers answers.json https://example.com/mcp issue_card
  anyera call -- python server.py          lists the tools

Text goes to stdout; questions, progress, logs and errors go to stderr.

exit status: 0 it worked, 1 it failed or the tool says so, 2 wrong command line,
130 interrupted.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--arg",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="one argument; read as JSON where the tool wants no text; may be repeated",
    )
    parser.add_argument(
        "--json",
        metavar="OBJECT",
        help="all arguments as JSON; @FILE reads a file and - reads stdin",
    )
    options.add_arguments(parser, "TOOL")


def run(arguments: argparse.Namespace) -> int:
    """Call the tool and print what it gives."""
    server, name = options.server_and_name(arguments)
    typed = values.pairs(arguments.arg)
    given = {} if arguments.json is None else values.json_object(arguments.json)
    need_extra()
    from mcp_anyera.cli import listing, output  # noqa: PLC0415 - needs the extra
    from mcp_anyera.cli.calling import Caller  # noqa: PLC0415 - the same

    caller = Caller(server, arguments)
    if name is None:
        for tool in caller.run("tools", listing.tools):
            print(listing.described(tool))  # noqa: T201 - its purpose
        return 0
    made = Made(name, typed, given, caller.display.progress)
    result = caller.run(name, made.on)
    if arguments.output == "json":
        output.print_json(result)
    elif not result.get("isError"):
        output.print_content(result)
    if result.get("isError"):
        said = output.error_text(result)
        raise Trouble(f"{name} says that it failed: {said}{made.hint()}")
    return 0


class Made:
    """One call, as it was typed."""

    def __init__(
        self,
        name: str,
        typed: list[tuple[str, str]],
        given: dict[str, Any],
        moved: Callable[[float, float | None, str | None], None],
    ) -> None:
        """Keep what was typed, and what moves the bar."""
        self._name = name
        self._typed = typed
        self._given = given
        self._moved = moved
        self._known: list[str] = []

    async def on(self, client: Client) -> dict[str, Any]:
        """Make the call on a connection; return its result.

        Raises:
            Trouble: It failed, and the server lists no such tool.
        """
        from mcp_anyera._sdk import SDKError, dump  # noqa: PLC0415 - needs the SDK
        from mcp_anyera.cli import listing  # noqa: PLC0415 - the same

        tools = {tool["name"]: tool for tool in await listing.tools(client)}
        self._known = list(tools)
        schema = tools.get(self._name, {}).get("inputSchema")
        arguments = {**self._given, **values.arguments(self._typed, schema)}
        try:
            result = await client.call_tool(
                self._name, arguments, progress_callback=self._report
            )
        except SDKError as error:
            if not self.hint():
                raise
            raise Trouble(f"{error}{self.hint()}") from error
        return dump(result)

    def hint(self) -> str:
        """Return what may have been meant, when the server lists no such tool."""
        from mcp_anyera.cli import listing  # noqa: PLC0415 - needs the SDK

        return listing.hint(self._name, self._known)

    async def _report(
        self, progress: float, total: float | None, message: str | None
    ) -> None:
        self._moved(progress, total, message)
