"""One URL, and how requests to it are made and their bodies read."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import anyio

from mcp_anyera.engine import ExchangeFault, Fault, HttpFacts, SessionState
from mcp_anyera.engine.jsonrpc import is_error, is_object
from mcp_anyera.transports.http.clients import HttpOptions
from mcp_anyera.transports.http.library import httpx
from mcp_anyera.transports.http.sse import EventDecoder, SentEvent, TooLarge
from mcp_anyera.transports.wire import Malformed, from_json

OnHold: TypeAlias = Callable[[bool], None]
"""Is told that authentication begins to think, and that it has done so."""

MAX_REDIRECTS: Final = 5
MAX_ERROR_BODY: Final = 2**20
"""Bytes of an error body that are read in the hope for a JSON-RPC error."""
MAX_REST: Final = 2**16
"""Bytes after a reply that are read so that the connection can be used again."""
DRAIN_TIMEOUT: Final = 1.0
_CREDENTIALS: Final = ("authorization", "cookie", "x-api-key")


@dataclass(slots=True)
class Cursor:
    """How far an event stream was read."""

    last_id: str | None = None
    retry: float | None = None
    """Seconds that the server wants before the next attempt."""
    events: int = 0
    """Events with something in them."""
    opened: anyio.Event = field(default_factory=anyio.Event)
    """Set when the server has begun to answer, whatever it answers."""

    def note(self, event: SentEvent) -> None:
        """Move on."""
        self.last_id = event.id
        self.events += bool(event.data)
        if event.retry is not None:
            self.retry = event.retry / 1000


class Channel:
    """Makes the requests of one wire."""

    def __init__(
        self, url: str, options: HttpOptions, client: httpx.AsyncClient
    ) -> None:
        self._url = httpx.URL(url)
        self._options = options
        self._client = client
        self._common = dict(options.headers or {})
        self._is_ours = options.client is None and options.make is None
        if self._is_ours:
            own = {name.lower(): value for name, value in self._common.items()}
            host = self._url.netloc.decode("ascii")
            self._common = {"host": host, **client.headers, **own}
        self._auth: Any = client.auth if options.auth is None else options.auth

    # -- requests ------------------------------------------------------------------

    async def send(
        self,
        method: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        patient: bool = False,
        on_hold: OnHold | None = None,
    ) -> httpx.Response:
        """Send a request; redirects are followed as long as they stay at home.

        Headers, credentials and arguments were meant for one origin, so a
        response that leads elsewhere is returned as it is.

        Args:
            method: The HTTP method.
            headers: Laid over the caller's own.
            body: JSON, for a POST.
            patient: Whether silence is normal on the response, as on a stream
                that waits for changes.
            on_hold: Is told when authentication begins to think, and when it has.

        Returns:
            The response, with its body unread; close it.
        """
        request = self._request(
            method, {**self._common, **headers}, body, patient=patient
        )
        auth: Any = self._auth
        if isinstance(auth, httpx.Auth) and on_hold is not None:
            # Loads the HTTP library, which not every channel needs.
            from mcp_anyera.transports.http.auth import WatchedAuth  # noqa: PLC0415

            auth = WatchedAuth(auth, on_hold)
        elif auth is None:
            auth = httpx.USE_CLIENT_DEFAULT  # the URL may hold credentials
        return await self._follow(request, auth)

    def _request(
        self, method: str, headers: dict[str, str], body: bytes | None, *, patient: bool
    ) -> httpx.Request:
        client, timeout = self._client, self._client.timeout
        if patient and self._options.client is None:
            timeout = httpx.Timeout(timeout.connect, read=None)
        if not self._is_ours:
            return client.build_request(
                method, self._url, content=body, headers=headers, timeout=timeout
            )
        # A client of ours has nothing to merge but what is merged here, and merging
        # takes the library longer than all else that it does before it sends.
        content = body or b""
        if method == "POST":
            headers["content-length"] = str(len(content))
        return httpx.Request(
            method,
            self._url,
            headers=headers,
            cookies=client.cookies,
            stream=httpx.ByteStream(content),
            extensions={"timeout": timeout.as_dict()},
        )

    async def _follow(self, request: httpx.Request, auth: Any) -> httpx.Response:
        left = MAX_REDIRECTS
        while True:
            response = await self._client.send(
                request, stream=True, auth=auth, follow_redirects=False
            )
            following = response.next_request
            if following is None or not left or not stays_at_home(request, following):
                return response
            await response.aclose()
            request, left = following, left - 1

    # -- bodies --------------------------------------------------------------------

    async def read_json(self, response: httpx.Response) -> list[object] | Malformed:
        """Return the messages in a JSON body: one, or one a line as some have it.

        Raises:
            TooLarge: It is longer than the limit.
        """
        body = await _read(response, self._options.max_message_size)
        whole = from_json(body)
        if not isinstance(whole, Malformed):
            return [whole]
        lines = [from_json(line) for line in body.split(b"\n") if line.strip()]
        broken = any(isinstance(line, Malformed) for line in lines)
        return whole if broken or not lines else lines

    async def read_events(
        self,
        response: httpx.Response,
        cursor: Cursor,
        deliver: Callable[[SentEvent], bool],
    ) -> bool:
        """Hand over the events of a stream until one is the last.

        Args:
            response: The response whose body is the stream.
            cursor: Is moved on with each event.
            deliver: Takes an event; ``True`` when nothing more is awaited.

        Returns:
            Whether the last one has come; ``False`` when the stream ended first.

        Raises:
            TooLarge: An event is longer than the limit.
        """
        decoder = EventDecoder(self._options.max_message_size)
        ready = self._options.ready
        async with _chunks(response) as chunks:
            async for chunk in chunks:
                if _hand_over(decoder.feed(chunk), cursor, deliver):
                    await _drain(chunks)
                    return True
                if ready is not None:
                    await ready()
        return _hand_over(decoder.end(), cursor, deliver)

    # -- refusals ------------------------------------------------------------------

    async def refused(
        self, response: httpx.Response, session: Callable[[int, object], SessionState]
    ) -> ExchangeFault:
        """Return what a response says that is neither a reply nor an acceptance.

        Args:
            response: The response; its body is read for a JSON-RPC error.
            session: Says, from the status and the error, what has become of the
                session that the request has named.
        """
        location = _location(response)
        error = None
        if location is None and not response.is_success:
            error = await _error_in(response)
        # Nothing may come between what is said of the session and its being told: a
        # call that hears of the loss first would be sent again without a session.
        await response.aclose()
        status = response.status_code
        if location is not None:
            reason = f"HTTP {status} leads to {location}, which was not followed"
        else:
            reason = f"HTTP {status} {response.reason_phrase}".rstrip()
        return ExchangeFault(
            fault=Fault.HTTP,
            reason=reason,
            http=facts(response),
            error=error,
            credentials=any(name in response.request.headers for name in _CREDENTIALS),
            session=session(status, error),
        )


def facts(response: httpx.Response) -> HttpFacts:
    """Return what HTTP says, for an error."""
    return HttpFacts(
        response.status_code,
        response.headers.get("www-authenticate"),
        response.headers.get("retry-after"),
    )


def content_type(response: httpx.Response) -> str:
    """Return the media type of a response, without parameters."""
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


def _hand_over(
    events: list[SentEvent], cursor: Cursor, deliver: Callable[[SentEvent], bool]
) -> bool:
    done = False
    for event in events:
        cursor.note(event)
        done = deliver(event) or done
    return done


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    # A stream that is left before its end costs its connection.
    left = MAX_REST
    with anyio.move_on_after(DRAIN_TIMEOUT):
        async for chunk in chunks:
            left -= len(chunk)
            if left < 0:
                return


def _chunks(response: httpx.Response) -> aclosing[AsyncGenerator[bytes]]:
    # What is not encoded need not go through the decoders. The type differs by line.
    encoded = "content-encoding" in response.headers
    chunks: Any = response.aiter_bytes() if encoded else response.stream
    return aclosing(aiter(chunks))


async def _read(response: httpx.Response, limit: int | None) -> bytes:
    parts: list[bytes] = []
    size = 0
    async with _chunks(response) as chunks:
        async for chunk in chunks:
            parts.append(chunk)
            size += len(chunk)
            if limit is not None and size > limit:
                raise TooLarge(limit)
    return b"".join(parts)


async def _error_in(response: httpx.Response) -> dict[str, Any] | None:
    # Servers forget the content type of an error, so the body alone counts.
    try:
        body = from_json(await _read(response, MAX_ERROR_BODY))
    except TooLarge:
        return None
    error = body.get("error") if is_object(body) else None
    return error if is_object(error) and is_error(error) else None


def stays_at_home(request: Any, following: Any) -> bool:
    """Tell whether a redirect leads to where the request was meant for."""
    old, new = request.url, following.url
    same = (old.scheme, old.host, old.port) == (new.scheme, new.host, new.port)
    upgrade = (old.scheme, new.scheme) == ("http", "https") and (
        (old.host, old.port, None) == (new.host, None, new.port)
    )
    kept = following.method == request.method
    return kept and (same or upgrade) and new.userinfo in {b"", old.userinfo}


def _location(response: httpx.Response) -> str | None:
    following = response.next_request
    if following is None:
        return None
    return str(following.url.copy_with(userinfo=b"", query=None, fragment=None))
