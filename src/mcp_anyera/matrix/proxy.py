"""A reverse proxy on this machine that writes down what passes.

It stands between a client stack and an HTTP server. Streams pass event by event,
headers as they are; those that carry credentials are not written down. A path of its
own takes orders, such as to start the server again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import anyio
import uvicorn

from mcp_anyera._sdk import httpx
from mcp_anyera.matrix import transcript

ORDERS: Final = "/__matrix__/"
SESSION: Final = "mcp-session-id"
_HOP: Final = {"connection", "transfer-encoding", "keep-alive", "host", "te", "upgrade"}
_SHOWN: Final = {"accept", "content-type", "last-event-id", "www-authenticate"}
"""Headers that are written down, beside those of MCP."""

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Order = Callable[[str], Awaitable[str]]


class Proxy:
    """The application; one for each pair of a client stack and a server."""

    def __init__(self, upstream: str, file: Any) -> None:
        """Prepare it.

        Args:
            upstream: The URL of the server.
            file: Where records go.
        """
        self.upstream = upstream
        self.order: Order | None = None
        self.session: str | None = None
        self._file = file
        timeout = httpx.Timeout(None)
        self._client = httpx.AsyncClient(timeout=timeout, trust_env=False)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        body = await _body(receive)
        if scope["path"].startswith(ORDERS):
            await self._obey(scope["path"].removeprefix(ORDERS), send)
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, receive, tasks.cancel_scope)
            await self._relay(scope, body, send)
            tasks.cancel_scope.cancel()

    async def close(self) -> None:
        """Let go of the connections to the server."""
        await self._client.aclose()

    async def lose_session(self) -> str:
        """Make the server forget the session of the client."""
        if self.session is None:
            return "none"
        self.note("the session is deleted behind the client's back")
        headers = {SESSION: self.session, "accept": "application/json"}
        await self._client.delete(self.upstream, headers=headers)
        return "lost"

    def note(self, text: str) -> None:
        """Write down what happened beside the conversation."""
        self._write("note", {"text": text})

    async def _obey(self, order: str, send: Send) -> None:
        said = "none" if self.order is None else await self.order(order)
        await _reply(send, 200, said)

    async def _watch(self, receive: Receive, scope: anyio.CancelScope) -> None:
        """End the exchange with the server when the client has gone."""
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async def _relay(self, scope: Message, body: bytes, send: Send) -> None:
        request = self._request(scope, body)
        shown = shown_headers(request.headers)
        self._write("out", parsed(body), http=_line(scope), headers=shown)
        try:
            response = await self._client.send(request, stream=True)
        except httpx.HTTPError as error:
            self.note(f"the server cannot be reached: {type(error).__name__}")
            await _reply(send, 502, "no server")
            return
        try:
            await self._answer(response, send)
        finally:
            with anyio.CancelScope(shield=True), contextlib.suppress(Exception):
                await response.aclose()

    def _request(self, scope: Message, body: bytes) -> Any:
        own = urlsplit(self.upstream)
        path = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        query = scope["query_string"].decode("latin-1")
        url = urlunsplit((own.scheme, own.netloc, path, query, ""))
        headers = [
            (name, value)
            for name, value in scope["headers"]
            if name.decode("latin-1") not in {*_HOP, "accept-encoding"}
        ]
        headers.append((b"accept-encoding", b"identity"))
        return self._client.build_request(
            scope["method"], url, headers=headers, content=body
        )

    async def _answer(self, response: Any, send: Send) -> None:
        self.session = response.headers.get(SESSION, self.session)
        headers = [
            (name.lower(), value)
            for name, value in response.headers.raw
            if name.decode("latin-1").lower() not in _HOP
        ]
        status = response.status_code
        start = {"type": "http.response.start", "status": status, "headers": headers}
        await send(start)
        events = "text/event-stream" in response.headers.get("content-type", "")
        shown = shown_headers(response.headers)
        length = None if events else int(response.headers.get("content-length", -1))
        reader = Reader(self._write, f"HTTP {status}", shown, length)
        try:
            with contextlib.suppress(httpx.HTTPError):
                async for part in response.aiter_raw():
                    reader.feed(part)
                    await send(_more(part))
            reader.end()
            await send({"type": "http.response.body", "body": b""})
        except anyio.get_cancelled_exc_class():
            # Closing a stream whose answer has come says nothing.
            if not reader.answered:
                self.note("the client closed the stream")
            raise

    def _write(self, direction: str, message: Any, **more: Any) -> None:
        transcript.write(self._file, time.monotonic(), direction, message, **more)


class Reader:
    """Takes the messages out of a response while it passes."""

    def __init__(
        self, write: Any, line: str, headers: dict[str, str], length: int | None
    ) -> None:
        """Begin with the status line and the headers.

        Args:
            write: Takes each message.
            line: The status line.
            headers: What is shown of the headers.
            length: That of the body, -1 if it is not known, ``None`` for events.
        """
        self._write = write
        self._line = line
        self._headers = headers
        self._length = length
        self._buffer = b""
        self._told = False
        self.answered: bool = False
        """A response of JSON-RPC has passed."""

    def feed(self, part: bytes) -> None:
        """Take some bytes, before they go on to the client."""
        if self._length is not None:
            self._buffer += part
            if len(self._buffer) == self._length:
                self._tell(parsed(self._buffer))
            return
        self._buffer += part.replace(b"\r\n", b"\n")
        while b"\n\n" in self._buffer:
            event, _, self._buffer = self._buffer.partition(b"\n\n")
            lines = event.split(b"\n")
            data = [each[5:].strip() for each in lines if each.startswith(b"data:")]
            if any(data):
                self._tell(parsed(b"\n".join(data)))

    def end(self) -> None:
        """Take the end."""
        if not self._told:
            self._tell(parsed(self._buffer))

    def _tell(self, message: Any) -> None:
        more = {} if self._told else {"http": self._line, "headers": self._headers}
        self._told = True
        self.answered = self.answered or bool({"result", "error"} & set(message))
        self._write("in", message, **more)


def shown_headers(headers: Any) -> dict[str, str]:
    """Return the headers that are worth writing down and no secret."""
    return {
        name.lower(): value
        for name, value in headers.items()
        if name.lower().startswith("mcp-") or name.lower() in _SHOWN
    }


def parsed(body: bytes) -> Any:
    """Return a body as JSON, or as the text that it is."""
    try:
        return json.loads(body)
    except ValueError:
        return {"text": body.decode("utf-8", "replace")}


def _line(scope: Message) -> str:
    return f"{scope['method']} {scope['path']}"


def _more(part: bytes) -> Message:
    return {"type": "http.response.body", "body": part, "more_body": True}


async def _body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


async def _reply(send: Send, status: int, text: str) -> None:
    start: Message = {"type": "http.response.start", "status": status, "headers": []}
    await send(start)
    await send({"type": "http.response.body", "body": text.encode()})


class _Server(uvicorn.Server):
    """Leaves the signals to whoever runs the matrix."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@asynccontextmanager
async def listening(upstream: str, path: Path) -> AsyncGenerator[tuple[Proxy, str]]:
    """Serve a proxy on a free port and yield it with its own origin."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    with path.open("a", encoding="utf-8") as file:
        proxy = Proxy(upstream, file)
        config = uvicorn.Config(
            proxy, log_level="critical", lifespan="off", timeout_graceful_shutdown=1
        )
        server = _Server(config)
        task = asyncio.ensure_future(server.serve(sockets=[listener]))
        try:
            yield proxy, f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            with anyio.CancelScope(shield=True):
                server.should_exit = server.force_exit = True
                await asyncio.wait([task], timeout=5)
                task.cancel()
                await proxy.close()
                listener.close()
