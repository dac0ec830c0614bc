"""Run one client program on both SDK lines against three real servers.

Each server and each SDK line has an environment of its own, and each server is met
on stdio and over HTTP. The table shows what
arrived at each callback; its last line counts the cells that differ.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ("mcp-1.30", "mcp-2.3", "mcp-2.3-modern")
LINES = {"1.x": "sdk1", "2.x": "sdk2"}


def main() -> int:
    """Print the table and return the exit status."""
    rows = [
        {"server": peer, "on": transport, "SDK": line, **row}
        for peer in PEERS
        for line, env in LINES.items()
        for transport, row in meet(env, peer)
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    print_table(names, rows)
    different = sum(differing(name, rows) for name in names[4:])
    print(f"\ncells that differ: {different}")
    return 1 if different else 0


def meet(env: str, peer: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Run the program in one environment against one server, in both ways."""
    yield "stdio", run(env, command(peer, "start"))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    pipes["stderr"] = subprocess.DEVNULL  # the SDK's server is chatty at the end
    with subprocess.Popen(command(peer, "http"), **pipes) as process:
        yield "HTTP", run(env, [process.stdout.readline().split()[-1]])
        process.kill()


def command(peer: str, how: str) -> list[str | Path]:
    """Return the command that starts a server."""
    home = ROOT / "compat-matrix" / "peers" / peer
    described = tomllib.loads((home / "peer.toml").read_text())
    program, *arguments = described[how]
    server = python(f"peer-{described['environment']}")
    return [server, (home / program).resolve(), *arguments]


def run(env: str, place: list[str | Path]) -> dict[str, str]:
    """Run the program in one environment against one command or URL."""
    words = [python(env), ROOT / "demo" / "program.py", *place]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=120
    )
    if done.returncode != 0:
        sys.exit(f"{place} with {env} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def python(env: str) -> Path:
    """Return the interpreter of an environment."""
    return ROOT / ".envs" / env / "bin" / "python"


def differing(name: str, rows: list[dict[str, str]]) -> int:
    """Count the cells of a line that are not what its first cell is."""
    return sum(row.get(name) != rows[0].get(name) for row in rows)


def print_table(names: list[str], rows: list[dict[str, str]]) -> None:
    """Print one line for each run."""
    lines = [names, *([row.get(name, "-") for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        print("  ".join(cells).rstrip())


if __name__ == "__main__":
    sys.exit(main())
