"""A channel for plain JSON-RPC messages, whatever carries them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Protocol

from mcp_anyera.engine import Exchange, ExchangeFault, ToServer
from mcp_anyera.engine.config import PROBE_TIMEOUT

if TYPE_CHECKING:
    # A bridge starts without it.
    from mcp_anyera.memory import EraMemory, Identity, Recollection


class WireClosed(Exception):  # noqa: N818 - an event, not a mistake
    """Nothing more will come; the text says why."""


class Malformed:
    """Something arrived that is no JSON-RPC message."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        """Keep what the reader said about it."""
        self.error: Exception = error


@dataclass(frozen=True, slots=True)
class Received:
    """A message that came on the response to one request."""

    message: object
    leg: int | str


@dataclass(frozen=True, slots=True)
class Failed:
    """The exchange of one request is over, and gave no reply that can be used."""

    leg: int | str
    fault: ExchangeFault


@dataclass(frozen=True, slots=True)
class Held:
    """Whether a request waits for something other than the server, such as a login."""

    leg: int | str
    held: bool


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why the server may be unable to ask anything, or that it is able."""

    clause: str | None


@dataclass(frozen=True, slots=True)
class Traits:
    """What a wire can do, and how the engine has to deal with it."""

    exchange: Exchange = Exchange.STREAM
    restartable: bool = False
    """Whether `Wire.restart` can give a fresh server."""
    sse_fallback: bool = False
    """Whether `Wire.fall_back` leads somewhere."""
    legacy_only: bool = False
    """Whether nothing but legacy can come through, so that no probe is sent."""
    probe_timeout: float = PROBE_TIMEOUT
    """Patience with the probe where the user has said nothing, in seconds."""


class Wire(Protocol):
    """One connection to one server."""

    traits: Traits

    @property
    def identity(self) -> Identity | None:
        """What a memory knows the server by; ``None`` for one without a place."""
        ...

    async def __aenter__(self) -> object:
        """Start the server, or take hold of it.

        Raises:
            OSError: It cannot be started.
        """
        ...

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        """End the server politely, in bounded time.

        A transport of the SDK has a task group around it, so nothing that opens
        a scope may be between the two.
        """
        ...

    def post(self, sent: ToServer) -> bool:
        """Send one message at once; ``False`` when it needs `send`.

        Nothing may be ahead of it on a byte stream.

        Raises:
            TypeError, ValueError, RecursionError: It cannot be written as JSON.
        """
        ...

    async def send(self, messages: Sequence[ToServer]) -> None:
        """Write messages in order; a server that is gone is no error here."""
        ...

    async def receive(self) -> object:
        """Return the next message, or one of the classes above.

        Raises:
            WireClosed: The server is gone.
        """
        ...

    async def restart(self) -> None:
        """End the server and start it again; never two at once.

        Raises:
            OSError: It cannot be started.
        """
        ...

    async def watch(self) -> None:
        """Look after what `receive` does not see, while the server runs."""
        ...


class HttpWire(Wire, Protocol):
    """A wire on which every request has an exchange of its own.

    Nothing on it has to wait for something else, so what arrives has a short way past
    the loop that a byte stream needs.
    """

    def attach(self, take: Callable[[object], None]) -> None:
        """Hand what arrives over at once, instead of through `receive`."""
        ...

    def abort(self, leg: int | str) -> None:
        """Close the exchange of one request; nothing comes of it any more."""
        ...

    async def fall_back(self) -> None:
        """Change to the HTTP+SSE transport of 2024-11-05.

        Raises:
            OSError: There is none here.
        """
        ...


def recollection(wire: Wire, memory: EraMemory | None) -> Recollection | None:
    """Return what a memory knows of the server behind a wire, if it can know it."""
    identity = None if memory is None else wire.identity
    return None if memory is None or identity is None else memory.recall(identity)


def engine_options(
    wire: Wire,
    mode: str,
    patience: float | None,
    known: Recollection | None = None,
) -> dict[str, Any]:
    """Return what the engine's configuration takes from a wire.

    Args:
        wire: The wire to come.
        mode: The mode that the user has asked for.
        patience: The user's patience with the probe; ``None`` takes the wire's.
        known: What is known of the server.
    """
    traits = wire.traits
    return {
        **({} if known is None else known.options()),
        "mode": "legacy" if mode == "auto" and traits.legacy_only else mode,
        "exchange": traits.exchange,
        "restartable": traits.restartable,
        "sse_fallback": traits.sse_fallback,
        "probe_timeout": traits.probe_timeout if patience is None else patience,
    }


# ASCII only, so that no reader takes U+2028 or U+0085 for the end of a line.
to_json: Final[Callable[[Any], str]] = json.JSONEncoder(
    separators=(",", ":"), allow_nan=False
).encode


def from_json(text: bytes | str) -> object:
    """Return what a peer has written, or `Malformed`."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        return Malformed(error)
