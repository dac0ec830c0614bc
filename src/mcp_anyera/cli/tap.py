"""A wire that is listened in on: what went over it, and when.

The engine's events say what was concluded, and never what was said. Whoever has
to find out why a server is not understood needs the words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, cast

import anyio

from mcp_anyera.engine import ExchangeFault, ToServer
from mcp_anyera.engine.jsonrpc import is_object, params_of
from mcp_anyera.memory import Identity
from mcp_anyera.transports.wire import (
    Failed,
    HttpWire,
    Malformed,
    Received,
    Suspicion,
    Traits,
    Wire,
)


@dataclass(slots=True)
class Exchanged:
    """One request to the server, and what came of it."""

    id: int | str
    method: str
    params: dict[str, Any] = field(repr=False)
    sent: float
    reply: dict[str, Any] | None = None
    fault: ExchangeFault | None = None
    seconds: float | None = None
    """Until the reply or the fault; ``None`` where neither has come."""


@dataclass(slots=True)
class Heard:
    """Everything that went over one wire."""

    exchanges: list[Exchanged] = field(default_factory=list[Exchanged])
    told: list[tuple[float, dict[str, Any]]] = field(
        default_factory=list[tuple[float, dict[str, Any]]]
    )
    """Requests and notifications of the server, with their time."""
    noise: str | None = None
    """The first thing that arrived and is no message."""
    noises: int = 0
    """How many there were; a server may never stop."""
    suspicion: str | None = None

    def sent(self, message: dict[str, Any], now: float) -> None:
        """Note a message to the server."""
        if "method" in message and "id" in message:
            params = params_of(message)
            self.exchanges.append(
                Exchanged(message["id"], message["method"], params, now)
            )

    def came(self, item: object, now: float) -> None:
        """Note something that has arrived."""
        match item:
            case Received(message, leg):
                self._message(message, leg, now)
            case Failed(leg, fault):
                self._close(leg, now, fault=fault)
            case Malformed(error=error):
                self._noise(str(error))
            case Suspicion(clause):
                self.suspicion = clause
            case _:
                self._message(item, None, now)

    def _noise(self, text: str) -> None:
        self.noise = self.noise or text
        self.noises += 1

    def _message(self, message: object, leg: int | str | None, now: float) -> None:
        if not is_object(message):
            self._noise(f"JSON that is no object: {str(message)[:80]}")
        elif "method" in message:
            self.told.append((now, message))
        else:
            self._close(leg or message.get("id"), now, reply=message)

    def _close(
        self,
        name: Any,
        now: float,
        reply: dict[str, Any] | None = None,
        fault: ExchangeFault | None = None,
    ) -> None:
        for exchange in self.exchanges:
            if exchange.id == name and exchange.seconds is None:
                exchange.reply, exchange.fault = reply, fault
                exchange.seconds = now - exchange.sent
                return


class TappedWire:
    """Another wire, unchanged, whose messages are noted on their way."""

    def __init__(self, wire: Wire) -> None:
        """Listen in on a wire that was not entered yet."""
        self._wire = wire
        self.traits: Traits = wire.traits
        self.heard: Heard = Heard()
        self.fell_back: bool = False

    @property
    def _http(self) -> HttpWire:
        return cast("HttpWire", self._wire)

    @property
    def identity(self) -> Identity | None:
        """What a memory knows the server by."""
        return self._wire.identity

    async def __aenter__(self) -> Self:
        """Open the wire."""
        await self._wire.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the wire."""
        await self._wire.__aexit__(exc_type, exc, traceback)

    def post(self, sent: ToServer) -> bool:
        """Send one message at once."""
        taken = self._wire.post(sent)
        if taken:
            self.heard.sent(sent.message, anyio.current_time())
        return taken

    async def send(self, messages: Sequence[ToServer]) -> None:
        """Write messages in order."""
        for sent in messages:
            self.heard.sent(sent.message, anyio.current_time())
        await self._wire.send(messages)

    async def receive(self) -> object:
        """Return the next thing that has arrived."""
        item = await self._wire.receive()
        self.heard.came(item, anyio.current_time())
        return item

    async def restart(self) -> None:
        """Start the server again."""
        await self._wire.restart()

    async def watch(self) -> None:
        """Look after the wire."""
        await self._wire.watch()

    # -- HTTP ----------------------------------------------------------------------

    def attach(self, take: Callable[[object], None]) -> None:
        """Hand what arrives over at once."""

        def noted(item: object) -> None:
            self.heard.came(item, anyio.current_time())
            take(item)

        self._http.attach(noted)

    def abort(self, leg: int | str) -> None:
        """Close the exchange of one request."""
        self._http.abort(leg)

    async def fall_back(self) -> None:
        """Change to the HTTP+SSE transport."""
        self.fell_back = True
        await self._http.fall_back()
