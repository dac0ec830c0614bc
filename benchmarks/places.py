"""Where things are: environments, peers, the servers that are called."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "benchmarks"
ENVS = ROOT / ".envs"
PEERS = ROOT / "compat-matrix" / "peers"


def python(env: str) -> str:
    """Return the interpreter of an environment."""
    return str(ENVS / env / "bin" / "python")


def stub(era: str) -> list[str]:
    """Return the command of the stub on stdio."""
    return [sys.executable, str(HERE / "stub.py"), era]


def peer(name: str) -> list[str]:
    """Return the command of a real server on stdio."""
    return [python(f"peer-{name}"), str(PEERS / name / "server.py")]


@contextmanager
def listening(command: Sequence[str]) -> Iterator[str]:
    """Run a server over HTTP, and yield the URL that it says it listens on."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
        process.kill()


def http_stub(era: str) -> list[str]:
    """Return the command of the stub over HTTP."""
    return [sys.executable, str(HERE / "http_stub.py"), era]


def http_peer(name: str) -> list[str]:
    """Return the command of a real server over HTTP."""
    return [python(f"peer-{name}"), str(PEERS / "serve.py"), f"{name}/server.py"]
