"""Without the extra ``mcp-anyera[cli]``: what works, and what is said."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cli.running import SCRIPTED, TIMEOUT

pytestmark = pytest.mark.timeout(200)
_BARE = """
import sys
sys.modules["rich"] = sys.modules["questionary"] = None
from mcp_anyera.cli import main
sys.exit(main(sys.argv[1:]))
"""
INSTALL = "pip install 'mcp-anyera[cli]'"


def bare(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command where rich and questionary cannot be imported."""
    return subprocess.run(
        [sys.executable, "-c", _BARE, *words],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def test_the_report_for_programs_needs_no_extra() -> None:
    done = bare("probe", "--json", "--", *SCRIPTED, "legacy")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["era"] == "legacy"


@pytest.mark.parametrize("verb", ["probe", "call", "prompt", "resource"])
def test_the_command_that_installs_it_is_named(verb: str) -> None:
    done = bare(verb, "--", *SCRIPTED, "legacy")
    assert done.returncode == 1
    assert done.stderr == (
        f"anyera: this needs rich, which is not installed; run: {INSTALL}\n"
    )


def test_help_needs_no_extra() -> None:
    assert bare("call", "--help").returncode == 0
