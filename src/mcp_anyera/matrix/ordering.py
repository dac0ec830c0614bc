"""What is to be run, as the command line says it."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from mcp_anyera.eras import LEGACY_REVISIONS, MODERN_REVISIONS
from mcp_anyera.matrix import trial
from mcp_anyera.matrix.gaps import KNOWN, YOURS, Gaps
from mcp_anyera.matrix.peers import Peer, Peers, folders, picked
from mcp_anyera.matrix.processes import NotStartedError
from mcp_anyera.matrix.running import JOBS, LIMIT, Order
from mcp_anyera.matrix.scenarios import Scenarios

GROUPS: Final = ("sdk", "anyera", "bridge")
"""The client stacks that run when none are named."""
MODERN_ONLY: Final = "this server offers no era in which the tool could work"
PORTS: Final = {"http": 80, "https": 443}


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
        gaps=Gaps.load(KNOWN if arguments.gaps is None else Path(arguments.gaps)),
        jobs=arguments.jobs or JOBS,
        limit=arguments.timeout or LIMIT,
        transports=transport,
    )


def _clients(arguments: Any, peers: Peers) -> list[Peer]:
    if arguments.client is not None:
        command = _command(arguments.client)
        data = {"title": arguments.client, "group": "yours", "required": True}
        data |= {"command": command, "environment": "own"}
        return [Peer(YOURS[0], "client", Path.cwd(), data)]
    named = list(GROUPS) if arguments.clients is None else _names(arguments.clients)
    found: list[Peer] = []
    for name in named:
        group = peers.in_groups([name])
        found += group or picked(peers.clients, [name])
    if arguments.quick:
        found = [each for each in found if each.data.get("quick")]
    return found


def _servers(arguments: Any, peers: Peers) -> list[Peer]:
    if arguments.server is not None:
        return [your_server(arguments.server)]
    if not peers.servers:
        raise ValueError(
            "the servers are in a clone of the repository only; "
            "with --server TARGET your own is tried"
        )
    if arguments.servers is not None:
        return picked(peers.servers, _names(arguments.servers))
    found = list(peers.servers.values())
    found.sort(key=lambda each: each.data.get("order", 100))
    kept = [each for each in found if each.data.get("matrix", True)]
    return (
        [each for each in kept if each.data.get("quick")] if arguments.quick else kept
    )


def your_server(target: str) -> Peer:
    """Describe a server that is no peer of ours: a URL, or a command.

    Raises:
        ValueError: There is none.
    """
    data: dict[str, Any] = {"title": target, "environment": "own", "era": "dual"}
    data["revisions"] = (*LEGACY_REVISIONS, *MODERN_REVISIONS)
    data["scenarios"] = {
        "lists": {"expect": "(?:\\w+ (?:yes|none)(?:, )?){3}"},
        # A tool may also end the call with it, as those with a resolver of SDK 2.x do.
        "decline": {"expect": "(?i:(?!error |raised ).*declin.*)"},
    }
    if "://" in target:
        _reached(target)
        data |= {"transports": ["http"], "url": target}
    else:
        data |= {"transports": ["stdio"], "start": _command(target)}
    return Peer(YOURS[1], "server", Path.cwd(), data)


def tried(order: Order) -> Order:
    """Meet a server that is no peer once, before any client stack does.

    Raises:
        ValueError: It does not start.
    """
    servers = [
        _tried(each)
        if each.name == YOURS[1] and {*each.transports} & {*order.transports}
        else each
        for each in order.servers
    ]
    return replace(order, servers=servers)


def _tried(server: Peer) -> Peer:
    try:
        refuses = asyncio.run(
            trial.refused_by_url(server.data["url"])
            if "url" in server.data
            else trial.refused_by_command(server.data["start"])
        )
    except NotStartedError as error:
        raise ValueError(f"--server {server.title!r} does not start: {error}") from None
    if not refuses:
        return server
    scenarios = {**server.data["scenarios"]}
    scenarios["no-back-channel"] = {"unsupported": MODERN_ONLY}
    return replace(server, data={**server.data, "scenarios": scenarios})


def _reached(url: str) -> None:
    """Refuse a URL where nobody is, which is nothing that a client can do wrong."""
    parts = urlsplit(url)
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError(f"{url} is no http(s) URL")
    place = (parts.hostname, parts.port or PORTS[parts.scheme])
    try:
        socket.create_connection(place, timeout=10).close()
    except OSError as error:
        raise ValueError(f"{url} cannot be reached: {error}") from None


def _command(text: str) -> list[str]:
    words = shlex.split(text)
    if not words or shutil.which(words[0]) is None:
        raise ValueError(f"there is no program {' '.join(words[:1])!r}")
    return words


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError(f"{text!r} names nothing")
    return names
