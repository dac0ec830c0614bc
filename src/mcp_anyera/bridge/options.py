"""What a bridge is told before it starts, and what follows from it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import random
from typing import TYPE_CHECKING

from mcp_anyera.engine import CallOptions, EngineConfig, Face, Questions
from mcp_anyera.engine.config import CONNECT_TIMEOUT, MAX_ROUNDS
from mcp_anyera.transports.wire import Wire, engine_options

if TYPE_CHECKING:
    # A bridge that remembers nothing starts without it.
    from mcp_anyera.memory import EraMemory, Recollection


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeOptions:
    """One server, and how to deal with it; times are seconds."""

    url: str | None = field(default=None, repr=False)
    """Where the server is, or ``None`` for one that `command` starts."""
    command: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Laid over the variables that the bridge itself was started with."""
    cwd: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    oauth: bool = False
    mode: str = "auto"
    memory: EraMemory | None = None
    """What is known of servers; ``None`` remembers nothing."""
    log_level: str | None = None
    connect_timeout: float | None = CONNECT_TIMEOUT
    probe_timeout: float | None = None
    read_timeout: float | None = None
    total_timeout: float | None = None
    max_rounds: int = MAX_ROUNDS

    @property
    def target(self) -> str:
        """The server as errors name it: a URL without secrets, or the command."""
        if self.url is None:
            return repr(" ".join(self.command))
        from mcp_anyera.transports.http.clients import (  # noqa: PLC0415 - one of two
            bare_url,
        )

        return bare_url(self.url)

    @property
    def call_options(self) -> CallOptions:
        """How long a call may take."""
        return CallOptions(self.read_timeout, self.total_timeout)

    def wire(self, ready: Callable[[], Awaitable[None]] | None = None) -> Wire:
        """Return the way to the server, which is entered to start or reach it.

        Args:
            ready: Over HTTP, is waited for before more of a stream is read.
        """
        return self._process() if self.url is None else self._http(self.url, ready)

    def config(self, wire: Wire, known: Recollection | None = None) -> EngineConfig:
        """Return the rules of one connection.

        Args:
            wire: The way to the server.
            known: What is remembered of it.

        Raises:
            ValueError: The mode or the log level names nothing.
        """
        return EngineConfig(
            **engine_options(wire, self.mode, self.probe_timeout, known),
            target=self.target,
            face=Face.LEGACY,
            questions=Questions.CLIENT,
            log_level=self.log_level,
            connect_timeout=self.connect_timeout,
            max_rounds=self.max_rounds,
            jitter=random,
        )

    def _process(self) -> Wire:
        from mcp_anyera.transports.stdio import StdioWire  # noqa: PLC0415 - one of two

        name, *args = self.command
        # Whoever wrote the configuration of the client gave the variables of the
        # server to the bridge, so the server inherits them all.
        command = _Command(name, args, dict(self.env), self.cwd)
        return StdioWire(command, inherited=os.environ)

    def _http(self, url: str, ready: Callable[[], Awaitable[None]] | None) -> Wire:
        from mcp_anyera.transports.http import (  # noqa: PLC0415 - one of two
            HttpOptions,
            StreamableHttpWire,
        )

        options = HttpOptions(headers=self.headers, ready=ready)
        if self.oauth:
            from mcp_anyera.bridge.oauth import login  # noqa: PLC0415 - needs the SDK

            options = replace(options, auth=login(url))
        else:
            from mcp_anyera.bridge import lean  # noqa: PLC0415 - not for every URL

            if lean.fits(url):
                options = replace(options, channel=lean.LeanChannel)
        return StreamableHttpWire(url, options)


@dataclass
class _Command:
    command: str
    args: list[str]
    env: dict[str, str] | None
    cwd: str | None
