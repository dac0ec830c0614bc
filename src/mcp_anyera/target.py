"""What a `Client` was pointed at, and the wire that leads there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from mcp_anyera._sdk import (
    SDK1,
    StdioServerParameters,
    in_process,
    is_in_process_server,
)
from mcp_anyera.transports import Adapted
from mcp_anyera.transports.http import HttpOptions, StreamableHttpWire
from mcp_anyera.transports.http.clients import bare_url
from mcp_anyera.transports.seeing import wire_for
from mcp_anyera.transports.stdio import StdioWire
from mcp_anyera.transports.streams import StreamsWire
from mcp_anyera.transports.wire import Wire


@dataclass(frozen=True, slots=True)
class Target:
    """A server, as errors name it and as it is reached."""

    name: str
    """Without credentials: the URL without user and query, or the command."""
    wire: Callable[[], Wire]
    serves_both: bool = False
    """Whether the server can be met in both eras at once."""

    @classmethod
    def of(cls, server: Any, http: HttpOptions, *, raise_exceptions: bool) -> Target:
        """Read the ``server`` argument of `Client`.

        Args:
            server: The argument.
            http: How to talk to it if it is a URL.
            raise_exceptions: For a server object: let its exceptions through.

        Raises:
            TypeError: It is none of the things that a client can be pointed at.
        """
        if isinstance(server, StdioServerParameters):
            return _stdio(server)
        if isinstance(server, str):
            wire = partial(StreamableHttpWire, server, http)
            return cls(bare_url(server), wire, serves_both=True)
        if is_in_process_server(server):
            transport = in_process(server, raise_exceptions=raise_exceptions)
            return cls(
                "the server in this process",
                lambda: StreamsWire(transport, legacy_only=SDK1),
            )
        if isinstance(server, Adapted):
            return cls("the server", lambda: server.wire)
        if isinstance(server, Sequence) and all(
            isinstance(part, str) for part in cast("Sequence[Any]", server)
        ):
            command, *args = cast("Sequence[str]", server)
            return _stdio(StdioServerParameters(command=command, args=args))
        return _transport(server)


def _stdio(parameters: StdioServerParameters) -> Target:
    name = repr(" ".join([parameters.command, *parameters.args]))
    return Target(name, lambda: StdioWire(parameters))


def _transport(server: Any) -> Target:
    pair = _is_pair(server)
    if not pair and not hasattr(server, "__aenter__"):
        msg = (
            "server must be a URL, StdioServerParameters, [command, *args], "
            "a transport, a (read, write) pair or a server object of the SDK; "
            f"got {type(server).__name__}"
        )
        raise TypeError(msg)
    wire = wire_for(server)
    return Target("the server", lambda: wire)


def _is_pair(server: object) -> bool:
    return isinstance(server, Sequence) and len(cast("Sequence[Any]", server)) > 1
