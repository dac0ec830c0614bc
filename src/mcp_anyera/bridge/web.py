"""The bridge as a legacy Streamable HTTP server on loopback.

Every client that says ``initialize`` gets a session with a server of its own. Who
may come in: requests whose Host and Origin name this machine, so that no web page
can reach the server through a name of its own, and with the token if one is wanted.

Spec: 2025-11-25 ``basic/transports`` § Streamable HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Generator
from contextlib import suppress
from time import monotonic
from typing import Any, Final, cast
from urllib.parse import urlsplit

import uvicorn
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from mcp_anyera.bridge.options import BridgeOptions
from mcp_anyera.bridge.outlets import Outlet, Outlets
from mcp_anyera.bridge.session import Session
from mcp_anyera.bridge.stdio import ENDING
from mcp_anyera.bridge.writing import written
from mcp_anyera.engine import Message, ToClient, jsonrpc
from mcp_anyera.engine.failures import INTERNAL_ERROR, INVALID_REQUEST
from mcp_anyera.eras import BATCHING_REVISION, LEGACY_REVISIONS
from mcp_anyera.transports.background import Background
from mcp_anyera.transports.wire import Malformed, from_json

logger: logging.Logger = logging.getLogger("mcp_anyera.bridge")

PATH: Final = "/mcp"
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
STREAM_AFTER: Final = 1.0
"""Seconds before a call that takes longer gets a stream, so that it can be seen."""
IDLE_TIMEOUT: Final = 1800.0
"""Seconds after which a session ends that has nothing open."""
_SWEEP: Final = 30.0
_PARSE_ERROR: Final = -32700
_EVENTS: Final = "text/event-stream"
_SESSION: Final = "mcp-session-id"


def serve_http(options: BridgeOptions, port: int, token: str | None) -> int:
    """Serve any number of clients on loopback until a signal ends it.

    Args:
        options: The server, and how to deal with it.
        port: The port of 127.0.0.1; 0 takes a free one, which stderr names.
        token: What clients have to show as bearer token; ``None`` for nothing.

    Returns:
        The exit status: 1 when the port cannot be had, 128 and the number of the
        signal that ended it otherwise.
    """
    # asyncio sends small packets at once only where the protocol is spelt out.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        print(f"anyera: port {port}: {error}", file=sys.stderr)  # noqa: T201
        return 1
    listener.listen()
    return asyncio.run(_serve(App(options, token), listener))


async def _serve(app: App, listener: socket.socket) -> int:
    config = uvicorn.Config(
        app, log_config=None, access_log=False, timeout_graceful_shutdown=1
    )
    server = _Server(config)
    status = 0

    def end(number: int) -> None:
        nonlocal status
        status = 128 + number
        ending.set()

    ending = asyncio.Event()
    for number in ENDING:
        with suppress(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(number, end, number)
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    sweeping = asyncio.ensure_future(app.sweep())
    host, port = listener.getsockname()
    print(  # noqa: T201 - whoever asked for a free port waits for it
        f"anyera: listening on http://{host}:{port}{PATH}", file=sys.stderr, flush=True
    )
    stopped = asyncio.ensure_future(ending.wait())
    await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
    sweeping.cancel()
    # Streams end with their sessions, and the server waits for the streams.
    await app.close()
    server.should_exit = True
    await serving
    stopped.cancel()
    return status


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals to us: sessions have to end first."""
        yield


