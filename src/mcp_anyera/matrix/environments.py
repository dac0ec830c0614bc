"""An environment for each SDK, made on first use and kept.

Client stacks have theirs here, from the lock files in ``locks/``. Servers are
in the repository only, where ``scripts/envs.py`` makes what they need.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from mcp_anyera.matrix.peers import Peer, clone

LOCKS: Final = Path(__file__).with_name("locks")
PACKAGE: Final = Path(__file__).parents[1]
_VERSIONS: Final = (
    "import json,sys;from importlib.metadata import distributions as d;"
    "print(json.dumps({'python': sys.version.split()[0], **{x.metadata['Name']: "
    "x.version for x in d() if x.metadata['Name']}}))"
)


class MissingError(Exception):
    """Something that a peer needs is not there and cannot be made."""


@dataclass(frozen=True)
class Environment:
    """Where a peer's program runs."""

    command: tuple[str, ...]
    """The interpreter."""
    home: Path
    versions: dict[str, str]
    variables: dict[str, str] = field(default_factory=dict[str, str])


def for_client(peer: Peer) -> Environment:
    """Return the environment of a client stack, made if need be.

    Raises:
        MissingError: It cannot be made.
    """
    home = _made(peer)
    versions = dict(_versions(_python(home)))
    variables: dict[str, str] = {}
    if peer.data.get("project"):
        variables["PYTHONPATH"] = str(_project())
        versions["mcp-anyera"] = _own_version()
    return Environment((str(_python(home)),), home, versions, variables)


def for_server(peer: Peer) -> Environment:
    """Return the environment of a server, made if need be.

    Raises:
        MissingError: It cannot be made.
    """
    if peer.data["environment"] == "none":
        return Environment((sys.executable,), peer.home, {"python": _own_python()})
    name = f"peer-{peer.data['environment']}"
    root = clone()
    if root is None:
        raise MissingError("the servers are in a clone of the repository only")
    script = [sys.executable, str(root / "scripts" / "envs.py")]
    _run([*script, name])
    home = root / ".envs" / name
    if peer.data.get("language") == "node":
        node = _run([*script, "node"]).strip()
        return Environment((node,), home, _node_versions(node, home))
    return Environment((str(_python(home)),), home, _versions(_python(home)))


def cache_folder() -> Path:
    """Return where the environments of client stacks are kept."""
    if own := os.environ.get("ANYERA_MATRIX_CACHE"):
        return Path(own)
    if (root := clone()) is not None:
        return root / ".envs" / "matrix"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "mcp-anyera" / "matrix"


def _made(peer: Peer) -> Path:
    lock = LOCKS / f"{peer.data['environment']}.txt"
    if not lock.exists():
        lock = peer.home.parent / str(peer.data["environment"]) / "requirements.txt"
    if not lock.exists():
        raise MissingError(f"{peer.name} has no requirements.txt")
    home = cache_folder() / str(peer.data["environment"])
    wanted = hashlib.sha256(
        f"{sys.version}\n{home}\n{lock.read_text('utf-8')}".encode()
    ).hexdigest()
    stamp = home / ".stamp"
    with _locked(home):
        if not stamp.exists() or stamp.read_text() != wanted:
            shutil.rmtree(home, ignore_errors=True)
            _install(home, lock)
            stamp.write_text(wanted)
    return home


def _install(home: Path, lock: Path) -> None:
    print(f"making the environment {home.name}", file=sys.stderr)
    python = str(_python(home))
    uv = _uv()
    if uv is None:
        _run([sys.executable, "-m", "venv", str(home)])
        _run([python, "-m", "pip", "install", "--quiet", "-r", str(lock)])
    else:
        _run([*uv, "venv", "--quiet", "--python", sys.executable, str(home)])
        quiet = ["pip", "install", "--quiet", "--python", python]
        _run([*uv, *quiet, "-r", str(lock)])


@cache
def _uv() -> tuple[str, ...] | None:
    """Return the command that runs uv, which is quicker than pip."""
    if (found := shutil.which("uv")) is not None:
        return (found,)
    root = clone()
    own = None if root is None else _python(root / ".envs" / "tools")
    return (str(own), "-m", "uv") if own is not None and own.exists() else None


def _project() -> Path:
    """Return a folder with this package and nothing else in it."""
    # A clone that the user is in may be another version than this package.
    if PACKAGE.parent.name == "src":
        return PACKAGE.parent
    place = cache_folder() / f"project-{_own_version()}"
    if not place.exists():
        shutil.copytree(PACKAGE, place / PACKAGE.name, dirs_exist_ok=True)
    return place


def _own_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version("mcp-anyera")
    except PackageNotFoundError:
        return "not installed"


def _own_python() -> str:
    return sys.version.split()[0]


@cache
def _versions(python: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(_run([str(python), "-c", _VERSIONS]))
    return dict(sorted(found.items()))


def _node_versions(node: str, home: Path) -> dict[str, str]:
    lock = json.loads((home / "package-lock.json").read_text("utf-8"))
    found = {
        path.rpartition("node_modules/")[2]: str(package["version"])
        for path, package in lock["packages"].items()
        if path and "version" in package
    }
    return {"node": _run([node, "--version"]).strip(), **found}


def _python(home: Path) -> Path:
    place = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return home.joinpath(*place)


def _run(command: list[str]) -> str:
    """Run a command and return what it prints.

    Raises:
        MissingError: It failed; the message has the end of what it said.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - commands of our own
    except OSError as error:
        raise MissingError(f"{command[0]}: {error}") from None
    if done.returncode != 0:
        tail = " | ".join((done.stderr or done.stdout).strip().splitlines()[-3:])
        raise MissingError(f"{' '.join(command[:6])} failed: {tail}")
    return done.stdout


@contextmanager
def _locked(home: Path) -> Generator[None]:
    """Keep two runs from making the same environment at once."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with (home.parent / f".lock-{home.name}").open("w") as file:
        if os.name != "nt":
            import fcntl  # noqa: PLC0415 - POSIX only

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
