"""Measure everything and print it as a Markdown table, with the targets.

Ratios count, not times: each line compares two ways of the same run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "benchmarks"
PEERS = ROOT / "compat-matrix" / "peers"
LINES = {"1.x": "sdk1", "2.x": "sdk2"}
ENGINE_TARGETS = {
    "passed through": 100_000,
    "translated": 30_000,
    "with a round": 30_000,
}
# (SDK line, kind of server) → way, the peer beside it, most that p50 and processor
# time may be
TARGETS: list[tuple[str, str, str, str, float, float]] = [
    ("1.x", "legacy", "Client", "session alone", 1.00, 1.00),
    ("1.x", "legacy", "adapt", "session alone", 1.05, 1.05),
    ("2.x", "legacy", "Client", "mcp.Client alone", 0.90, 0.70),
    ("2.x", "modern", "Client", "mcp.Client alone", 0.90, 0.70),
    ("2.x", "legacy", "adapt", "session alone", 1.05, 1.05),
    ("1.x", "legacy HTTP", "Client", "session alone", 1.00, 1.00),
    ("1.x", "legacy HTTP", "adapt", "session alone", 1.05, 1.05),
    ("2.x", "legacy HTTP", "adapt", "session alone", 1.05, 1.05),
    ("2.x", "modern HTTP", "Client", "mcp.Client alone", 0.90, 0.75),
    ("2.x", "modern HTTP, one round", "Client", "mcp.Client alone", 0.90, 0.75),
]


def python(env: str) -> str:
    """Return the interpreter of an environment."""
    return str(ROOT / ".envs" / env / "bin" / "python")


def servers() -> dict[tuple[str, str], list[str]]:
    """Return the command of each server on stdio, by name and era."""
    stub = [sys.executable, str(HERE / "stub.py")]
    return {
        ("stub", "legacy"): [*stub, "legacy"],
        ("stub", "modern"): [*stub, "modern"],
        ("mcp 1.30", "legacy"): [
            python("peer-mcp-1.30"),
            str(PEERS / "mcp-1.30" / "server.py"),
        ],
        ("mcp 2.3", "modern"): [
            python("peer-mcp-2.3"),
            str(PEERS / "mcp-2.3" / "server.py"),
        ],
    }


@contextmanager
def listening(env: str, program: str) -> Iterator[str]:
    """Serve a peer over HTTP, and yield its URL."""
    command = [python(env), str(PEERS / "serve.py"), program]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        yield process.stdout.readline().split()[-1]
        process.kill()


def figures(env: str, script: str, *arguments: str) -> dict[str, Any]:
    """Run one script and return what it printed."""
    command = [python(env), str(HERE / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def print_engine() -> None:
    """Print the engine's throughput."""
    measured = figures("sdk1", "engine.py")
    print("| engine | messages a second | target | |")
    print("|---|--:|--:|---|")
    for name, target in ENGINE_TARGETS.items():
        met = "met" if measured[name] >= target else "**missed**"
        print(f"| {name} | {measured[name]:,.0f} | {target:,} | {met} |")
    ratio = measured["cost with 10 000 in flight"]
    met = "met" if ratio <= 1.2 else "**missed**"
    print(
        f"| cost of a call, 10 000 in flight to 10 | {ratio:.2f} × | 1.20 × | {met} |"
    )


def print_calls() -> None:
    """Print the cost of a call in each way beside the SDK alone."""
    print("\n| SDK | server | way | beside | p50 | target | processor | target | |")
    print("|---|---|---|---|--:|--:|--:|--:|---|")
    for line, env in LINES.items():
        for (server, era), command in servers().items():
            print_rows(line, env, (server, era), "echo", *command)
    with listening("peer-mcp-1.30", "mcp-1.30/server.py") as url:
        for line, env in LINES.items():
            print_rows(line, env, ("mcp 1.30", "legacy HTTP"), "echo", url)
    with listening("peer-mcp-2.3", "mcp-2.3/server.py") as url:
        for tool, kind in (("echo", ""), ("issue_card", ", one round")):
            print_rows("2.x", "sdk2", ("mcp 2.3", f"modern HTTP{kind}"), tool, url)


def print_rows(line: str, env: str, where: tuple[str, str], *arguments: str) -> None:
    """Measure one server on one SDK line, and print each comparison."""
    measured = figures(env, "calls.py", *arguments)
    for target in TARGETS:
        if target[:2] == (line, where[1]):
            print_row(where[0], target, measured)


def print_row(
    server: str, target: tuple[str, str, str, str, float, float], measured: Any
) -> None:
    """Print one comparison."""
    line, era, way, beside, most, most_cpu = target
    ratio = measured[way]["p50"] / measured[beside]["p50"]
    cpu = measured[way]["cpu"] / measured[beside]["cpu"]
    met = "met" if ratio <= most and cpu <= most_cpu else "**missed**"
    where = f"{server} ({era})"
    row = f"{ratio:.2f} × | {most:.2f} × | {cpu:.2f} × | {most_cpu:.2f} ×"
    print(f"| {line} | {where} | `{way}` | {beside} | {row} | {met} |", flush=True)


if __name__ == "__main__":
    print_engine()
    print_calls()