class App:
    """The ASGI application."""

    def __init__(self, options: BridgeOptions, token: str | None) -> None:
        """Prepare; nothing is started before a client comes."""
        self._options = options
        self._token = token
        self._sessions: dict[str, _WebSession] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            request = Request(scope, receive)
            response = self._refused(request) or await self._answer(request)
            await response(scope, receive, send)

    async def close(self) -> None:
        """End every session."""
        await asyncio.gather(*(one.close() for one in self._sessions.values()))

    async def sweep(self) -> None:
        """End sessions whose clients have gone without a word."""
        while True:
            await asyncio.sleep(_SWEEP)
            for one in list(self._sessions.values()):
                if one.idle_for() > IDLE_TIMEOUT:
                    await self._end(one)

    async def _end(self, session: _WebSession) -> None:
        self._sessions.pop(session.id, None)
        await session.close()

    # -- who may come in -------------------------------------------------------------

    def _refused(self, request: Request) -> Response | None:
        headers = request.headers
        if _host(f"//{headers.get('host', '')}") not in LOOPBACK:
            return _error(403, "the Host header names another machine")
        origin = headers.get("origin")
        if origin is not None and _host(origin) not in LOOPBACK:
            return _error(403, "the Origin header names another machine")
        if self._token is not None and not _same(headers, self._token):
            challenge = {"www-authenticate": "Bearer"}
            return _error(401, "a bearer token is needed", headers=challenge)
        if request.url.path.rstrip("/") != PATH:
            return _error(404, f"there is nothing here; the endpoint is {PATH}")
        version = headers.get("mcp-protocol-version", LEGACY_REVISIONS[0])
        if version not in LEGACY_REVISIONS:
            known = ", ".join(LEGACY_REVISIONS)
            return _error(400, f"MCP-Protocol-Version must be one of {known}")
        return None

    async def _answer(self, request: Request) -> Response:
        if request.method == "POST":
            return await self._post(request)
        if request.method not in {"GET", "DELETE"}:
            headers = {"allow": "GET, POST, DELETE"}
            return _error(405, "use GET, POST or DELETE", headers=headers)
        session = self._named(request)
        if isinstance(session, Response):
            return session
        if request.method == "GET":
            return session.own_stream(request.headers.get("accept", ""))
        await self._end(session)
        return Response(status_code=204)

    def _named(self, request: Request) -> _WebSession | Response:
        name = request.headers.get(_SESSION)
        if name is None:
            return _error(400, "the Mcp-Session-Id header is missing")
        return self._sessions.get(name) or _error(404, "there is no such session")

    # -- POST ------------------------------------------------------------------------

    async def _post(self, request: Request) -> Response:
        body = from_json(await request.body())
        if isinstance(body, Malformed):
            return _error(400, f"the body is no JSON: {body.error}", _PARSE_ERROR)
        if jsonrpc.is_object(body) and body.get("method") == "initialize":
            return await self._open(body)
        session = self._named(request)
        if isinstance(session, Response):
            return session
        if not isinstance(body, list):
            return await session.post([body], request.headers.get("accept", ""))
        if not body or session.revision != BATCHING_REVISION:
            return _error(400, "a batch is legal at 2025-03-26 only, and not empty")
        parts = cast("list[object]", body)
        return await session.post(parts, request.headers.get("accept", ""))

    async def _open(self, initialize: Message) -> Response:
        if not isinstance(jsonrpc.classify(initialize), jsonrpc.Shape) or (
            "id" not in initialize
        ):
            return _error(400, "initialize must be a request")
        session = _WebSession(self._options)
        try:
            await session.start(lambda: self._sessions.pop(session.id, None))
        except OSError as error:
            text = f"{self._options.target} cannot be started: {error}"
            body = {"code": INTERNAL_ERROR, "message": text}
            return _json(jsonrpc.error(initialize["id"], body))
        self._sessions[session.id] = session
        answer = await session.initialize(initialize)
        if "result" not in answer:
            await self._end(session)
            return _json(answer)
        return _json(answer, {_SESSION: session.id})


