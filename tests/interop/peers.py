"""The real servers that the tests talk to, each in an environment of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEGACY = "mcp-1.30"
DUAL = "mcp-2.3"
MODERN = "mcp-2.3-modern"
TYPESCRIPT = "ts-2.4-modern"
PEERS = (LEGACY, DUAL, MODERN, TYPESCRIPT)
ERAS = {LEGACY: "legacy", DUAL: "modern", MODERN: "modern", TYPESCRIPT: "modern"}


@cache
def command(name: str) -> list[str]:
    """Return the command that starts a peer.

    Raises:
        FileNotFoundError: Its environment is missing; a missing peer is a
            failure and not a reason to skip.
    """
    home = ROOT / "compat-matrix" / "peers" / name
    described = tomllib.loads((home / "peer.toml").read_text())
    env = ROOT / ".envs" / f"peer-{described['environment']}"
    if not env.exists():
        msg = f"{env} is missing; run: python3 scripts/envs.py peer-{described['environment']}"
        raise FileNotFoundError(msg)
    program, *arguments = described["start"]
    if described["language"] == "node":
        # Node looks for packages beside the program.
        return [_node(), str(shutil.copy(home / program, env)), *arguments]
    return [str(env / "bin" / "python"), str((home / program).resolve()), *arguments]


def _node() -> str:
    script = [sys.executable, str(ROOT / "scripts" / "envs.py"), "node"]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    return done.stdout.strip()
