"""``anyera bridge`` beside other bridges, before one modern server.

``python bridge.py SCALE LINE`` measures with the bridge of one line and prints JSON.
Everything is measured in turns, by a client that is nothing but lines, so that only the
bridges differ; what a bridge adds is the time of a call through it less the time of the
same call sent straight to the server. The stub answers at once and shows what the
bridges can do; the server in TypeScript asks questions, and shows what users see.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bridges import Bridge, Straight, commands, server
from places import http_stub, listening, python

TURNS, CALLS, STARTS = 60, 12, 7
SECONDS = 0.7
"""How long one turn of calls in flight takes."""


@contextmanager
def opened(line: str, url: str) -> Iterator[dict[str, Bridge]]:
    """Start every bridge to a server."""
    bridges = {name: Bridge(command) for name, command in commands(line, url).items()}
    try:
        yield bridges
    finally:
        for bridge in bridges.values():
            bridge.close()


def timed(call: Callable[[], object]) -> float:
    """Return how long something takes, in seconds."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def latencies(ways: dict[str, Any], turns: int) -> dict[str, list[float]]:
    """Measure calls one after the other, the ways in turns."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(turns + 1):
        for name, way in ways.items():
            took = [timed(way.call) for _ in range(CALLS)]
            times[name] += took if turn else []  # the first turn warms up
    return times


def throughput(bridges: dict[str, Bridge], turns: int) -> dict[str, float]:
    """Measure calls with several in flight, in turns; the median counts."""
    rates: dict[str, list[float]] = {name: [] for name in bridges}
    for _ in range(turns):
        for name, bridge in bridges.items():
            rates[name].append(bridge.calls_a_second(SECONDS))
    return {name: median(some) for name, some in rates.items()}


def cost(bridges: dict[str, Bridge], url: str, scale: float) -> dict[str, Any]:
    """Return what each bridge adds to a call, takes of the machine, and gets done."""
    turns = max(4, round(TURNS * scale))
    before = {name: bridge.cpu() for name, bridge in bridges.items()}
    times = latencies({"straight": Straight(url), **bridges}, turns)
    calls = (turns + 1) * CALLS
    cpu = {n: (b.cpu() - before[n]) / calls * 1000 for n, b in bridges.items()}
    rate = throughput(bridges, max(3, round(7 * scale)))
    middle = {name: median(some) * 1000 for name, some in times.items()}
    slow = {name: quantiles(some, n=100)[98] * 1000 for name, some in times.items()}
    figures = {
        name: {
            "p50 added, ms": middle[name] - middle["straight"],
            "p99 added, ms": slow[name] - slow["straight"],
            "processor, ms": cpu[name],
            "calls a second, 8 in flight": rate[name],
            "memory, MB": bridge.memory(),
        }
        for name, bridge in bridges.items()
    }
    return figures | {"straight": {"p50, ms": middle["straight"]}}


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
    return took if worked(answer) else "fails"


def page(bridge: Bridge) -> str:
    """Return what becomes of a question that shows a page."""

    def ask(question: Any) -> None:
        reply = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}
        bridge.send(reply)

    return "works" if worked(bridge.tool("link_account", ask)) else "refused"


def patience(bridge: Bridge) -> str:
    """Return how long five legs take that bring nothing but state."""
    begun = time.perf_counter()
    answer = bridge.tool("patience", legs=5)
    took = f"{time.perf_counter() - begun:.2f} s"
    return took if worked(answer) else "fails"


def worked(answer: Any) -> bool:
    """Tell whether an answer is the tool's result."""
    return "result" in answer and not answer["result"].get("isError")


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


def outcomes(bridge: Bridge, log: Path) -> dict[str, str]:
    """Return what becomes of questions, pages, patience and cancellations."""
    return {
        "three questions of 0.5 s": three_questions(bridge),
        "a page to visit": page(bridge),
        "five legs of patience": patience(bridge),
        "a cancelled handler": cancel(bridge, log),
    }


def first_line(command: list[str]) -> float:
    """Return how long a bridge takes from its start to the answer to a ping."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        begun = time.perf_counter()
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        process.stdout.readline()
        took = time.perf_counter() - begun
        process.stdin.close()
    return took


def starts(line: str, url: str) -> dict[str, float]:
    """Return how long it takes until each is ready, in milliseconds, in turns."""
    ours = commands(line, url)["anyera bridge"]
    ways: dict[str, Callable[[], float]] = {
        "first line": lambda: timed(lambda: first_line(ours)),
        "import mcp": lambda: timed(lambda: run([python(line), "-c", "import mcp"])),
        "import mcp_anyera.Client": lambda: timed(
            lambda: run([python(line), "-c", "from mcp_anyera import Client"])
        ),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(STARTS):
        for name, way in ways.items():
            times[name].append(way())
    return {name: median(some) * 1000 for name, some in times.items()}


def run(command: list[str]) -> None:
    """Run a program to its end."""
    subprocess.run(command, check=True)


def main(scale: float, line: str) -> None:
    """Measure everything and print the figures as JSON."""
    found: dict[str, Any] = {}
    with listening(http_stub("modern")) as url, opened(line, url) as bridges:
        found["stub"] = cost(bridges, url, scale)
    with tempfile.TemporaryDirectory() as folder, server(Path(folder) / "log") as url:
        with opened(line, url) as bridges:
            found["TypeScript"] = cost(bridges, url, scale)
            found["outcomes"] = {
                name: outcomes(bridge, Path(folder) / "log")
                for name, bridge in bridges.items()
            }
        found["starts, ms"] = starts(line, url)
    print(json.dumps(found))


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2])
