"""What ``anyera matrix`` does."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mcp_anyera.matrix import result as results
from mcp_anyera.matrix.gaps import Gaps
from mcp_anyera.matrix.ordering import ordered, tried
from mcp_anyera.matrix.peers import Peer, Peers, folders
from mcp_anyera.matrix.result import Result
from mcp_anyera.matrix.running import paired, run
from mcp_anyera.matrix.scenarios import Scenarios
from mcp_anyera.matrix.views import terminal

INTERRUPTED: Final = 130
OUTPUTS: Final = ("json", "into", "html", "markdown")
"""Options that name a file to write."""


def run_command(arguments: Any) -> int:
    """Run a matrix, show it and write it down."""
    try:
        order = ordered(arguments)
        earlier = results.load(Path(arguments.into)) if arguments.into else None
        writable(arguments)
        order = tried(order)
        pairs = paired(order)
    except (OSError, ValueError) as error:
        print(f"anyera matrix: {error}", file=sys.stderr)
        return 2
    result = Result(order.scenarios, pairs, order.gaps)
    interrupted = False
    with terminal.Progress(pairs, order.gaps) as progress:
        try:
            asyncio.run(run(pairs, result, order.jobs, progress.cell))
        except KeyboardInterrupt:
            interrupted = True
    data = result.data()
    ran = [pair.name for pair in result.done]
    if earlier is not None:
        data = results.joined(earlier, data, order.gaps)
    written(data, arguments)
    data = results.only(data, ran)
    terminal.show(data)
    return INTERRUPTED if interrupted else results.status(data)


def writable(arguments: Any) -> None:
    """Refuse a file that cannot be written, before the run that fills it.

    Raises:
        ValueError: One cannot.
    """
    named = (getattr(arguments, key, None) for key in OUTPUTS)
    for path in map(Path, filter(None, named)):
        place = path if path.exists() else path.parent
        if path.is_dir() or not os.access(place, os.W_OK):
            raise ValueError(f"{path} cannot be written")


def written(data: results.Json, arguments: Any) -> None:
    """Write the files that the command line asks for."""
    into = getattr(arguments, "into", None)
    for path in filter(None, (arguments.json, into)):
        results.save(data, Path(path))
    if arguments.html:
        from mcp_anyera.matrix.views import page  # noqa: PLC0415 - seldom

        Path(arguments.html).write_text(page.rendered(data), "utf-8")
    if getattr(arguments, "markdown", None):
        from mcp_anyera.matrix.views import markdown  # noqa: PLC0415 - seldom

        Path(arguments.markdown).write_text(markdown.rendered(data), "utf-8")


def page_command(arguments: Any) -> int:
    """Make views of a result that is there."""
    try:
        data = results.load(Path(arguments.result))
        if arguments.gaps:
            Gaps.load(Path(arguments.gaps)).judge(data)
        writable(arguments)
    except (OSError, ValueError) as error:
        print(f"anyera matrix: {error}", file=sys.stderr)
        return 2
    written(data, arguments)
    if not (arguments.html or arguments.markdown or arguments.json):
        terminal.show(data)
    return 0


def list_command(_arguments: Any) -> int:
    """List what there is."""
    try:
        peers = Peers.load(folders())
    except ValueError as error:
        print(f"anyera matrix: {error}", file=sys.stderr)
        return 2
    _listed("clients", peers.clients)
    _listed("servers", peers.servers)
    print("scenarios:")
    for each in Scenarios.load().values():
        print(f"  {each.id:<18} {each.sentence}")
    return 0


def _listed(title: str, known: Mapping[str, Peer]) -> None:
    nowhere = "" if known else " none; they are in a clone of the repository"
    print(f"{title}:{nowhere}")
    for peer in known.values():
        print(f"  {peer.name:<22} {peer.group:<12} {peer.title}")
