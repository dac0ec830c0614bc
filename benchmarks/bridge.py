"""``anyera bridge`` beside ``mcp-remote --protocol auto``, before one modern server.

``python benchmarks/bridge.py [LINE...]`` (``sdk1``, ``sdk2``; both when omitted)
prints a table for each line. Everything is measured in turns in one run, by a client
that is nothing but lines, so that only the bridges differ; what a bridge adds is the
time of a call through it less the time of the same call sent straight to the server.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
ENVS = ROOT / ".envs"
TURNS, CALLS, IN_FLIGHT = 12, 60, 8
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

    def calls_a_second(self, count: int) -> float:
        """Call with several in flight."""
        begun, params = time.perf_counter(), {"name": "echo", "arguments": {"text": ""}}
        for _ in range(IN_FLIGHT):
            self.start("tools/call", params)
        for done in range(count):
            assert "result" in self.receive()
            if done < count - IN_FLIGHT:
                self.start("tools/call", params)
        return count / (time.perf_counter() - begun)

    def memory(self) -> float:
        """Return the memory of the bridge and of what it runs in, in MB."""
        tree = [self._process.pid, *children(self._process.pid)]
        return sum(map(resident, tree))

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
    source = ROOT / "compat-matrix" / "peers" / "ts-2.4-modern" / "server.mjs"
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
    python = str(ENVS / line / "bin" / "python")
    proxy = ENVS / "bench-mcp-remote" / "node_modules" / "mcp-remote" / "dist/proxy.js"
    remote = [node(), str(proxy), url, "--allow-http", "--protocol", "auto"]
    return {
        "anyera bridge": [python, "-m", "mcp_anyera", "bridge", url],
        "mcp-remote": [*remote, "--transport", "http-only"],
    }


def percentile(times: list[float], share: float) -> float:
    """Return the time, in milliseconds, that this share of the calls stays below."""
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] * 1000


def timed(call: Callable[[], None]) -> float:
    """Return how long something takes."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def latencies(ways: dict[str, Any]) -> dict[str, list[float]]:
    """Measure calls one after the other, the ways in turns."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(TURNS + 1):
        for name, way in ways.items():
            took = [timed(way.call) for _ in range(CALLS)]
            times[name] += took if turn else []  # the first turn warms up
    return times


def throughput(ways: dict[str, Any]) -> dict[str, float]:
    """Measure calls with several in flight, the ways in turns; the best counts."""
    best = dict.fromkeys(ways, 0.0)
    for _ in range(6):
        for name, way in ways.items():
            best[name] = max(best[name], way.calls_a_second(300))
    return best


def three_questions(bridge: Bridge) -> str:
    """Return how long three questions take of which each takes half a second."""
    results: dict[str, Any] = {
        "elicitation/create": {"action": "accept", "content": {"name": "Ada"}},
        "roots/list": {"roots": []},
        "sampling/createMessage": {
            "role": "assistant",
            "model": "m",
            "content": {"type": "text", "text": "s"},
        },
    }

    def ask(question: Any) -> None:
        result = results[question["method"]]
        reply = {"jsonrpc": "2.0", "id": question["id"], "result": result}
        threading.Timer(0.5, bridge.send, [reply]).start()

    begun = time.perf_counter()
    answer = bridge.tool("three_questions", ask)
    took = f"{time.perf_counter() - begun:.2f} s"
    return took if "result" in answer else "fails"


def page(bridge: Bridge) -> str:
    """Return what becomes of a question that shows a page."""

    def ask(question: Any) -> None:
        reply = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}
        bridge.send(reply)

    answer = bridge.tool("link_account", ask)
    return "works" if "result" in answer else "refused"


def patience(bridge: Bridge) -> str:
    """Return how long five legs take that bring nothing but state."""
    begun = time.perf_counter()
    answer = bridge.tool("patience", legs=5)
    took = f"{time.perf_counter() - begun:.2f} s"
    return took if "result" in answer else "fails"


def cancel(bridge: Bridge, log: Path) -> str:
    """Return whether the handler of the server ends with its call."""
    log.write_text("")
    key = bridge.start("tools/call", {"name": "slow", "arguments": {"seconds": 5}})
    wait_for(log, "started slow")
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    bridge.send({**note, "params": {"requestId": key}})
    return "stops" if wait_for(log, "cancelled slow") else "runs on"


def wait_for(log: Path, text: str) -> bool:
    """Wait for a line of the server's log, for a short time."""
    until = time.monotonic() + 2
    while time.monotonic() < until:
        if text in log.read_text():
            return True
        time.sleep(0.01)
    return False


