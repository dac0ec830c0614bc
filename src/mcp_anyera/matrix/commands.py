"""What ``anyera matrix`` does."""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path
from typing import Any, Final

from mcp_anyera.eras import LEGACY_REVISIONS, MODERN_REVISIONS
from mcp_anyera.matrix import result as results
from mcp_anyera.matrix.gaps import Gaps
from mcp_anyera.matrix.peers import Peer, Peers, clone, folders, picked
from mcp_anyera.matrix.result import Result
from mcp_anyera.matrix.running import JOBS, LIMIT, Order, paired, run
from mcp_anyera.matrix.scenarios import Scenarios
from mcp_anyera.matrix.views import terminal

GROUPS: Final = ("sdk", "anyera", "bridge")
"""The client stacks that run when none are named."""
INTERRUPTED: Final = 130


def run_command(arguments: Any) -> int:
    """Run a matrix, show it and write it down."""
    try:
        order = ordered(arguments)
        earlier = results.load(Path(arguments.into)) if arguments.into else None
    except (OSError, ValueError) as error:
        print(f"anyera matrix: {error}", file=sys.stderr)
        return 2
    pairs = paired(order)
    result = Result(order.scenarios, pairs, order.gaps)
    interrupted = False
    with terminal.Progress(pairs) as progress:
        try:
            asyncio.run(run(pairs, result, order.jobs, progress.cell))
        except KeyboardInterrupt:
            interrupted = True
    data = result.data()
    if earlier is not None:
        data = results.joined(earlier, data, order.gaps)
    written(data, arguments)
    terminal.show(data)
    return INTERRUPTED if interrupted else results.status(data)


def ordered(arguments: Any) -> Order:
    """Turn the command line into what is to be run.

    Raises:
        ValueError: It names something that is not there.
    """
    peers = Peers.load(folders())
    only = None if arguments.only is None else _names(arguments.only)
    transports = ["stdio", "http"]
    transport = [arguments.transport] if arguments.transport else transports
    return Order(
        clients=_clients(arguments, peers),
        servers=_servers(arguments, peers),
        scenarios=Scenarios.load().chosen(only),
        gaps=Gaps.load(_gaps(arguments)),
        jobs=max(1, arguments.jobs or JOBS),
        limit=arguments.timeout or LIMIT,
        transports=transport,
    )


def _clients(arguments: Any, peers: Peers) -> list[Peer]:
    if arguments.client:
        command = shlex.split(arguments.client)
        data = {"title": arguments.client, "group": "yours", "required": True}
        data |= {"command": command, "environment": "own"}
        return [Peer("your-client", "client", Path.cwd(), data)]
    named = _names(arguments.clients) if arguments.clients else list(GROUPS)
    found: list[Peer] = []
    for name in named:
        group = peers.in_groups([name])
        found += group or picked(peers.clients, [name])
    if arguments.quick:
        found = [each for each in found if each.data.get("quick")]
    return found


def _servers(arguments: Any, peers: Peers) -> list[Peer]:
    if arguments.server:
        return [your_server(arguments.server)]
    if arguments.servers:
        return picked(peers.servers, _names(arguments.servers))
    found = list(peers.servers.values())
    if not found:
        raise ValueError(
            "the servers are in a clone of the repository only; "
            "with --server TARGET your own is tried"
        )
    found.sort(key=lambda each: each.data.get("order", 100))
    kept = [each for each in found if each.data.get("matrix", True)]
    return (
        [each for each in kept if each.data.get("quick")] if arguments.quick else kept
    )


def your_server(target: str) -> Peer:
    """Describe a server that is no peer of ours: a URL, or a command."""
    data: dict[str, Any] = {"title": target, "environment": "own", "era": "dual"}
    data["revisions"] = (*LEGACY_REVISIONS, *MODERN_REVISIONS)
    data["scenarios"] = {"lists": {"expect": "(?:\\w+ (?:yes|none)(?:, )?){3}"}}
    if "://" in target:
        data |= {"transports": ["http"], "url": target}
    else:
        data |= {"transports": ["stdio"], "start": shlex.split(target)}
    return Peer("your-server", "server", Path.cwd(), data)


def _gaps(arguments: Any) -> Path | None:
    if arguments.gaps:
        return Path(arguments.gaps)
    root = clone()
    return None if root is None else root / "compat-matrix" / "known-gaps.toml"


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


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
    except (OSError, ValueError) as error:
        print(f"anyera matrix: {error}", file=sys.stderr)
        return 2
    written(data, arguments)
    if not (arguments.html or arguments.markdown or arguments.json):
        terminal.show(data)
    return 0


def list_command(_arguments: Any) -> int:
    """List what there is."""
    peers = Peers.load(folders())
    for title, known in (("clients", peers.clients), ("servers", peers.servers)):
        print(f"{title}:")
        for peer in known.values():
            print(f"  {peer.name:<22} {peer.group:<12} {peer.title}")
    print("scenarios:")
    for each in Scenarios.load().values():
        print(f"  {each.id:<18} {each.sentence}")
    return 0
