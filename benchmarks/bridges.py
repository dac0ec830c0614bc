"""The bridges that are compared, the server behind them, and what a process takes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from places import ENVS, PEERS, ROOT, python

IN_FLIGHT = 8
K = "io.modelcontextprotocol/"
META = {
    f"{K}protocolVersion": "2026-07-28",
    f"{K}clientInfo": {"name": "bench", "version": "1"},
    f"{K}clientCapabilities": {},
}
CAPABILITIES = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}


class Straight:
    """The server itself, over one connection that is kept."""

    def __init__(self, url: str) -> None:
        where = urlsplit(url)
        self._socket = socket.create_connection((where.hostname, where.port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = (
            f"POST {where.path} HTTP/1.1\r\nHost: {where.netloc}\r\n"
            "Content-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\n"
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
            "Mcp-Name: echo\r\nContent-Length: "
        )

    def call(self) -> None:
        """Call the tool ``echo``."""
        params = {"name": "echo", "arguments": {"text": "x"}, "_meta": META}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        body = json.dumps(message)
        self._socket.sendall(f"{self._head}{len(body)}\r\n\r\n{body}".encode())
        data = b""
        while not complete(data):
            data += self._socket.recv(65536)
        assert b'"x"' in data, data


def complete(data: bytes) -> bool:
    """Tell whether an HTTP response has come to its end."""
    head, mark, body = data.partition(b"\r\n\r\n")
    if not mark:
        return False
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) >= int(line.split(b":")[1])
    return body.endswith(b"0\r\n\r\n")


class Bridge:
    """A bridge in a process of its own, and a client that speaks lines with it."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._last_id = 0
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": CAPABILITIES,
            "clientInfo": {"name": "bench", "version": "1"},
        }
        self.answer_to(self.start("initialize", params))
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.answer_to(self.start("tools/list", {}))

    def send(self, message: Any) -> None:
        """Write one line."""
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def receive(self) -> Any:
        """Read one line."""
        return json.loads(self._process.stdout.readline())

    def start(self, method: str, params: Any) -> int:
        """Send a request, and return its id."""
        self._last_id += 1
        head = {"jsonrpc": "2.0", "id": self._last_id, "method": method}
        self.send({**head, "params": params})
        return self._last_id

    def answer_to(self, request_id: int, ask: Callable[[Any], None] | None = None):  # noqa: ANN201 - JSON
        """Return the answer to a request; questions are answered on the way."""
        while True:
            message = self.receive()
            if "method" not in message and message["id"] == request_id:
                return message
            if "method" in message and "id" in message and ask is not None:
                ask(message)

    def tool(self, name: str, ask: Any = None, **arguments: Any) -> Any:
        """Call a tool."""
        params = {"name": name, "arguments": arguments}
        return self.answer_to(self.start("tools/call", params), ask)

    def call(self) -> None:
        """Call the tool ``echo``."""
        assert "result" in self.tool("echo", text="x")

    def calls_a_second(self, seconds: float) -> float:
        """Call with several in flight, for so long."""
        begun, params = time.perf_counter(), {"name": "echo", "arguments": {"text": ""}}
        for _ in range(IN_FLIGHT):
            self.start("tools/call", params)
        waiting, done, took = IN_FLIGHT, 0, 0.0
        while waiting:
            assert "result" in self.receive()
            waiting, done, took = waiting - 1, done + 1, time.perf_counter() - begun
            if took < seconds:
                self.start("tools/call", params)
                waiting += 1
        return done / took

    def memory(self) -> float:
        """Return the memory of the bridge and of what it runs in, in MB."""
        tree = [self._process.pid, *children(self._process.pid)]
        return sum(map(resident, tree))

    def memory_alone(self) -> float:
        """Return the memory of the bridge without its children, in MB."""
        return resident(self._process.pid)

    def cpu(self) -> float:
        """Return the processor time of the bridge so far, in seconds."""
        tree = [self._process.pid, *children(self._process.pid)]
        return sum(map(processor, tree))

    def close(self) -> None:
        """End it."""
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def resident(pid: int) -> float:
    """Return the resident memory of a process in MB; 0 where nobody knows."""
    path = Path(f"/proc/{pid}/statm")
    if not path.exists():
        return 0.0
    return int(path.read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def processor(pid: int) -> float:
    """Return the processor time of a process in seconds; 0 where nobody knows."""
    path = Path(f"/proc/{pid}/stat")
    if not path.exists():
        return 0.0
    words = path.read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def node() -> str:
    """Return the interpreter for programs in JavaScript."""
    script = [sys.executable, str(ROOT / "scripts" / "envs.py"), "node"]
    return subprocess.run(script, capture_output=True, text=True, check=True).stdout[
        :-1
    ]


@contextmanager
def server(log: Path) -> Iterator[str]:
    """Serve a modern-only server over HTTP, and yield its URL."""
    home = ENVS / "peer-ts-2.4-modern"
    source = PEERS / "ts-2.4-modern" / "server.mjs"
    program = home / "server.mjs"
    program.write_text(source.read_text())
    env = {**os.environ, "PEER_LOG": str(log)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    command = [node(), str(program), "--http"]
    with subprocess.Popen(command, env=env, text=True, **pipes) as process:
        yield process.stdout.readline().split()[-1]
        process.kill()


def commands(line: str, url: str) -> dict[str, list[str]]:
    """Return the command of each bridge."""
    proxy = ENVS / "bench-mcp-remote" / "node_modules" / "mcp-remote" / "dist/proxy.js"
    remote = [node(), str(proxy), url, "--allow-http", "--protocol", "auto"]
    fastmcp = ROOT / "benchmarks" / "peers" / "fastmcp_proxy.py"
    return {
        "anyera bridge": [python(line), "-m", "mcp_anyera", "bridge", url],
        "mcp-remote": [*remote, "--transport", "http-only"],
        "FastMCP proxy": [python("peer-fastmcp-4"), str(fastmcp), url],
    }
