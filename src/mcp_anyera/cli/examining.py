"""Look at a server from all sides: open a connection, list what there is, leave."""

from __future__ import annotations

import json
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, Final, TextIO

import anyio

from mcp_anyera._sdk import DEFAULT_CLIENT_INFO, dump, httpx
from mcp_anyera.cli.plain_session import PlainSession, plain_session
from mcp_anyera.cli.tap import Exchanged, Heard, TappedWire
from mcp_anyera.cli.target import CommandTarget
from mcp_anyera.connection import fresh_prefix, spread
from mcp_anyera.engine import (
    Connected,
    Dropped,
    EngineConfig,
    Event,
    Exchange,
    Face,
    Failure,
    Fault,
    Questions,
    Verdict,
)
from mcp_anyera.engine.jsonrpc import is_object
from mcp_anyera.eras import Era
from mcp_anyera.memory import EraMemory
from mcp_anyera.target import Target
from mcp_anyera.transports.background import plain
from mcp_anyera.transports.http import HttpOptions
from mcp_anyera.transports.http.clients import new_client
from mcp_anyera.transports.http.session import SESSION_HEADER
from mcp_anyera.transports.wire import Wire, engine_options, recollection

LISTS: Final = {
    "tools": ("tools/list", "tools", "tools"),
    "prompts": ("prompts/list", "prompts", "prompts"),
    "resources": ("resources/list", "resources", "resources"),
    "resource_templates": (
        "resources/templates/list",
        "resourceTemplates",
        "resources",
    ),
}
"""What is counted → method, member of the result, server capability."""
MAX_PAGES: Final = 200
LIST_TIMEOUT: Final = 30.0
LISTEN_TIMEOUT: Final = 2.0
"""Seconds for a server to acknowledge that it is listened to."""
LISTEN: Final = "subscriptions/listen"


@dataclass(frozen=True, slots=True)
class HttpSeen:
    """What HTTP said beside the message."""

    status: int
    content_type: str | None
    session: bool
    """Whether a session was handed out."""


@dataclass(slots=True)
class Listing:
    """One list, all its pages."""

    method: str
    advertised: bool
    items: list[Any] = field(default_factory=list[Any])
    pages: int = 0
    seconds: float = 0.0
    error: str | None = None
    code: int | None = None
    endless: bool = False
    """Whether it went on for more pages than anybody wants."""


@dataclass(frozen=True, slots=True)
class Handshake:
    """What came of a handshake with a server that was met as modern."""

    revision: str | None
    """What was agreed on; ``None`` when it was refused."""
    seconds: float


