"""Write the reference of the command line from the parser that reads it.

``python3 scripts/command_line.py`` rewrites ``docs/reference/command-line.md``; a
test fails when the file is not what this script would write. It needs the packages
that this project depends on; ``.envs/sdk2/bin/python`` has them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from mcp_anyera.cli.main import COMMANDS, parser  # noqa: E402

TARGET = ROOT / "docs" / "reference" / "command-line.md"
HEAD = """# The command line

Written by `scripts/command_line.py` from the parser itself. `anyera --help` and
`anyera COMMAND --help` show the same; `anyera --version` names the SDK line in use.
How the commands are used is told in [the anyera command](../how-to/command.md).
"""


def page() -> str:
    """Return the whole page."""
    return "\n".join([HEAD, *(section(name) for name in COMMANDS)])


def section(name: str) -> str:
    """Return the part about one command, and about what stands below it."""
    command = commands(parser())[name]
    blocks = [f"## anyera {name}", str(command.description), *described(command)]
    for below, part in commands(command).items():
        blocks += [f"### anyera {name} {below}", *described(part)]
    blocks.append(f"```\n{str(command.epilog).strip()}\n```")
    return "\n\n".join(blocks) + "\n"


def described(command: argparse.ArgumentParser) -> Iterator[str]:
    """Yield how a command is written, and its options."""
    usage = " ".join(command.format_usage().removeprefix("usage: ").split())
    yield f"```\n{usage}\n```"
    for group in command._action_groups:  # noqa: SLF001 - nothing public has them
        rows = list(options(group))
        if rows:
            title = "" if group.title in PLAIN else f"**{group.title}**\n\n"
            yield f"{title}| | |\n|---|---|\n" + "\n".join(rows)


UNSAID = (argparse._HelpAction, argparse._SubParsersAction)  # noqa: SLF001
"""What has no row: each page has help, and commands have parts of their own."""
PLAIN = {"options", "positional arguments", "optional arguments"}


def commands(above: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command below another."""
    for action in above._actions:  # noqa: SLF001 - nothing public has them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return dict(action.choices)
    return {}


def options(group: argparse._ArgumentGroup) -> Iterator[str]:
    """Return a row for each option of a group."""
    for action in group._group_actions:  # noqa: SLF001 - nothing public has them
        if not isinstance(action, UNSAID):
            yield f"| `{written(action)}` | {cell(action.help or '')} |"


def written(action: argparse.Action) -> str:
    """Return an option as it is typed."""
    choices = action.choices
    value = action.metavar or ("|".join(map(str, choices)) if choices else "")
    if not action.option_strings:
        return cell(str(value or action.dest))
    return cell(" ".join([", ".join(action.option_strings), str(value)]).strip())


def cell(text: str) -> str:
    """Return a text that a cell of a table can hold."""
    return " ".join(text.replace("%%", "%").split()).replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
