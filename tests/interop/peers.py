"""The real servers that the tests talk to, each in an environment of its own.

A name with ``@http`` behind it is the same server over HTTP.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LEGACY = "mcp-1.30"
DUAL = "mcp-2.3"
MODERN = "mcp-2.3-modern"
TYPESCRIPT = "ts-2.4-modern"
SSE = "mcp-1.30-sse"
STDIO_PEERS = (LEGACY, DUAL, MODERN, TYPESCRIPT)
HTTP_PEERS = tuple(f"{name}@http" for name in (*STDIO_PEERS, SSE))
PEERS = (*STDIO_PEERS, *HTTP_PEERS)
"""Those that have every feature that the tests ask for."""


@cache
def described(name: str) -> dict[str, Any]:
    """Return what ``peer.toml`` says about a peer."""
    return tomllib.loads((_home(name) / "peer.toml").read_text())


def era(name: str) -> str:
    """Return the era in which a peer is met."""
    known = described(name.removesuffix("@http"))["era"]
    return "legacy" if known == "legacy" else "modern"


def command(name: str, how: str = "start") -> list[str]:
    """Return the command that starts a peer.

    Args:
        name: The peer.
        how: ``"start"`` for stdio, ``"http"`` for a free port.

    Raises:
        FileNotFoundError: Its environment is missing; a missing peer is a
            failure and not a reason to skip.
    """
    peer = described(name)
    env = ROOT / ".envs" / f"peer-{peer['environment']}"
    if not env.exists():
        needed = f"peer-{peer['environment']}"
        msg = f"{env} is missing; run: python3 scripts/envs.py {needed}"
        raise FileNotFoundError(msg)
    program, *arguments = peer[how]
    if peer["language"] == "node":
        # Node looks for packages beside the program.
        return [_node(), str(shutil.copy(_home(name) / program, env)), *arguments]
    source = str((_home(name) / program).resolve())
    return [str(env / "bin" / "python"), source, *arguments]


@contextmanager
def listening(name: str, env: dict[str, str] | None = None) -> Generator[str]:
    """Start a peer on a free port and yield its URL."""
    process = _listen(name, env)
    try:
        assert process.stdout is not None
        yield _url(process)
    finally:
        process.kill()
        process.communicate()


@cache
def shared(name: str) -> str:
    """Return the URL of a peer that goes on until the tests are over.

    It ends by itself when its stdin does, which is when this process ends.
    """
    _running.append(process := _listen(name, None))
    return _url(process)


_running: list[subprocess.Popen[str]] = []


def end_shared() -> None:
    """End every peer that `shared` has started."""
    while _running:
        process = _running.pop()
        process.kill()
        process.communicate()
    shared.cache_clear()


def _listen(name: str, env: dict[str, str] | None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(name, "http"),
        env={**os.environ, **(env or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _url(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("listening on "), f"the peer said {line!r}"
    return line.split()[-1]


def _home(name: str) -> Path:
    return ROOT / "compat-matrix" / "peers" / name


@cache
def _node() -> str:
    script = [sys.executable, str(ROOT / "scripts" / "envs.py"), "node"]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    return done.stdout.strip()
