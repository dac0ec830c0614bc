"""Look at what is released: the wheel, as somebody meets it who installs it.

It holds the package and its licence, and nothing else. It installs into an empty
environment with either SDK line, every public name can be imported, the command
runs, and every public name has a type.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".envs" / "tools" / "bin"
UV = [str(TOOLS / "python"), "-m", "uv"]
LINES = ("sdk1", "sdk2")
META = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
NEEDS = {"anyio", "mcp", "packaging", "pydantic"}
CHOICE = re.compile(r"^( *)if SDK1:\n +(\S.*\n)\1else:\n +(\S.*\n)", re.MULTILINE)
"""Where the sources choose between the two lines of the SDK."""
IMPORT = """
from importlib import import_module
for part in ("", ".engine", ".testing", ".transports"):
    module = import_module("mcp_anyera" + part)
    for name in module.__all__:
        getattr(module, name)
print(module.__file__)
"""


def main() -> None:
    """Build a wheel, and look."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run(*UV, "build", "--quiet", "--wheel", "--out-dir", folder, str(ROOT))
        (wheel,) = place.glob("*.whl")
        check_contents(wheel)
        for line in LINES:
            check_installed(wheel, line, place / line)
    print("the wheel is as it should be")


def check_contents(wheel: Path) -> None:
    """Compare what is in the wheel with the package."""
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.endswith("/")}
        (metadata,) = (name for name in held if name.endswith("/METADATA"))
        text = archive.read(metadata).decode()
    about = metadata.rpartition("/")[0]
    tracked = run("git", "-C", str(ROOT), "ls-files", "src/mcp_anyera").split()
    package = {path.removeprefix("src/") for path in tracked}
    wanted = package | {f"{about}/{name}" for name in META}
    same(held, wanted, "files")
    needs = re.findall(
        r"^Requires-Dist: ([\w-]+)(?![^\n]*extra ==)", text, re.MULTILINE
    )
    same(set(needs), NEEDS, "requirements")
    print(f"{wheel.name}: {len(package)} files of the package, py.typed, LICENSE")


def check_installed(wheel: Path, line: str, env: Path) -> None:
    """Install the wheel with one SDK line and its extra, and use it."""
    python, pins = env / "bin" / "python", ROOT / "requirements" / f"{line}.txt"
    run(*UV, "venv", "--quiet", "--python", sys.executable, str(env))
    # Copies, since `completeness` writes into them.
    into = ("--quiet", "--link-mode", "copy", "--python", str(python))
    run(*UV, "pip", "install", *into, "--constraint", str(pins), f"{wheel}[cli]")
    found = run(str(python), "-W", "error", "-c", IMPORT)
    if str(env) not in found:
        sys.exit(f"{line}: {found} is not what was installed")
    version = run(str(env / "bin" / "anyera"), "--version")
    score = completeness(env, line)
    print(f"{version.strip()}: imports, runs; type completeness {score}")


def completeness(env: Path, line: str) -> str:
    """Return how much of the public surface has a type; end if it is not all.

    This check reads no configuration, so what ``defineConstant`` does for a user of
    one SDK line is written into the installed copy.
    """
    package = next(env.glob("lib/python*/site-packages/mcp_anyera"))
    for module in package.rglob("*.py"):
        text = module.read_text("utf-8")
        chosen = CHOICE.sub(r"\1\2" if line == "sdk1" else r"\1\3", text)
        module.write_text(chosen, "utf-8")
    path = f"{env / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    pyright = (str(TOOLS / "pyright"), "--verifytypes", "mcp_anyera")
    types = run(*pyright, "--ignoreexternal", PATH=path, VIRTUAL_ENV=str(env))
    return re.findall(r"Type completeness score: (.*)", types)[0]


def same(found: set[str], wanted: set[str], what: str) -> None:
    """End with a message if two sets differ."""
    if found != wanted:
        extra, missing = sorted(found - wanted), sorted(wanted - found)
        sys.exit(f"the wheel's {what}: not wanted {extra}, missing {missing}")


def run(*command: str, **variables: str) -> str:
    """Run a command and return what it prints; end if it fails."""
    done = subprocess.run(
        command,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
