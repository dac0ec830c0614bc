"""Measure everything in one run, beside the peers.

``python benchmarks/run.py [--quick] [--part NAME]... [--keep]`` prints the promises of
the project with what was measured. ``--keep`` writes the figures to
``benchmarks/results/latest.json``, which the page of the documentation is made from.
Ratios count, not times: both sides of each were measured in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import report
from awake import awake
from places import HERE, http_peer, http_stub, listening, peer, python, stub

STUB_CASES = "echo,one_round,three_rounds,list,big,notify"
PEER_CASES = "echo,issue_card"
LINES = ("sdk1", "sdk2")


def figures(env: str, script: str, *arguments: object) -> Any:
    """Run one script in an environment, and return what it printed."""
    command = [python(env), str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{script} {' '.join(command[2:])} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def calls(scale: float) -> Any:
    """Return what calls cost, by SDK line and server."""
    found: dict[str, dict[str, Any]] = {line: {} for line in LINES}
    for line in LINES:
        for name, cases, command in servers(line, "stdio"):
            with awake() if name.startswith("stub") else nullcontext():
                found[line][name] = figures(line, "calls.py", scale, cases, *command)
        for name, cases, command in servers(line, "HTTP"):
            with listening(command) as url:
                found[line][name] = figures(line, "calls.py", scale, cases, url)
    return found


def servers(line: str, wire: str) -> list[tuple[str, str, list[str]]]:
    """Return the servers that a line is measured with: name, cases, command."""
    plain, real = (stub, peer) if wire == "stdio" else (http_stub, http_peer)
    eras = {"legacy": "1.30", "modern": "2.3"}
    found = []
    for era in eras if line == "sdk2" else ("legacy",):
        name = f"mcp {eras[era]}, {era} {wire}"
        found.append((f"stub, {era} {wire}", STUB_CASES, plain(era)))
        found.append((name, PEER_CASES, real(f"mcp-{eras[era]}")))
    return found


def flight(scale: float) -> Any:
    """Return what calls cost while many are in flight, by era, on SDK 2.x."""
    limit = 10_000 if scale >= 1 else 1_000
    return {
        era: figures("sdk2", "flight.py", limit, *stub(era))
        for era in ("legacy", "modern")
    }


def memory(scale: float) -> Any:
    """Return the memory of idle connections to a modern server over HTTP."""
    with listening(http_stub("modern")) as url:
        count = 1_000 if scale >= 1 else 100
        return {
            way: figures("sdk2", "memory.py", way, count, url)
            for way in ("Client", "mcp.Client")
        }


PARTS: dict[str, Callable[[float], Any]] = {
    "engine": lambda _scale: figures("sdk2", "engine.py"),
    "calls": calls,
    "flight": flight,
    "memory": memory,
    "questions": lambda _scale: {
        era: figures("sdk2", "questions.py", *stub(era)) for era in ("legacy", "modern")
    },
    "openings": lambda scale: figures("sdk2", "openings.py", scale),
    "bridge": lambda scale: {
        line: figures(line, "bridge.py", scale, line) for line in LINES
    },
}


def machine() -> dict[str, Any]:
    """Return where a run was made, and with what."""
    wanted = "import importlib.metadata as m; print(m.version('mcp'))"
    versions = {
        line: subprocess.run(
            [python(line), "-c", wanted], capture_output=True, text=True, check=True
        ).stdout.strip()
        for line in LINES
    }
    about = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return {"python": platform.python_version(), "machine": about, "mcp": versions}


def main() -> None:
    """Measure what was asked for, print it, and keep it if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--keep", action="store_true", help="write the result file")
    options = parser.parse_args()
    scale = 0.2 if options.quick else 1.0
    run: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d"),
        "scale": scale,
        **machine(),
    }
    for name in options.part or PARTS:
        print(f"measuring: {name}", file=sys.stderr, flush=True)
        run[name] = PARTS[name](scale)
    print(report.markdown(run))
    if options.keep:
        report.LATEST.write_text(json.dumps(run, indent=1) + "\n")


if __name__ == "__main__":
    main()
