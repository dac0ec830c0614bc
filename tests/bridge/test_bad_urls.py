"""A URL behind which there is no server, or one that fails in the middle of a call."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import anyio
import anyio.abc
import pytest

from tests.bridge.mirror import DISCOVER
from tests.bridge.raw import raw, stderr

EVENTS = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = EVENTS + "Transfer-Encoding: chunked\r\n\r\n8\r\n: hello\n\r\n"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def page(status: str, body: str = "", kind: str = "text/html", more: str = "") -> str:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n{more}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}"


@asynccontextmanager
async def serving(call: str, discover: str | None = None) -> AsyncGenerator[str]:
    """Answer every request with these bytes, and the probe with others if given."""

    async def answer(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                asked = await _request(stream)
                probed = discover is not None and b"server/discover" in asked
                said = discover if probed and discover else call
                await stream.send(said.encode())

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, answer)
        yield f"http://127.0.0.1:{port}/mcp"
        tasks.cancel_scope.cancel()


async def _request(stream: anyio.abc.SocketStream) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
    head, _, body = data.partition(b"\r\n\r\n")
    lines = [line.lower().partition(b":") for line in head.split(b"\r\n")]
    length = next((int(v) for name, _, v in lines if name == b"content-length"), 0)
    while len(body) < length:
        body += await stream.receive()
    return head + body


ELSEWHERE = "Location: https://evil.invalid/login\r\n"


@pytest.mark.parametrize(
    ("said", "named"),
    [
        (page("200 OK", "<html>secret</html>"), "HTTP 200"),
        (page("401 No", more="WWW-Authenticate: Bearer\r\n"), "credentials"),
        (page("403 No", "secret"), "credentials"),
        (page("404 No"), "HTTP 404"),
        (page("500 No", "secret"), "HTTP 500"),
        (page("302 Found", more=ELSEWHERE), "which was not followed"),
        (page("302 Found", more="Location: /mcp\r\n"), "HTTP 302"),
        ("\x15\x03\x01", "could not be asked"),
        ("", "could not be asked"),
    ],
)
async def test_what_is_no_server_is_named_without_secrets(
    said: str, named: str
) -> None:
    async with serving(said) as url:
        header = ["--header", "Authorization: Bearer secret"]
        async with raw(*header, f"{url}?key=secret") as client:
            answer = await client.request("initialize", {"capabilities": {}})
            message = answer["error"]["message"]
            assert f"could not connect to {url}: " in message
            assert named in message
            await client.end()
            log = await stderr(client)
            assert "secret" not in message + log
            assert "Traceback" not in log


@pytest.mark.parametrize(
    "said",
    [
        CHUNKED,
        EVENTS + "Connection: close\r\n\r\ndata: {",
        "nonsense\r\n\r\n",
        "",
        page("200 OK", "<html>"),
        page("200 OK", "{", "application/json"),
        page("200 OK", '{"jsonrpc":"2.0","id":"x","result":{}}', "application/json"),
        page("202 Accepted"),
        page("500 No"),
        page("307 Away", more=ELSEWHERE),
    ],
)
async def test_a_call_that_fails_on_the_way_is_answered_once(said: str) -> None:
    async with serving(said, _discovered()) as url, raw(url) as client:
        assert "result" in await client.initialize()
        answer = await client.call("show")
        assert "error" in answer
        assert "result" in await client.request("ping")
        assert client.heard == []
        assert await client.end() == 0
        assert "Traceback" not in await stderr(client)


def _discovered() -> str:
    # The probe is the first request of a connection.
    body = f'{{"jsonrpc":"2.0","id":1,"result":{DISCOVER}}}'
    return page("200 OK", body, "application/json")
