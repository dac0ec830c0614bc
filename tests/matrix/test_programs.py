"""What the programs of the client stacks do between two scenarios."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from mcp_anyera.matrix.stages import PROGRAMS

WITHOUT_LEVELS = """
import sys
from contextlib import asynccontextmanager

from main import main
from plays import UnsupportedError
from verbs import Session


@asynccontextmanager
async def connect(_target, _desk, recorder, level):
    if level is not None:
        raise UnsupportedError("there are no log levels")
    yield Session(None, "2025-11-25", recorder)


main(*sys.argv[1:], find=lambda _stack: connect)
"""


def told(folder: Path, program: str, *steps: dict[str, Any]) -> dict[str, Any]:
    """Run a plan and return what came of each scenario."""
    (folder / "program.py").write_text(program)
    plan: dict[str, Any] = {"target": {}, "limit": 5, "scenarios": steps}
    (folder / "plan.json").write_text(json.dumps(plan))
    done = subprocess.run(
        [sys.executable, str(folder / "program.py"), str(folder / "plan.json")],
        env={**os.environ, "PYTHONPATH": str(PROGRAMS)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    lines = map(json.loads, done.stdout.splitlines())
    return {line["id"]: line for line in lines if "id" in line}


def test_a_connection_that_cannot_be_had_is_not_what_the_next_scenario_gets(
    tmp_path: Path,
) -> None:
    lines = told(
        tmp_path,
        WITHOUT_LEVELS,
        {"id": "log-level", "play": "connect", "level": "warning"},
        {"id": "restart", "play": "connect", "order": "restart"},
    )
    assert lines["log-level"]["unsupported"] == "there are no log levels"
    assert lines["restart"]["outcome"] == "connected"