@dataclass(slots=True)
class Examined:
    """Everything that one look at a server has brought to light."""

    name: str
    mode: str
    http: bool
    heard: Heard
    seen: dict[int | str, HttpSeen] = field(default_factory=dict[int | str, HttpSeen])
    events: list[Event] = field(default_factory=list[Event])
    verdict: Verdict | None = None
    failure: Failure | None = None
    fell_back: bool = False
    lists: dict[str, Listing] = field(default_factory=dict[str, Listing])
    closing: float = 0.0
    """Seconds that the end took."""
    seconds: float = 0.0
    stderr: str = ""
    handshake: Handshake | None = None
    """Whether a modern server shakes hands too; ``None`` where nobody asked."""
    remembered: dict[str, Any] | None = None
    """What the memory held; ``None`` where it was not looked into."""

    @property
    def opening(self) -> dict[str, Any]:
        """The result that opened the connection."""
        verdict = self.verdict
        return {} if verdict is None else verdict.discover or verdict.initialize or {}

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server advertises."""
        found = self.opening.get("capabilities")
        return found if is_object(found) else {}

    def hear(self, event: Event) -> None:
        """Keep an event; what is dropped has no number, and the tap counts it."""
        if not isinstance(event, Dropped):
            self.events.append(event)

    def asked(self, method: str) -> list[Exchanged]:
        """Return the exchanges of one method, in order."""
        return [one for one in self.heard.exchanges if one.method == method]


async def examine(
    target: CommandTarget,
    *,
    mode: str,
    probe_timeout: float | None,
    connect_timeout: float,
    stderr: TextIO | None,
    memory: EraMemory | None = None,
    forget: bool = False,
) -> Examined:
    """Look at a server.

    Args:
        target: The server.
        mode: As `Client` takes it.
        probe_timeout: Patience with the probe, in seconds; ``None`` for the usual.
        connect_timeout: Limit for the opening, in seconds.
        stderr: Where the server's stderr is shown; ``None`` keeps it to the report.
        memory: Is looked into and never believed: finding out is the purpose.
        forget: Whether what is remembered of the server is dropped.

    Returns:
        What was found; also where no connection came about.
    """
    seen: dict[int | str, HttpSeen] = {}
    options = HttpOptions(make=lambda: _watched(seen), headers=target.headers)
    reached = Target.of(target.server, options, raise_exceptions=False)
    inner = reached.wire()
    wire = TappedWire(inner)
    config = _config(wire, reached.name, mode, probe_timeout, connect_timeout)
    http = wire.traits.exchange is Exchange.HTTP
    found = Examined(reached.name, mode, http, wire.heard, seen)
    found.remembered = _remembered(inner, memory, forget=forget)
    sink = _Sink(stderr)
    began = anyio.current_time()
    with redirect_stderr(sink):
        await _look(wire, config, found)
        if mode == "auto" and found.verdict and found.verdict.era is Era.MODERN:
            found.handshake = await _shaken(target, connect_timeout)
    found.seconds = anyio.current_time() - began
    found.fell_back, found.stderr = wire.fell_back, sink.getvalue()
    return found


def _config(
    wire: Wire, name: str, mode: str, patience: float | None, limit: float
) -> EngineConfig:
    return EngineConfig(
        **engine_options(wire, mode, patience),
        target=name,
        face=Face.NATIVE,
        questions=Questions.SHELL,
        connect_timeout=limit,
        jitter=spread,
        prefix=fresh_prefix(),
    )


async def _shaken(target: CommandTarget, limit: float) -> Handshake:
    # On a connection of its own, after the first one has ended: a server may serve one
    # era only for as long as it runs, and is never started twice at once.
    options = HttpOptions(headers=target.headers)
    reached = Target.of(target.server, options, raise_exceptions=False)
    wire = reached.wire()
    found = Examined(reached.name, "legacy", http=False, heard=Heard())
    began = anyio.current_time()
    with suppress(Exception):  # whatever it is, there is no handshake
        config = _config(wire, reached.name, "legacy", None, limit)
        async with plain_session(wire, config, found.hear) as session:
            await _open(session, found)
    agreed = None if found.verdict is None else found.verdict.revision
    return Handshake(agreed, anyio.current_time() - began)


def _remembered(
    wire: Wire, memory: EraMemory | None, *, forget: bool
) -> dict[str, Any] | None:
    known = recollection(wire, memory)
    if memory is None or known is None:
        return None
    identity = wire.identity
    if forget and identity is not None:
        memory.forget(identity)
    return known.entry


async def _look(wire: TappedWire, config: EngineConfig, found: Examined) -> None:
    ended = anyio.current_time()
    try:
        async with plain_session(wire, config, found.hear) as session:
            await _open(session, found)
            if found.verdict is not None:
                await _list_everything(session, found)
                await _listened(found)
            ended = anyio.current_time()
    except Exception as error:  # noqa: BLE001 - a report is owed whatever happens
        cause = plain(error)
        text = f"could not connect to {found.name}: {type(cause).__name__}: {cause}"
        found.failure = found.failure or Failure(Fault.CONNECT, text, cause=cause)
    found.closing = anyio.current_time() - ended


async def _open(session: PlainSession, found: Examined) -> None:
    info = dump(DEFAULT_CLIENT_INFO)
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": info,
    }
    answer = await session.request("initialize", params)
    found.failure = answer.failure
    if answer.failure is None:
        connected = [event for event in found.events if isinstance(event, Connected)]
        found.verdict = connected[-1].verdict
        session.notify("notifications/initialized")


async def _list_everything(session: PlainSession, found: Examined) -> None:
    for name, (method, member, capability) in LISTS.items():
        listing = Listing(method, is_object(found.capabilities.get(capability)))
        # Tools are asked for in any case: a server that forgets to advertise them
        # is a common riddle.
        if listing.advertised or name == "tools":
            await _list(session, listing, member)
        found.lists[name] = listing


async def _list(session: PlainSession, listing: Listing, member: str) -> None:
    began, cursor = anyio.current_time(), None
    while listing.pages < MAX_PAGES:
        params = {} if cursor is None else {"cursor": cursor}
        answer = await session.request(listing.method, params, LIST_TIMEOUT)
        if "error" in answer.message:
            error = answer.message["error"]
            listing.error, listing.code = str(error.get("message")), error.get("code")
            break
        result = answer.message["result"]
        items = result.get(member)
        listing.items += items if isinstance(items, list) else []
        listing.pages += 1
        cursor = result.get("nextCursor")
        if cursor is None:
            break
    else:
        listing.endless = True
    listing.seconds = anyio.current_time() - began


async def _listened(found: Examined) -> None:
    # The engine listens for changes by itself where they are advertised; here the
    # answer is waited for, so that a refusal is seen.
    with anyio.move_on_after(LISTEN_TIMEOUT):
        while any(one.seconds is None for one in found.asked(LISTEN)):
            if _acknowledged(found.heard):
                return
            await anyio.sleep(0.02)


def _acknowledged(heard: Heard) -> bool:
    wanted = "notifications/subscriptions/acknowledged"
    return any(message.get("method") == wanted for _, message in heard.told)


def _watched(seen: dict[int | str, HttpSeen]) -> httpx.AsyncClient:
    async def note(response: httpx.Response) -> None:
        name = _id_in(response.request)
        if name is not None:
            kind = response.headers.get("content-type", "").partition(";")[0].strip()
            session = SESSION_HEADER in response.headers
            seen[name] = HttpSeen(response.status_code, kind or None, session)

    client = new_client()
    client.event_hooks = {**client.event_hooks, "response": [note]}
    return client


def _id_in(request: httpx.Request) -> int | str | None:
    try:
        return json.loads(request.content).get("id")
    except (ValueError, AttributeError, httpx.RequestNotRead):
        return None


class _Sink(StringIO):
    """Keeps what a server writes to stderr, and shows it where that is wanted."""

    def __init__(self, shown: TextIO | None) -> None:
        super().__init__()
        self._shown = shown

    def write(self, text: str, /) -> int:
        """Take some text."""
        if self._shown is not None:
            self._shown.write(text)
            self._shown.flush()
        return super().write(text)