class _WebSession:
    """One client of the HTTP face, and its server."""

    def __init__(self, options: BridgeOptions) -> None:
        self.id = secrets.token_hex(16)
        self.revision: str | None = None
        self._outlets = Outlets()
        self._session = Session(options, options.wire(), self)
        self._background = Background(self._session.run)
        self._seen = monotonic()

    # -- life ------------------------------------------------------------------------

    async def start(self, on_gone: Any) -> None:
        """Start the server.

        Raises:
            OSError: It cannot be started.
        """
        self._on_gone = on_gone
        await self._background.start()

    async def initialize(self, message: Message) -> Message:
        """Open the connection; return the answer."""
        outlet = self._outlets.open([message])
        self._session.take(message)
        answer = await outlet.first(None)
        assert answer is not None
        if "result" in answer:
            self.revision = answer["result"].get("protocolVersion")
        return answer

    async def close(self) -> None:
        """End the server, and every response that is still open."""
        await self._background.stop()
        self._outlets.close()

    def idle_for(self) -> float:
        """Return for how many seconds nothing was open and nothing came."""
        if self._outlets.busy:
            self._seen = monotonic()
        return monotonic() - self._seen

    # -- what the client hears -------------------------------------------------------

    def hear(self, effect: ToClient) -> None:
        """Put a message where the client reads."""
        self._outlets.put(effect)

    def server_gone(self) -> None:
        """End: the next request learns that there is no such session any more."""
        self._on_gone()
        self._outlets.close()
        self._closing = asyncio.ensure_future(self._background.stop())

    # -- requests --------------------------------------------------------------------

    async def post(self, parts: list[object], accept: str) -> Response:
        """Take what a POST holds, and answer it."""
        self._seen = monotonic()
        for problem in map(jsonrpc.classify, parts):
            if isinstance(problem, str):
                return _error(400, f"the message is malformed: {problem}")
        requests = [jsonrpc.as_message(part) for part in parts if _is_request(part)]
        if not requests:
            for part in parts:
                self._take(part)
            return Response(status_code=202)
        taken = self._outlets.taken(requests)
        if taken is not None:
            # Two responses would wait for one answer.
            text = f"request id {taken!r} is in use by a request that is still open"
            body = {"code": INVALID_REQUEST, "message": text}
            return _json(jsonrpc.error(taken, body))
        outlet = self._outlets.open(requests)
        for part in parts:
            self._take(part)
        return await self._reply(outlet, accept, single=len(parts) == 1)

    def _take(self, part: object) -> None:
        self._session.take(part)
        if not jsonrpc.is_object(part):
            return
        if part.get("method") == "notifications/cancelled":
            self._outlets.cancelled(jsonrpc.params_of(part).get("requestId"))
        elif "method" not in part:
            self._outlets.answered(part.get("id"))

    async def _reply(self, outlet: Outlet, accept: str, *, single: bool) -> Response:
        streams = _EVENTS in accept or "*/*" in accept
        first = None
        if single:
            with suppress(TimeoutError):
                first = await outlet.first(STREAM_AFTER if streams else None)
                while not streams and first is not None and "method" in first:
                    first = await outlet.first(None)
                if first is None:
                    return Response(status_code=202)  # it was cancelled
                if "method" not in first:
                    return _json(first)
        return self._stream(outlet, first)

    def own_stream(self, accept: str) -> Response:
        """Answer a GET with the client's own stream."""
        if _EVENTS not in accept and "*/*" not in accept:
            return _error(406, "Accept must name text/event-stream")
        outlet = self._outlets.open_own()
        if outlet is None:
            return _error(409, "the session has a stream already")
        return self._stream(outlet, None)

    def _stream(self, outlet: Outlet, first: Message | None) -> Response:
        async def events() -> AsyncIterator[bytes]:
            try:
                async for event in outlet.events(first):
                    yield event
            finally:
                self._outlets.left(outlet)
                self._seen = monotonic()

        headers = {"cache-control": "no-cache", _SESSION: self.id}
        return StreamingResponse(events(), media_type=_EVENTS, headers=headers)


def _is_request(part: object) -> bool:
    return jsonrpc.classify(part) is jsonrpc.Shape.REQUEST


def _host(url: str) -> str | None:
    with suppress(ValueError):
        return urlsplit(url).hostname
    return None


def _same(headers: Any, token: str) -> bool:
    kind, _, given = headers.get("authorization", "").partition(" ")
    same = secrets.compare_digest(given.strip().encode(), token.encode())
    return kind.lower() == "bearer" and same


def _json(message: Message, headers: dict[str, str] | None = None) -> Response:
    body = written(message) or ""
    return Response(body.encode(), media_type="application/json", headers=headers)


def _error(
    status: int,
    text: str,
    code: int = INVALID_REQUEST,
    headers: dict[str, str] | None = None,
) -> Response:
    response = _json(jsonrpc.error(None, {"code": code, "message": text}), headers)
    response.status_code = status
    return response
