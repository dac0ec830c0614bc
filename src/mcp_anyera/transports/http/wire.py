"""Streamable HTTP of both eras as a wire: every message is an exchange of its own.

What a message wears says which era it belongs to: a modern one names its method
in a header. A modern exchange is closed to cancel it and is lost when it breaks;
a legacy one belongs to a session, and can be read on from where it broke off.

Spec: 2026-07-28 and 2025-11-25 ``basic/transports`` (Streamable HTTP).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

import anyio

from mcp_anyera.engine import Exchange, ToServer
from mcp_anyera.transports.http.channel import Channel, Cursor
from mcp_anyera.transports.http.clients import HttpOptions, bare_url
from mcp_anyera.transports.http.exchange import POST_HEADERS, Exchanger, Request
from mcp_anyera.transports.http.fallback import SseFallback
from mcp_anyera.transports.http.library import SDK1, httpx
from mcp_anyera.transports.http.session import LegacySession
from mcp_anyera.transports.wire import (
    Failed,
    Malformed,
    Traits,
    WireClosed,
    to_json,
)

if TYPE_CHECKING:
    from mcp_anyera.memory import Identity

PROBE_TIMEOUT: Final = 10.0
"""Seconds of patience with the probe. Unlike a process, a server that does not
know the method answers; silence means a cold start more often than legacy."""
NOTICE_TIMEOUT: Final = 5.0
"""Seconds that a message waits for the notification before it."""
LISTEN_TIMEOUT: Final = 1.0
"""Seconds that the first calls wait for the server to open its own stream."""
LEAVE_TIMEOUT: Final = 1.0
"""Seconds at the end for notifications to arrive."""
ANSWER_ATTEMPTS: Final = 3


class StreamableHttpWire:
    """One URL, in either era."""

    traits: Traits = Traits(
        exchange=Exchange.HTTP, sse_fallback=True, probe_timeout=PROBE_TIMEOUT
    )

    def __init__(self, url: str, options: HttpOptions) -> None:
        """Prepare; nothing is sent before the first message.

        Args:
            url: The endpoint.
            options: The client to use, and what to send with every request.
        """
        self._url = url
        self._options = options
        self._stack = AsyncExitStack()
        self._inbox: deque[object] = deque()
        self._arrived = anyio.Event()
        self._take: Callable[[object], None] | None = None
        self._open: dict[int | str, anyio.CancelScope] = {}
        self._last_notice = anyio.Event()
        self._last_notice.set()
        self._initialized = self._last_notice
        self._fallback: SseFallback | None = None
        self._client: httpx.AsyncClient | None = None

    @property
    def identity(self) -> Identity:
        """The URL; headers and a login may tell callers apart."""
        from mcp_anyera.memory import Identity  # noqa: PLC0415 - few bridges have one

        return Identity("http", bare_url(self._url), self._url, self._options.caller)

    @property
    def extras(self) -> tuple[Any, ...]:
        """What the SDK's transport yields after its streams: on 1.x the session id."""
        return (lambda: self._session.id,) if SDK1 else ()

    # -- life ----------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Make the client, if the caller has given none."""
        self._channel = await self._open_channel()
        self._session = LegacySession(self._channel)
        self._tasks = anyio.create_task_group()
        await self._stack.enter_async_context(self._tasks)
        parts = (self._channel, self._session, self._put, self._tasks)
        self._exchanger = Exchanger(*parts)
        return self

    async def _open_channel(self) -> Channel:
        make = self._options.channel
        if make is None:
            return Channel(self._url, self._options, await self._open_client())
        return await self._stack.enter_async_context(make(self._url, self._options))

    async def _open_client(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = self._options.open()
            if self._options.client is None:
                await self._stack.enter_async_context(self._client)
        return self._client

    async def __aexit__(self, *_exc: object) -> None:
        """Let notifications arrive, delete a legacy session, close the client."""
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(LEAVE_TIMEOUT):
                await self._last_notice.wait()
                if self._fallback is not None:
                    await self._fallback.stop()
            self._tasks.cancel_scope.cancel()
            if self._options.terminate_on_close:
                await self._session.end()
        await self._stack.__aexit__(None, None, None)

    async def receive(self) -> object:
        """Return the next thing that has arrived.

        Raises:
            WireClosed: The HTTP+SSE transport has closed.
        """
        while not self._inbox:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        item = self._inbox.popleft()
        if isinstance(item, WireClosed):
            raise item
        return item

    def attach(self, take: Callable[[object], None]) -> None:
        """Hand what arrives over at once, instead of through `receive`."""
        self._take = take

    def _put(self, item: object) -> None:
        if self._take is not None and not isinstance(item, WireClosed):
            self._take(item)
            return
        self._inbox.append(item)
        self._arrived.set()

    async def restart(self) -> None:
        """Refuse: there is no process here."""
        raise OSError("a URL cannot be started again")

    async def watch(self) -> None:
        """Do nothing: every exchange looks after itself."""

    async def fall_back(self) -> None:
        """Change to the HTTP+SSE transport of 2024-11-05.

        Raises:
            OSError: There is none at this URL.
        """
        lent = self._options.lend(await self._open_client())
        self._fallback = SseFallback(self._url, lent, self._put)
        await self._fallback.start(self._tasks)

    # -- sending -------------------------------------------------------------------

    async def send(self, messages: Sequence[ToServer]) -> None:
        """Write what `post` has not taken, which goes to the HTTP+SSE transport."""
        assert self._fallback is not None
        await self._fallback.send(messages)

    def post(self, sent: ToServer) -> bool:
        """Start the exchange of one message; ``False`` when it needs `send`.

        Raises:
            TypeError, ValueError, RecursionError: It cannot be written as JSON.
        """
        if self._fallback is not None:
            return False
        self._start(sent.message, sent.headers or {}, to_json(sent.message).encode())
        return True

    def _start(
        self, message: dict[str, Any], headers: dict[str, str], body: bytes
    ) -> None:
        if "method" not in message:
            self._tasks.start_soon(self._answer, headers, body, self._last_notice)
        elif "id" in message:
            session = self._session.id
            request = Request(message["id"], message["method"], headers, body, session)
            scope = self._open[request.leg] = anyio.CancelScope()
            self._tasks.start_soon(self._request, request, scope)
        else:
            self._start_notice(message["method"], headers, body)

    def _start_notice(self, method: str, headers: dict[str, str], body: bytes) -> None:
        before, self._last_notice = self._last_notice, anyio.Event()
        if method == "notifications/initialized":
            # Requests wait for it: a server refuses what overtakes it.
            self._initialized = anyio.Event()
            self._session.agree(headers)
        self._tasks.start_soon(
            self._notify, method, headers, body, before, self._last_notice
        )

    def abort(self, leg: int | str) -> None:
        """Close the exchange of one request; nothing comes of it any more."""
        scope = self._open.pop(leg, None)
        if scope is not None:
            scope.cancel()

    # -- a request -----------------------------------------------------------------

    async def _request(self, request: Request, scope: anyio.CancelScope) -> None:
        fault = None
        with scope:
            if not (request.opens or self._initialized.is_set()):
                with anyio.move_on_after(NOTICE_TIMEOUT):
                    await self._initialized.wait()
            fault = await self._exchanger.run(request)
        # The id may be in use again by now, never by this exchange.
        if self._open.get(request.leg) is scope:
            del self._open[request.leg]
        if fault is not None:
            self._put(Failed(request.leg, fault))

    # -- notifications and answers -------------------------------------------------

    async def _notify(
        self,
        method: str,
        headers: dict[str, str],
        body: bytes,
        before: anyio.Event,
        done: anyio.Event,
    ) -> None:
        with anyio.move_on_after(NOTICE_TIMEOUT):
            await before.wait()
        try:
            error = await self._post(headers, body)
        finally:
            done.set()
        if error is not None:
            self._put(Malformed(error))
        if method == "notifications/initialized":
            await self._listen()

    async def _listen(self) -> None:
        # Some servers ask on the stream of the session, in the middle of a call,
        # and what they say before it is there is lost. So calls wait for it too.
        cursor, deliver = Cursor(), partial(self._exchanger.event, None)
        self._tasks.start_soon(self._session.listen, cursor, deliver)
        with anyio.move_on_after(LISTEN_TIMEOUT):
            await cursor.opened.wait()
        self._initialized.set()

    async def _answer(
        self, headers: dict[str, str], body: bytes, before: anyio.Event
    ) -> None:
        # The refusal of a question must not overtake the news that its call was
        # cancelled: a server of SDK 1.30 ends when the two meet.
        if not before.is_set():
            with anyio.move_on_after(NOTICE_TIMEOUT):
                await before.wait()
        # What a human said must not be lost because a connection was.
        error: Exception | None = None
        for attempt in range(ANSWER_ATTEMPTS):
            await anyio.sleep(attempt)
            error = await self._post(headers, body)
            if not isinstance(error, httpx.TransportError):
                break
        if error is not None:
            self._put(Malformed(error))

    async def _post(self, headers: dict[str, str], body: bytes) -> Exception | None:
        everything = {**POST_HEADERS, **headers, **self._session.headers}
        try:
            response = await self._channel.send("POST", everything, body)
            await response.aclose()
        except Exception as error:  # noqa: BLE001 - an auth flow may raise anything
            return error
        if response.is_success:
            return None
        text = f"the server answered a notification with HTTP {response.status_code}"
        return httpx.HTTPStatusError(text, request=response.request, response=response)
