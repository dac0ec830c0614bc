"""Plain HTTP/1.1 on h11 and asyncio, for servers nearby.

The HTTP library does much that a call to a server on the same machine has no use for,
and costs more than all else that the bridge does. So plain ``http`` without a proxy, a
login or credentials in the URL goes this way; TLS and the rest go through the library.
What callers see is the same: its exceptions, and responses with what they use of them.
"""

from __future__ import annotations

import asyncio
import os
import zlib
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from time import monotonic
from typing import Any, Final, Self
from urllib.parse import urljoin, urlsplit

import h11

from mcp_anyera.transports.http.channel import MAX_REDIRECTS, Channel, stays_at_home
from mcp_anyera.transports.http.clients import (
    CONNECT_TIMEOUT,
    KEEPALIVE,
    READ_TIMEOUT,
    HttpOptions,
)
from mcp_anyera.transports.http.library import httpx

KEEPALIVE_TIMEOUT: Final = 4.0
"""Seconds that an unused connection is kept; common servers close theirs after 5."""
MOST_BUFFERED: Final = 2**18
"""Bytes of a body that wait for whoever reads it before the socket is left alone."""
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


def fits(url: str, variables: Mapping[str, str] = os.environ) -> bool:
    """Tell whether a URL can be reached this way.

    Args:
        url: The server.
        variables: The environment, which may name a proxy.
    """
    proxies = {"http_proxy", "all_proxy"}
    proxied = any(
        value and name.lower() in proxies for name, value in variables.items()
    )
    parts = urlsplit(url)
    return parts.scheme == "http" and "@" not in parts.netloc and not proxied


class LeanChannel(Channel, AbstractAsyncContextManager["LeanChannel"]):
    """Makes the requests of one wire."""

    def __init__(self, url: str, options: HttpOptions) -> None:
        """Prepare; a connection is made when it is needed.

        Args:
            url: The endpoint.
            options: What to send with every request.
        """
        self._target = url
        self._options = options
        self._common = dict(options.headers or {})
        self._idle: deque[_Connection] = deque()

    async def __aenter__(self) -> Self:
        """Return the channel."""
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """Close what is open."""
        while self._idle:
            self._idle.pop().abort()

    async def send(  # noqa: D102 - as the channel of the library
        self,
        method: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        patient: bool = False,
        on_hold: Any = None,
    ) -> Any:
        del on_hold  # nothing here has to think
        request = LeanRequest(
            method, self._target, {**self._common, **headers}, body or b""
        )
        for _ in range(MAX_REDIRECTS):
            response = await self._send(request, patient=patient)
            following = response.next_request
            if following is None or not stays_at_home(request, following):
                return response
            await response.aclose()
            request = following
        return await self._send(request, patient=patient)

    async def _send(self, request: LeanRequest, *, patient: bool) -> LeanResponse:
        connection = self._take() or await self._connect(request)
        connection.timeout = None if patient else READ_TIMEOUT
        try:
            head = await connection.exchange(request)
        except BaseException:
            connection.abort()
            raise
        return LeanResponse(request, head, connection, self._give_back)

    def _take(self) -> _Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.usable():
                return connection
            connection.abort()
        return None

    def _give_back(self, connection: _Connection) -> None:
        while self._idle and not self._idle[0].usable():
            self._idle.popleft().abort()
        if len(self._idle) < KEEPALIVE and connection.renew():
            self._idle.append(connection)
        else:
            connection.abort()

    async def _connect(self, request: LeanRequest) -> _Connection:
        parts, loop = urlsplit(request.address), asyncio.get_running_loop()
        host = parts.hostname or ""
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                _, connection = await loop.create_connection(
                    _Connection, host, parts.port or 80, happy_eyeballs_delay=0.25
                )
        except TimeoutError as error:
            raise httpx.ConnectTimeout(f"{host} does not answer") from error
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        return connection


class LeanRequest:
    """A request, with what callers use of the library's."""

    __slots__ = ("address", "body", "headers", "method")

    def __init__(
        self, method: str, address: str, headers: dict[str, str], body: bytes
    ) -> None:
        """Describe it."""
        self.method: str = method
        self.address: str = address
        self.headers: dict[str, str] = {
            name.lower(): value for name, value in headers.items()
        }
        self.body: bytes = body

    @property
    def url(self) -> Any:
        """The address as the library's own type, for whoever compares its parts."""
        return httpx.URL(self.address)

    def head(self) -> h11.Request:
        """Return what goes before the body."""
        parts = urlsplit(self.address)
        target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        fields = {"host": parts.netloc, "user-agent": "mcp-anyera", **self.headers}
        if self.body or self.method == "POST":
            fields["content-length"] = str(len(self.body))
        return h11.Request(
            method=self.method,
            target=target,
            headers=[(name.encode(), value.encode()) for name, value in fields.items()],
        )