def first_line(command: list[str]) -> float:
    """Return how long a bridge takes from its start to the answer to a ping."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    begun = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **pipes) as process:
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        process.stdout.readline()
        took = time.perf_counter() - begun
        process.stdin.close()
    return took


def median(times: list[float]) -> float:
    """Return the middle one."""
    return sorted(times)[len(times) // 2]


def measure(line: str) -> None:
    """Print the table of one SDK line."""
    with tempfile.TemporaryDirectory() as folder, server(Path(folder) / "log") as url:
        python = str(ENVS / line / "bin" / "python")
        starts = commands(line, url)
        opened = {n: median([opening(c) for _ in range(3)]) for n, c in starts.items()}
        ready = median([first_line(starts["anyera bridge"]) for _ in range(7)])
        plain = [python, "-c", "import mcp"]
        sdk = median([timed(lambda: run(plain)) for _ in range(7)])
        bridges = {name: Bridge(command) for name, command in starts.items()}
        try:
            rows = table(bridges, Straight(url), Path(folder) / "log")
        finally:
            for bridge in bridges.values():
                bridge.close()
    print(f"\n| {line} | anyera bridge | mcp-remote | ratio | target | |")
    print("|---|--:|--:|--:|--:|---|")
    show("opening, s", opened, "", None)
    for name, figures, form, most, higher in rows:
        show(name, figures, form, most, higher=higher)
    ratio = ready / sdk
    met = "met" if ratio <= 0.5 else "**missed**"
    print(
        f"| first line read, beside `import mcp` | {ready * 1000:.0f} ms "
        f"| {sdk * 1000:.0f} ms | {ratio:.2f} × | 0.50 × | {met} |",
        flush=True,
    )


def run(command: list[str]) -> None:
    """Run a program to its end."""
    subprocess.run(command, check=True)


def opening(command: list[str]) -> float:
    """Return how long it takes from the start to the list of tools."""
    begun = time.perf_counter()
    bridge = Bridge(command)
    took = time.perf_counter() - begun
    bridge.close()
    return took


def table(
    bridges: dict[str, Bridge], straight: Straight, log: Path
) -> list[tuple[str, dict[str, Any], str, float | None, bool]]:
    """Measure what is compared; return the rows."""
    before = {name: bridge.cpu() for name, bridge in bridges.items()}
    times = latencies({"straight": straight, **bridges})
    calls = (TURNS + 1) * CALLS
    cpu = {n: (b.cpu() - before[n]) / calls * 1000 for n, b in bridges.items()}
    alone = {share: percentile(times["straight"], share) for share in (0.5, 0.99)}
    print(f"the server alone: p50 {alone[0.5]:.2f} ms, p99 {alone[0.99]:.2f} ms")
    added = {
        share: {n: percentile(times[n], share) - alone[share] for n in bridges}
        for share in (0.5, 0.99)
    }
    rate = throughput(bridges)
    lines: list[tuple[str, Any]] = [
        ("three questions of 0.5 s", three_questions),
        ("a page to visit", page),
        ("five legs of patience", patience),
        ("a cancelled handler", lambda bridge: cancel(bridge, log)),
    ]
    said = [(name, {n: what(b) for n, b in bridges.items()}) for name, what in lines]
    return [
        ("added to a call, p50, ms", added[0.5], ".2f", 0.5, False),
        ("added to a call, p99, ms", added[0.99], ".2f", 0.5, False),
        ("processor time of a call, ms", cpu, ".2f", None, False),
        ("calls a second, 8 in flight", rate, ".0f", 1.5, True),
        ("memory, MB", {n: b.memory() for n, b in bridges.items()}, ".0f", 1.0, False),
        *((name, words, "", None, False) for name, words in said),
    ]


def show(
    name: str,
    figures: dict[str, Any],
    form: str,
    target: float | None,
    *,
    higher: bool = False,
) -> None:
    """Print one row."""
    ours, theirs = figures["anyera bridge"], figures["mcp-remote"]
    if isinstance(ours, str):
        print(f"| {name} | {ours} | {theirs} | | | |")
        return
    ratio, form = ours / theirs if theirs else 0.0, form or ".2f"
    wanted = verdict = ""
    if target is not None:
        wanted = f"{target:.2f} ×"
        good = ratio >= target if higher else ratio <= target
        verdict = "met" if good else "**missed**"
    figures = f"{ours:{form}} | {theirs:{form}} | {ratio:.2f} ×"
    print(f"| {name} | {figures} | {wanted} | {verdict} |")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or ["sdk1", "sdk2"]:
        measure(chosen)
