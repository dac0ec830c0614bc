"""Streams that look like a 2025-11-25 server, whatever the server is.

The session on them is the SDK's own, unchanged, of either line: it shakes hands,
is asked directly and hears of changes as it always did. What a modern server
wants instead happens underneath.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from random import random
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import anyio

from mcp_anyera._sdk import SessionMessage, from_session_message, to_session_message
from mcp_anyera.engine import Engine, EngineConfig, Event, Question, ToClient
from mcp_anyera.engine.config import CONNECT_TIMEOUT, MAX_ROUNDS
from mcp_anyera.memory import EraMemory, Recollection
from mcp_anyera.transports.background import Background
from mcp_anyera.transports.pump import Pump
from mcp_anyera.transports.seeing import wire_for
from mcp_anyera.transports.wire import Wire, engine_options, recollection

FLUSH_TIMEOUT: Final = 0.5
"""Seconds at the end for what was already said to go out; SDK 2.x waits as long."""

OnEvent: TypeAlias = Callable[[Event], None]


class _Face:
    """The client side of the engine: a stream that the session reads."""

    def __init__(self, on_event: OnEvent | None, known: Recollection | None) -> None:
        self._send, self.read = anyio.create_memory_object_stream[
            "SessionMessage | Exception"
        ](math.inf)
        self._on_event = on_event
        self._known = known

    def to_client(self, effect: ToClient) -> None:
        """Put a message where the session reads."""
        # SDK 1.x has no error without an id; there is no call that it could end.
        if effect.message.get("id", "") is not None:
            self._put(to_session_message(effect.message))

    def ask(self, question: Question) -> None:
        """Never called: the session is asked in its own words."""
        raise AssertionError(question)

    def withdraw(self, question: Question, reason: str) -> None:
        """Never called, for the same reason."""
        raise AssertionError(question, reason)

    def notice(self, event: Event) -> None:
        """Remember what it says, and pass it on."""
        if self._known is not None:
            self._known.hear(event)
        if self._on_event is not None:
            self._on_event(event)

    def fault(self, error: Exception) -> None:
        """Tell the session of something that is no message."""
        self._put(error)

    def closed(self) -> None:
        """End the stream."""
        self._send.close()

    def _put(self, item: SessionMessage | Exception) -> None:
        try:
            self._send.send_nowait(item)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return

    def close(self) -> None:
        """Let go of both ends."""
        self._send.close()
        self.read.close()


class WriteStream:
    """What the session writes to; what it says is worked on at once."""

    def __init__(self, pump: Pump) -> None:
        self._pump = pump
        self._open = True

    async def send(self, item: SessionMessage) -> None:
        """Take one message of the session.

        Raises:
            anyio.ClosedResourceError: The stream was closed.
        """
        if not self._open:
            raise anyio.ClosedResourceError
        message = from_session_message(item)
        now = anyio.current_time()
        self._pump.perform(self._pump.engine.receive_from_client(message, now))
        # No more than this: the session waits for the answer right after.
        await anyio.lowlevel.checkpoint_if_cancelled()

    def close(self) -> None:
        """Take nothing more."""
        self._open = False

    async def aclose(self) -> None:
        """Take nothing more."""
        self.close()
        await anyio.lowlevel.checkpoint()

    async def __aenter__(self) -> Self:
        """Return the stream."""
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """Close the stream."""
        await self.aclose()


@dataclass(kw_only=True)
class AdaptOptions:
    """How to adapt; times are seconds."""

    mode: str = "auto"
    log_level: str | None = None
    probe_timeout_seconds: float | None = None
    connect_timeout_seconds: float | None = CONNECT_TIMEOUT
    input_required_max_rounds: int = MAX_ROUNDS
    probe: str = "modern_first"
    memory: EraMemory | None = None
    on_event: OnEvent | None = None


@dataclass
class Adapted(AbstractAsyncContextManager[Any]):
    """An adapted transport, not yet entered; `adapt` makes it.

    Entering yields what the transport below yields, with the first two replaced
    by the adapted streams.
    """

    wire: Wire
    options: AdaptOptions = field(default_factory=AdaptOptions)
    _background: Background | None = field(default=None, init=False, repr=False)
    _streams: tuple[Any, ...] = field(default=(), init=False, repr=False)

    async def __aenter__(self) -> Any:
        """Start the server and return the streams.

        Raises:
            OSError: The server cannot be started.
            RuntimeError: It was entered before.
        """
        if self._background is not None:
            msg = "this transport was entered before; make a new one"
            raise RuntimeError(msg)
        self._background = Background(self._run)
        await self._background.start()
        return self._streams

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the server."""
        if self._background is not None:
            await self._background.stop()

    async def _run(self, ready: Callable[[], None], stop: anyio.Event) -> None:
        options = self.options
        known = recollection(self.wire, options.memory)
        face = _Face(options.on_event, known if options.mode == "auto" else None)
        pump = Pump(Engine(self._config(known)), self.wire, face)
        try:
            async with self.wire, anyio.create_task_group() as tasks:
                pump.start(tasks)
                extras: Sequence[Any] = getattr(self.wire, "extras", ())
                self._streams = (face.read, WriteStream(pump), *extras)
                ready()
                await stop.wait()
                pump.perform(pump.engine.client_closed(anyio.current_time()))
                await pump.flush(FLUSH_TIMEOUT)
                tasks.cancel_scope.cancel()
        finally:
            pump.close()
            face.close()

    def _config(self, known: Recollection | None) -> EngineConfig:
        options = self.options
        about = (self.wire, options.mode, options.probe_timeout_seconds)
        return EngineConfig(
            **engine_options(*about, known),
            probe=options.probe,
            log_level=options.log_level,
            connect_timeout=options.connect_timeout_seconds,
            max_rounds=options.input_required_max_rounds,
            jitter=random,
        )


