r"""Run the public MCP conformance suite with ``mcp_anyera.Client`` as its client.

Usage::

    python conformance/run.py --python .envs/sdk2/bin/python \
        --node NODE --suite-dir DIR [--only NAME] [--keep DIR]

``--python`` is the interpreter of the SDK line to test, ``--node`` Node 22 or newer,
and ``--suite-dir`` the folder that ``package-lock.json`` was installed into. Needs
the standard library only.

When it runs everything at once, the suite forgives crashes, clients that hang and
clients that do nothing. So each scenario is a process with a time limit of its own,
and passes when the suite is content, has seen the client do something right, and the
client has come to its end. What is known not to pass is in ``known-gaps.toml``, and
must not pass.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from verdicts import Case, Outcome, judge, read_gaps, report

HERE: Final = Path(__file__).resolve().parent
PACKAGE: Final = "@modelcontextprotocol/conformance"
SCENARIOS: Final = {"2025-11-25": 19, "2026-07-28": 33}
"""Each revision, and how many scenarios the pinned suite has for it."""
AT_ONCE: Final = 2
CLIENT_LIMIT: Final = 45
"""Seconds after which the suite ends a client, and still says what it has seen."""
LIMIT: Final = 60
"""Seconds after which we end both."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The installed suite, and the client that it is given."""

    node: str
    entry: Path
    client: str

    @classmethod
    def of(cls, options: argparse.Namespace) -> Suite:
        """Find the suite.

        Raises:
            SystemExit: It is not there, or not in the version that is pinned.
        """
        home: Path = options.suite_dir / "node_modules" / PACKAGE
        description, wanted = home / "package.json", pinned()
        if not description.exists():
            sys.exit(f"{home} is missing; install package-lock.json in that folder")
        found = json.loads(description.read_text("utf-8"))["version"]
        if found != wanted:
            sys.exit(f"{home} is {found}, and {wanted} is wanted")
        # With a shell in between, the suite would end that, and not the client.
        client = shlex.join([str(options.python.absolute()), str(HERE / "client.py")])
        return cls(options.node, home / "dist" / "index.js", f"exec {client}")

    def cases(self, spec: str) -> list[Case]:
        """Ask for the scenarios of one revision.

        Raises:
            SystemExit: They are not as many as the pinned version has.
        """
        command = [self.node, self.entry, "list", "--client", "--spec-version", spec]
        listed = subprocess.run(command, capture_output=True, text=True, check=False)
        names = re.findall(r"^ +- (\S+) \[", listed.stdout, re.MULTILINE)
        if len(names) != SCENARIOS[spec]:
            expected = f"{len(names)} scenarios at {spec}, not {SCENARIOS[spec]}"
            sys.exit(f"{expected}\n{listed.stderr}")
        return [Case(name, spec) for name in names]

    def run(self, case: Case, folder: Path) -> Outcome:
        """Run one case and judge it; its files are left in the folder."""
        folder.mkdir(parents=True)
        command = [self.node, self.entry, "client", "--command", self.client]
        command += ["--scenario", case.scenario, "--spec-version", case.spec]
        command += ["--timeout", str(CLIENT_LIMIT * 1000), "--output-dir", folder]
        status, log = finished(command)
        return judge(case, status, folder, log)


def main(arguments: Sequence[str]) -> int:
    """Run everything, print the table and return the exit status."""
    options = parsed(arguments)
    check(options)
    suite, sdk = Suite.of(options), installed(options.python)
    every = [case for spec in SCENARIOS for case in suite.cases(spec)]
    gaps = read_gaps(HERE / "known-gaps.toml", sdk)
    if lost := set(gaps) - set(every):
        sys.exit(f"known-gaps.toml: no such case: {', '.join(map(str, sorted(lost)))}")
    chosen = [case for case in every if options.only in {None, case.scenario}]
    if not chosen:
        sys.exit(f"the suite has no scenario {options.only!r}")
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = run_all(suite, chosen, options.keep or Path(scratch))
    return 0 if report(sdk, outcomes, gaps) else 1


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--python", type=Path, required=True, help="runs the client")
    add("--node", default="node", help="runs the suite; 22 or newer")
    add("--suite-dir", type=Path, default=HERE, help="holds node_modules")
    add("--only", metavar="NAME", help="one scenario, at each revision that has it")
    add("--keep", type=Path, metavar="DIR", help="a new folder for the suite's files")
    return parser.parse_args(arguments)


def check(options: argparse.Namespace) -> None:
    """Refuse a command line that cannot work.

    Raises:
        SystemExit: It names a program that is not there, or a folder that is.
    """
    for program in (options.node, str(options.python)):
        if shutil.which(program) is None:
            sys.exit(f"there is no program {program}")
    if options.keep and options.keep.exists():
        sys.exit(f"{options.keep} is there already; --keep makes a new folder")


def pinned() -> str:
    """Return the version of the suite that we want."""
    description = json.loads((HERE / "package.json").read_text("utf-8"))
    return description["dependencies"][PACKAGE]


def installed(python: Path) -> str:
    """Return the version of the SDK in an environment.

    Raises:
        SystemExit: It has none, or the interpreter does not run.
    """
    script = "from importlib.metadata import version; print(version('mcp'))"
    command = [python, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{python} has no mcp:\n{done.stderr}")
    return done.stdout.strip()


# -- running -----------------------------------------------------------------------


def run_all(suite: Suite, cases: Sequence[Case], folder: Path) -> list[Outcome]:
    """Run the cases, a few at a time: more would measure each other's load."""
    folders = [folder / case.spec / case.scenario for case in cases]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(suite.run, cases, folders))


def finished(command: Sequence[Any]) -> tuple[int | None, str]:
    """Run a command to its end or to the limit.

    Returns:
        Its exit status, ``None`` if it had to be ended, and what it has printed.
    """
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            log, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            # The suite and the client that it has started are one group.
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]
        return process.returncode, log


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
