"""Run one client program on both SDK lines against three real servers.

Each server and each SDK line has an environment of its own. The table shows what
arrived at each callback; its last line counts the cells that differ.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ("mcp-1.30", "mcp-2.3", "mcp-2.3-modern")
LINES = {"1.x": "sdk1", "2.x": "sdk2"}


def main() -> int:
    """Print the table and return the exit status."""
    rows = [
        {"server": peer, "SDK": line, **run(env, peer)}
        for line, env in LINES.items()
        for peer in PEERS
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    print_table(names, rows)
    different = sum(differing(name, rows) for name in names[3:])
    print(f"\ncells that differ: {different}")
    return 1 if different else 0


def run(env: str, peer: str) -> dict[str, str]:
    """Run the program in one environment against one server."""
    home = ROOT / "compat-matrix" / "peers" / peer
    described = tomllib.loads((home / "peer.toml").read_text())
    server = python(f"peer-{described['environment']}")
    program, *arguments = described["start"]
    command = [python(env), ROOT / "demo" / "program.py"]
    command += [server, (home / program).resolve(), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120
    )
    if done.returncode != 0:
        sys.exit(f"{peer} with {env} failed:\n{done.stderr}")
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
