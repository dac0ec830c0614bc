"""A server over HTTP without an SDK: ``python http_stub.py legacy|modern``.

Says ``listening on URL`` and serves until its stdin ends. A call whose answer is
complete at once gets JSON, any other an event stream.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from stub_server import Conversation, Line

END = b"\r\n\r\n"
SESSION = "mcp-session-id"


class Sessions:
    """The conversations of the server, and the streams that wait for more."""

    def __init__(self, era: str) -> None:
        self._era = era
        self._known = {"": Conversation(era)}
        self.streams: dict[tuple[str, Any], Connection] = {}

    def of(self, name: str, method: str) -> tuple[str, Conversation]:
        """Return the conversation that a message belongs to, and its name."""
        if self._era == "legacy" and method == "initialize":
            name = f"s{len(self._known)}"
            self._known[name] = Conversation(self._era)
        return name, self._known[name]


class Connection(asyncio.Protocol):
    """One connection: requests one after the other, and what they are answered with."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._data = b""
        self._out: Any = None

    def connection_made(self, transport: Any) -> None:
        """Take what to write to."""
        self._out = transport

    def data_received(self, data: bytes) -> None:
        """Serve the requests that are complete."""
        self._data += data
        while (request := self._next()) is not None:
            self._serve(*request)

    def _next(self) -> tuple[str, dict[str, str], bytes] | None:
        head, mark, rest = self._data.partition(END)
        if not mark:
            return None
        first, *lines = head.decode().split("\r\n")
        pairs = (line.split(":", 1) for line in lines)
        headers = {name.lower(): value.strip() for name, value in pairs}
        size = int(headers.get("content-length", 0))
        if len(rest) < size:
            return None
        self._data = rest[size:]
        return first.split(" ", 1)[0], headers, rest[:size]

    def _serve(self, verb: str, headers: dict[str, str], body: bytes) -> None:
        if verb == "GET":
            return self._head("405 Method Not Allowed", "Content-Length: 0")
        if verb != "POST":
            return self._head("200 OK", "Content-Length: 0")
        message = json.loads(body)
        method = message.get("method", "")
        name, conversation = self._sessions.of(headers.get(SESSION, ""), method)
        lines = conversation.receive(message)
        if "id" not in message or not method:
            self._head("202 Accepted", "Content-Length: 0")
            return self._pass_on(name, lines)
        session = (f"Mcp-Session-Id: {name}",) if method == "initialize" else ()
        return self._reply(name, message["id"], lines, *session)

    def _pass_on(self, name: str, lines: list[Line]) -> None:
        for line in lines:
            self._sessions.streams[name, line.call].event(name, line)

    def _reply(self, name: str, key: Any, lines: list[Line], *more: str) -> None:
        if len(lines) == 1 and lines[0].last:
            body = lines[0].text.encode()
            kind = "Content-Type: application/json"
            self._head("200 OK", kind, f"Content-Length: {len(body)}", *more)
            return self._out.write(body)
        kind = "Content-Type: text/event-stream"
        self._head("200 OK", kind, "Transfer-Encoding: chunked", *more)
        self._sessions.streams[name, key] = self
        return self._pass_on(name, lines)

    def event(self, name: str, line: Line) -> None:
        """Send one event, and end the stream after the last."""
        self._chunk(f"event: message\ndata: {line.text}\n\n".encode())
        if line.last:
            del self._sessions.streams[name, line.call]
            self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self._out.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _head(self, status: str, *headers: str) -> None:
        self._out.write("\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode())


async def main(era: str) -> None:
    """Serve until stdin ends."""
    sessions, loop = Sessions(era), asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(sessions), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(f"listening on http://127.0.0.1:{port}/mcp", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
