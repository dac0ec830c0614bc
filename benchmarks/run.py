"""Measure everything and print it as a Markdown table, with the targets.

Ratios count, not times: each line compares two ways of the same run.
"""

from __future__ import annotations

import json
import subprocess
import sys
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
# (SDK line, era) → way, the peer beside it, most that p50 and processor time may be
TARGETS: list[tuple[str, str, str, str, float, float]] = [
    ("1.x", "legacy", "Client", "session alone", 1.00, 1.00),
    ("1.x", "legacy", "adapt", "session alone", 1.05, 1.05),
    ("2.x", "legacy", "Client", "mcp.Client alone", 0.90, 0.70),
    ("2.x", "modern", "Client", "mcp.Client alone", 0.90, 0.70),
    ("2.x", "legacy", "adapt", "session alone", 1.05, 1.05),
]


def python(env: str) -> str:
    """Return the interpreter of an environment."""
    return str(ROOT / ".envs" / env / "bin" / "python")


def servers() -> dict[tuple[str, str], list[str]]:
    """Return the command of each server, by name and era."""
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
            measured = figures(env, "calls.py", *command)
            for target in TARGETS:
                if target[:2] == (line, era):
                    print_row(server, target, measured)


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