def adapt(
    transport: AbstractAsyncContextManager[Any] | Sequence[Any],
    *,
    mode: str = "auto",
    log_level: str | None = None,
    probe_timeout_seconds: float | None = None,
    connect_timeout_seconds: float | None = CONNECT_TIMEOUT,
    input_required_max_rounds: int = MAX_ROUNDS,
    probe: str = "modern_first",
    memory: EraMemory | None = None,
    on_event: OnEvent | None = None,
) -> Adapted:
    """Make a transport carry a server of any era to an unchanged session.

    Use it as ``async with adapt(stdio_client(params)) as (read, write)``.

    Args:
        transport: A transport of the SDK that was not entered yet, or the open
            ``(read, write)`` pair of one. A ``stdio_client``, a
            ``streamable_http_client`` or a ``streamablehttp_client`` that was not
            entered is replaced by ours with the same parameters, so that a process
            that dislikes the probe can be started again, and every URL is reached
            in its era.
        mode: ``"auto"``, ``"legacy"`` (never probes), ``"modern"``, or a revision
            of either era to pin.
        log_level: The log level to ask for before the session asks; ``None``
            leaves it to the session.
        probe_timeout_seconds: Patience with ``server/discover``, in seconds; 0.9 on
            a byte stream and 10 over HTTP when omitted.
        connect_timeout_seconds: Limit for the whole opening, in seconds.
        input_required_max_rounds: Rounds that one call may take.
        probe: ``"modern_first"``, or ``"legacy_first"`` to shake hands first.
        memory: Remembers the era of servers; used in mode ``"auto"`` only.
        on_event: Is called with each event; must return at once.

    Returns:
        An async context manager that yields what the transport yields.

    Raises:
        ValueError: ``mode`` or ``probe`` names nothing.

    Spec:
        2026-07-28 ``basic/versioning``, ``basic/patterns/mrtr``.
    """
    EngineConfig(mode=mode, probe=probe)
    options = AdaptOptions(
        mode=mode,
        log_level=log_level,
        probe_timeout_seconds=probe_timeout_seconds,
        connect_timeout_seconds=connect_timeout_seconds,
        input_required_max_rounds=input_required_max_rounds,
        probe=probe,
        memory=memory,
        on_event=on_event,
    )
    return Adapted(wire_for(transport), options)
