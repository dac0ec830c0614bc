"""The lean way over HTTP does what the HTTP library does."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from mcp_anyera._sdk import httpx
from mcp_anyera.bridge.lean import LeanChannel, fits
from mcp_anyera.transports.http import HttpOptions
from mcp_anyera.transports.http.channel import Channel, Cursor

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Server:
    """A server that is its bytes: it says one thing to each request."""

    def __init__(self, *replies: bytes) -> None:
        self._replies = list(replies)
        self.heard: list[bytes] = []
        self.connections = 0
        self.url = ""

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lines = head.lower().split(b"\r\n")
                sizes = [x for x in lines if x.startswith(b"content-length:")]
                size = int(sizes[0].split(b":")[1]) if sizes else 0
                self.heard.append(head + await reader.readexactly(size))
                reply = self._replies.pop(0)
                writer.write(reply)
                await writer.drain()
                if b"connection: close" in reply.lower() or not reply:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving(*replies: bytes) -> AsyncGenerator[Server]:
    server = Server(*replies)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/mcp?a=b"
    async with asyncio.timeout(20), listener:
        yield server


@asynccontextmanager
async def channel(server: Server, headers: dict[str, str]) -> AsyncGenerator[Channel]:
    async with LeanChannel(server.url, HttpOptions(headers=headers)) as lean:
        yield lean


def sized(body: bytes, more: bytes = b"") -> bytes:
    return OK + more + b"Content-Length: %d\r\n\r\n" % len(body) + body


async def post(lean: Channel, body: bytes = b"{}") -> list[object] | object:
    response = await lean.send("POST", {"X-Of-Request": "1"}, body)
    try:
        return await lean.read_json(response)
    finally:
        await response.aclose()


async def test_requests_wear_what_they_were_given_and_share_a_connection() -> None:
    async with serving(sized(b"1"), sized(b"2")) as server:
        async with channel(server, {"X-Of-Caller": "é"}) as lean:
            assert await post(lean, b'{"a":1}') == [1]
            assert await post(lean) == [2]
    assert server.connections == 1
    first = server.heard[0]
    assert first.startswith(b"POST /mcp?a=b HTTP/1.1\r\n")
    assert first.endswith(b'\r\n\r\n{"a":1}')
    for line in (b"host: 127.0.0.1:", b"x-of-request: 1", "x-of-caller: é".encode()):
        assert line in first.lower()


@pytest.mark.parametrize(
    "reply",
    [
        OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n1\r\n]\r\n0\r\n\r\n",
        OK + b"Connection: close\r\n\r\n[1]",
        b"HTTP/1.1 103 Early Hints\r\n\r\n" + sized(b"[1]"),
        sized(gzip.compress(b"[1]"), b"Content-Encoding: gzip\r\n"),
    ],
)
async def test_bodies_come_in_every_form(reply: bytes) -> None:
    async with serving(reply, sized(b"2")) as server, channel(server, {}) as lean:
        assert await post(lean) == [[1]]
        assert await post(lean) == [2]


async def test_a_large_body_comes_whole_and_in_order() -> None:
    body = b"[" + b",".join(b"%d" % n for n in range(500_000)) + b"]"
    async with serving(sized(body)) as server, channel(server, {}) as lean:
        assert await post(lean) == [list(range(500_000))]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (b"", "Protocol|ReadError"),
        (b"nonsense\r\n\r\n", "RemoteProtocolError"),
        (
            OK + b"Content-Length: 9\r\nConnection: close\r\n\r\n[1",
            "Protocol|ReadError",
        ),
        (sized(b"x", b"Content-Encoding: br\r\n"), "DecodingError"),
    ],
)
async def test_what_breaks_raises_the_librarys_own_errors(
    reply: bytes, error: str
) -> None:
    async with serving(reply, sized(b"2")) as server, channel(server, {}) as lean:
        with pytest.raises(httpx.HTTPError) as caught:
            await post(lean)
        assert any(word in type(caught.value).__name__ for word in error.split("|"))
        assert await post(lean) == [2]


async def test_nobody_who_listens_is_a_connect_error() -> None:
    async with serving() as server:
        pass
    async with channel(server, {}) as lean:
        with pytest.raises(httpx.ConnectError):
            await post(lean)


async def test_a_response_that_is_left_early_costs_its_connection() -> None:
    endless = OK + b"Content-Length: 1000\r\n\r\n["
    async with serving(endless, sized(b"2")) as server, channel(server, {}) as lean:
        response = await lean.send("POST", {}, b"{}")
        await response.aclose()
        assert await post(lean) == [2]
    assert server.connections == 2


async def test_redirects_are_followed_at_home_and_nowhere_else() -> None:
    def to(place: bytes, status: bytes = b"307 Moved") -> bytes:
        head = b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\nLocation: "
        return head + place + b"\r\n\r\n"

    away = to(b"https://elsewhere.example/mcp?token=x")
    changed = to(b"/other", b"302 Found")
    async with serving(to(b"/other"), sized(b"1"), away, changed) as server:
        async with channel(server, {}) as lean:
            assert await post(lean, b"body") == [1]
            assert server.heard[1].startswith(b"POST /other HTTP/1.1")
            assert server.heard[1].endswith(b"body")
            for place in ("https://elsewhere.example/mcp", "/other"):
                response = await lean.send("POST", {}, b"{}")
                assert response.next_request is not None
                fault = await lean.refused(response, lambda *_: None)  # type: ignore[arg-type,return-value]
                assert "which was not followed" in fault.reason
                assert place in fault.reason
                assert "token" not in fault.reason
                await response.aclose()


async def test_a_stream_is_read_on_when_whoever_hears_it_is_ready() -> None:
    event = b'event: message\ndata: {"x":"%s"}\n\n' % (b"x" * 1000)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    body = event * 20_000
    reply = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    ready = asyncio.Event()
    waiting = asyncio.Event()
    heard = 0

    async def wait() -> None:
        waiting.set()
        await ready.wait()

    def hear(_event: object) -> bool:
        nonlocal heard
        heard += 1
        return False

    async with serving(reply) as server:
        options = HttpOptions(ready=wait)
        async with LeanChannel(server.url, options) as lean:
            response = await lean.send("POST", {}, b"{}")
            reading = asyncio.ensure_future(lean.read_events(response, Cursor(), hear))
            await waiting.wait()
            assert 0 < heard < 2000
            ready.set()
            assert await reading is False
            assert heard == 20_000
            await response.aclose()


def test_only_plain_http_without_a_proxy_goes_this_way() -> None:
    assert fits("http://127.0.0.1:1/mcp", {})
    assert fits("http://127.0.0.1:1/mcp", {"HTTPS_PROXY": "http://proxy"})
    assert not fits("https://example.com/mcp", {})
    assert not fits("http://user:pass@example.com/mcp", {})
    assert not fits("http://example.com/mcp", {"http_proxy": "http://proxy"})
    assert not fits("http://example.com/mcp", {"ALL_PROXY": "socks5://proxy"})
