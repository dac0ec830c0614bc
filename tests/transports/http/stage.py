"""A web server whose every byte is scripted, in the process of the test."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

Json: TypeAlias = dict[str, Any]

HELLO: Json = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}, "logging": {}, "resources": {"subscribe": True}},
    "serverInfo": {"name": "scripted", "version": "1"},
}
DISCOVER: Json = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
DONE: Json = {"content": [{"type": "text", "text": "done"}]}


@dataclass(frozen=True)
class Asked:
    """One HTTP request."""

    verb: str
    path: str
    headers: dict[str, str]
    body: Json
    """The JSON-RPC message; empty for a request without one."""

    @property
    def method(self) -> str | None:
        """The JSON-RPC method, or the verb of a request without a message."""
        return self.body.get("method") if self.body else self.verb

    @property
    def answers(self) -> bool:
        """Whether it is the answer to a question."""
        return "result" in self.body

    def result(self, body: Json) -> Json:
        return {"jsonrpc": "2.0", "id": self.body.get("id"), "result": body}

    def error(self, code: int, **more: Any) -> Json:
        error = {"code": code, "message": "no", **more}
        return {"jsonrpc": "2.0", "id": self.body.get("id"), "error": error}


@dataclass
class Say:
    """What goes back on one request."""

    stream: anyio.abc.ByteStream
    closing: bool = False

    async def raw(self, data: bytes) -> None:
        await self.stream.send(data)

    async def head(self, status: int, headers: dict[str, str]) -> None:
        lines = [
            f"HTTP/1.1 {status} Status",
            *(f"{k}: {v}" for k, v in headers.items()),
        ]
        await self.raw("\r\n".join([*lines, "", ""]).encode())

    async def reply(
        self, status: int, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> None:
        length = {"content-length": str(len(body))}
        await self.head(status, {**length, **(headers or {})})
        await self.raw(body)

    async def json(
        self, body: Any, status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        kind = {"content-type": "application/json"}
        await self.reply(status, json.dumps(body).encode(), {**kind, **(headers or {})})

    async def events(
        self, *events: Any, headers: dict[str, str] | None = None, end: bool = True
    ) -> None:
        """Begin a stream of events; a string is what it is, else it is JSON."""
        kind = {"content-type": "text/event-stream", "connection": "close"}
        await self.head(200, {**kind, **(headers or {})})
        for event in events:
            await self.event(event)
        self.closing = end

    async def event(self, event: Any) -> None:
        text = event if isinstance(event, str) else f"data: {json.dumps(event)}\n\n"
        await self.raw(text.encode())


Script: TypeAlias = Callable[[Asked, Say], Awaitable[None]]


@dataclass
class Stage:
    """A server and what was asked of it."""

    script: Script
    url: str = ""
    asked: list[Asked] = field(default_factory=list[Asked])

    @property
    def methods(self) -> list[str | None]:
        return [asked.method for asked in self.asked]

    def of(self, method: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.method == method]

    async def serve(self, stream: anyio.abc.ByteStream) -> None:
        async with stream:
            buffered = BufferedByteReceiveStream(stream)
            try:
                while await self._one(buffered, stream):
                    pass
            except (
                anyio.IncompleteRead,
                anyio.EndOfStream,
                anyio.BrokenResourceError,
                anyio.ClosedResourceError,
            ):
                return

    async def _one(
        self, buffered: BufferedByteReceiveStream, stream: anyio.abc.ByteStream
    ) -> bool:
        head = (await buffered.receive_until(b"\r\n\r\n", 2**16)).decode()
        first, *lines = head.split("\r\n")
        verb, path, _ = first.split()
        headers = {
            name.lower(): value for name, _, value in (x.partition(": ") for x in lines)
        }
        length = int(headers.get("content-length", 0))
        body = await buffered.receive_exactly(length) if length else b""
        asked = Asked(verb, path, headers, json.loads(body) if body else {})
        self.asked.append(asked)
        say = Say(stream)
        await self.script(asked, say)
        return not say.closing


@asynccontextmanager
async def staged(script: Script) -> AsyncGenerator[Stage]:
    """Serve a script on a free port."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    stage = Stage(script, f"http://127.0.0.1:{port}/mcp")
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, stage.serve)
        yield stage
        tasks.cancel_scope.cancel()


async def modern(asked: Asked, say: Say) -> None:
    """A plain modern server."""
    bodies: dict[str, Json] = {
        "server/discover": DISCOVER,
        "tools/list": {"tools": []},
        "tools/call": DONE,
    }
    body = bodies.get(str(asked.method))
    if asked.verb != "POST":
        await say.reply(405)
    elif body is None or asked.headers.get("mcp-protocol-version") != "2026-07-28":
        data = {"supported": ["2026-07-28"]}
        await say.json(asked.error(-32022, data=data), 400)
    else:
        await say.json(asked.result(body))


async def legacy(
    asked: Asked,
    say: Say,
    session: str | None = "s1",
    version: str = "2025-11-25",
) -> None:
    """A plain legacy server with no stream of its own."""
    if asked.method in {"GET", "DELETE"}:
        await say.reply(405)
    elif asked.method == "initialize":
        handed = {} if session is None else {"mcp-session-id": session}
        hello = {**HELLO, "protocolVersion": version}
        await say.json(asked.result(hello), headers=handed)
    elif session is not None and asked.headers.get("mcp-session-id") is None:
        await say.json(asked.error(-32600), 400)
    elif "id" not in asked.body:
        await say.reply(202)
    else:
        bodies: dict[str, Json] = {"tools/list": {"tools": []}, "tools/call": DONE}
        body = bodies.get(str(asked.method), {})
        await say.json(asked.result(body))
