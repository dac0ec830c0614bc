"""The HTTP client that requests go through: the caller's own, or one of ours."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Self

from mcp_anyera.transports.http.library import httpx

if TYPE_CHECKING:
    import ssl

CONNECT_TIMEOUT: Final = 30.0
READ_TIMEOUT: Final = 300.0
"""Seconds; as the SDK's own HTTP client. A server that is alive sends comments."""
KEEPALIVE: Final = 100
MAX_MESSAGE_SIZE: Final = 64 * 2**20
"""Bytes of one JSON body or one event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """How to talk to one URL."""

    client: httpx.AsyncClient | None = field(default=None, repr=False)
    """The caller's own, used as it is and left open; ``None`` makes one."""
    make: Callable[[], httpx.AsyncClient] | None = field(default=None, repr=False)
    """Makes the client, which is closed at the end."""
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    auth: Any = field(default=None, repr=False)
    """What httpx takes; ``None`` leaves it to the client."""
    terminate_on_close: bool = True
    """Whether a legacy session is deleted at the end."""
    max_message_size: int | None = MAX_MESSAGE_SIZE
    channel: Callable[[str, HttpOptions], Any] | None = field(default=None, repr=False)
    """Makes what sends the requests, to be entered; ``None`` takes the HTTP library."""
    ready: Callable[[], Awaitable[None]] | None = field(default=None, repr=False)
    """Is waited for before more of an event stream is read; ``None`` never waits."""

    @property
    def caller(self) -> Any:
        """What a server may tell callers apart by, to be hashed and never shown."""
        own = {} if self.client is None else dict(self.client.headers)
        login = None if self.auth is None else type(self.auth).__qualname__
        return [own, dict(self.headers or {}), login]

    def open(self) -> httpx.AsyncClient:
        """Return the client to use."""
        if self.client is not None:
            return self.client
        return new_client() if self.make is None else self.make()

    def lend(self, client: httpx.AsyncClient) -> Borrowed:
        """Return a client for somebody who knows nothing of these options."""
        return Borrowed(client, self)


def new_client() -> httpx.AsyncClient:
    """Return a client as MCP needs it: patient with streams, as many as asked for."""
    return httpx.AsyncClient(
        timeout=httpx.Timeout(CONNECT_TIMEOUT, read=READ_TIMEOUT),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=KEEPALIVE),
        verify=_trusted(*map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR"))),
    )


@lru_cache(maxsize=4)
def _trusted(*places: str | None) -> ssl.SSLContext:
    # Loading the certificates takes longer than opening a connection, and most of a
    # megabyte; the HTTP library would do both for each client.
    del places  # it looks at them itself
    return httpx.create_ssl_context()


class Borrowed:
    """A client for somebody who closes what he is given, and must not close this.

    It has what the SDK's transports use of a client, and adds the caller's headers
    and credentials to every request.
    """

    def __init__(self, client: httpx.AsyncClient, options: HttpOptions) -> None:
        """Lend a client."""
        self._client = client
        self._headers = dict(options.headers or {})
        self._auth: dict[str, Any] = {}
        if options.auth is not None:
            self._auth = {"auth": options.auth}

    def __getattr__(self, name: str) -> Any:
        """Return what the client has."""
        return getattr(self._client, name)

    def _with_headers(self, options: dict[str, Any]) -> dict[str, Any]:
        return {**options, "headers": {**self._headers, **(options["headers"] or {})}}

    def build_request(
        self, method: str, url: Any, *, headers: Any = None, **options: Any
    ) -> Any:
        """Build a request as the client does."""
        options = self._with_headers({**options, "headers": headers})
        return self._client.build_request(method, url, **options)

    def send(self, request: Any, **options: Any) -> Any:
        """Send a request as the client does."""
        return self._client.send(request, **{**self._auth, **options})

    def stream(
        self, method: str, url: Any, *, headers: Any = None, **options: Any
    ) -> Any:
        """Open a stream as the client does."""
        options = self._with_headers({**self._auth, **options, "headers": headers})
        return self._client.stream(method, url, **options)

    def post(self, url: Any, *, headers: Any = None, **options: Any) -> Any:
        """Post as the client does."""
        options = self._with_headers({**self._auth, **options, "headers": headers})
        return self._client.post(url, **options)

    async def __aenter__(self) -> Self:
        """Return the loan."""
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """Leave the client open."""


def bare_url(url: str) -> str:
    """Return a URL as errors may show it: without user, query and fragment."""
    scheme, mark, rest = url.partition("://")
    place = rest.partition("?")[0].partition("#")[0]
    return f"{scheme}{mark}{place[place.partition('/')[0].rfind('@') + 1 :]}"
