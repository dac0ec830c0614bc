"""Puts a server on the stage: started, met through something that writes down."""

from __future__ import annotations

import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from mcp_anyera.matrix import processes, proxy
from mcp_anyera.matrix.environments import Environment
from mcp_anyera.matrix.peers import Peer

PROGRAMS: Final = Path(__file__).with_name("programs")


@dataclass
class Server:
    """A server that can be put on the stage."""

    peer: Peer
    environment: Environment | None = None
    """``None`` for one that somebody else runs, and until it is made."""

    def command(self, how: str) -> list[str]:
        """Return the command that starts it.

        Args:
            how: ``"start"`` for stdio, ``"http"`` for a free port.
        """
        program, *arguments = self.peer.data[how]
        if self.environment is None:
            return [program, *arguments]
        source = self.peer.home / program
        if self.peer.data.get("language") == "node":
            # Node looks for packages beside the program.
            source = Path(shutil.copy(source, self.environment.home))
        return [*self.environment.command, str(source.resolve()), *arguments]


@dataclass
class Stage:
    """Where a client stack meets a server."""

    target: dict[str, Any]
    """A URL, or a command and its environment."""
    folder: Path
    log: Path | None = None
    control: str | None = None
    variables: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def wire(self) -> Path:
        """Where everything on the wire is written."""
        return self.folder / "wire.jsonl"


@asynccontextmanager
async def staged(server: Server, transport: str, folder: Path) -> AsyncGenerator[Stage]:
    """Make a server ready to be met.

    Raises:
        NotStartedError: It does not start.
    """
    log = folder / "server.log" if server.environment is not None else None
    variables = {} if log is None else {"PEER_LOG": str(log)}
    if transport == "stdio":
        command = tapped(folder / "wire.jsonl", server.command("start"))
        target = {"command": command, "env": variables}
        yield Stage(target, folder, log)
        return
    async with AsyncExitStack() as stack:
        stage = Stage({}, folder, log, variables=variables)
        await _over_http(server, stage, stack)
        yield stage


def tapped(file: Path, command: list[str]) -> list[str]:
    """Return a command that writes down what passes to and from another."""
    # Isolated and without site-packages, it starts in a few milliseconds.
    tap = [sys.executable, "-I", "-S", str(PROGRAMS / "tap.py")]
    return [*tap, str(file), *command]


async def _over_http(server: Server, stage: Stage, stack: AsyncExitStack) -> None:
    errors = stage.folder / "server.err"
    running = await stack.enter_async_context(AsyncExitStack())

    async def start() -> str:
        if "url" in server.peer.data:
            return str(server.peer.data["url"])
        command = server.command("http")
        made = processes.listening(command, stage.variables, errors)
        return await running.enter_async_context(made)

    url = await start()
    front, origin = await stack.enter_async_context(proxy.listening(url, stage.wire))

    async def obey(order: str) -> str:
        if order == "lose":
            return await front.lose_session()
        if order != "restart" or server.environment is None:
            return "none"
        await running.aclose()
        front.note("the server is started again")
        front.upstream = await start()
        return "restarted"

    front.order = obey
    own = urlsplit(url)
    stage.target = {"url": f"{origin}{urlunsplit(('', '', own.path, own.query, ''))}"}
    stage.control = f"{origin}{proxy.ORDERS.rstrip('/')}"