class LeanResponse:
    """A response whose body is unread, with what callers use of the library's."""

    def __init__(
        self,
        request: LeanRequest,
        head: h11.Response,
        connection: _Connection,
        give_back: Any,
    ) -> None:
        """Take the head of a response."""
        self.request = request
        self.status_code: int = head.status_code
        self.reason_phrase: str = bytes(head.reason).decode("ascii", "replace")
        self.headers: dict[str, str] = {
            name.decode("ascii"): value.decode("latin-1")
            for name, value in head.headers
        }
        self._connection: _Connection | None = connection
        self._give_back = give_back

    @property
    def is_success(self) -> bool:
        """Whether the status is a 2xx."""
        return self.status_code // 100 == 2  # noqa: PLR2004 - the class of a status

    @property
    def is_server_error(self) -> bool:
        """Whether the status is a 5xx."""
        return self.status_code // 100 == 5  # noqa: PLR2004 - the same

    @property
    def next_request(self) -> LeanRequest | None:
        """The request that a redirect leads to."""
        location = self.headers.get("location")
        if self.status_code not in _REDIRECTS or location is None:
            return None
        old = self.request
        kept = self.status_code in {307, 308} or old.method != "POST"
        address = urljoin(old.address, location)
        headers = {k: v for k, v in old.headers.items() if k != "host"}
        method = old.method if kept else "GET"
        return LeanRequest(method, address, headers, old.body if kept else b"")

    @property
    def stream(self) -> AsyncGenerator[bytes]:
        """The body as it comes."""
        return self._chunks()

    async def _chunks(self) -> AsyncGenerator[bytes]:
        connection = self._connection
        while connection is not None and (chunk := await connection.chunk()):
            yield chunk

    async def aiter_bytes(self) -> AsyncGenerator[bytes]:
        """Yield the body decoded, though no encoding was offered."""
        kind = self.headers.get("content-encoding", "identity").lower()
        if kind not in {"identity", "gzip", "x-gzip", "deflate"}:
            raise httpx.DecodingError(f"the encoding {kind!r} was not asked for")
        decoder = (
            None if kind == "identity" else zlib.decompressobj(zlib.MAX_WBITS | 32)
        )
        async for chunk in self.stream:
            try:
                yield chunk if decoder is None else decoder.decompress(chunk)
            except zlib.error as error:
                raise httpx.DecodingError(str(error)) from error

    async def aclose(self) -> None:
        """Let go of the connection, which is kept if its response is over."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._give_back(connection)


class _Connection(asyncio.Protocol):
    """One connection, and the exchange that is on it."""

    def __init__(self) -> None:
        self._h11 = h11.Connection(h11.CLIENT)
        self._transport: Any = None
        self._head: h11.Response | None = None
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._over = self._paused = False
        self._error: Exception | None = None
        self._lost = False
        self._waiter: asyncio.Future[None] | None = None
        self._since = 0.0
        self.timeout: float | None = None

    # -- the exchange ----------------------------------------------------------------

    async def exchange(self, request: LeanRequest) -> h11.Response:
        """Send a request, and return the head of its response."""
        try:
            data = self._h11.send(request.head()) or b""
            if request.body:
                data += self._h11.send(h11.Data(data=request.body)) or b""
            data += self._h11.send(h11.EndOfMessage()) or b""
        except h11.LocalProtocolError as error:
            raise httpx.LocalProtocolError(str(error)) from error
        self._transport.write(data)
        while self._head is None:
            await self._wait()
        return self._head

    async def chunk(self) -> bytes:
        """Return the next bytes of the body; none when it is over."""
        while not self._chunks:
            if self._over:
                return b""
            await self._wait()
        data = b"".join(self._chunks)
        self._chunks.clear()
        self._size = 0
        if self._paused and not self._lost:
            self._paused = False
            self._transport.resume_reading()
        return data

    async def _wait(self) -> None:
        if isinstance(self._error, h11.RemoteProtocolError):
            raise httpx.RemoteProtocolError(str(self._error)) from self._error
        if self._error is not None:
            raise httpx.ReadError(str(self._error)) from self._error
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self.timeout):
                await self._waiter
        except TimeoutError as error:
            raise httpx.ReadTimeout(f"silence for {self.timeout:g} s") from error
        finally:
            self._waiter = None

    # -- its life --------------------------------------------------------------------

    def usable(self) -> bool:
        """Tell whether another exchange may start on it."""
        fresh = monotonic() - self._since < KEEPALIVE_TIMEOUT
        return fresh and not self._lost and not self._transport.is_closing()

    def renew(self) -> bool:
        """Get ready for another exchange; ``False`` when that cannot be."""
        state = self._h11
        done = state.our_state is state.their_state is h11.DONE
        if self._lost or not self._over or not done:
            return False
        state.start_next_cycle()
        self._head, self._over, self._error = None, False, None
        self._chunks.clear()
        self._since = monotonic()
        return True

    def abort(self) -> None:
        """Close it."""
        if self._transport is not None:
            self._transport.abort()

    # -- the loop's side -------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Take bytes of a response."""
        self._feed(data)
        if self._size > MOST_BUFFERED and not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def eof_received(self) -> None:
        """Take the end of the stream, which may be the end of a body."""
        self._feed(b"")

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail what is going on."""
        self._lost = True
        if not self._over and self._error is None:
            # An idle connection ends without anybody's notice.
            self._error = exc or ConnectionError("the server closed the connection")
        self._wake()

    def _feed(self, data: bytes) -> None:
        try:
            self._h11.receive_data(data)
            while self._take(self._h11.next_event()):
                pass
        except h11.RemoteProtocolError as error:
            self._error = error
            self._transport.abort()
        self._wake()

    def _take(self, event: Any) -> bool:
        if isinstance(event, h11.Response):
            self._head = event
        elif isinstance(event, h11.Data):
            self._chunks.append(bytes(event.data))
            self._size += len(event.data)
        elif isinstance(event, h11.EndOfMessage):
            self._over = True
            return False
        elif not isinstance(event, h11.InformationalResponse):
            return False  # more is needed, or the connection is over
        return True

    def _wake(self) -> None:
        if self._waiter is not None:
            with suppress(asyncio.InvalidStateError):
                self._waiter.set_result(None)
