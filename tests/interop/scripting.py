"""Scripted servers, started over either transport."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcp_anyera._sdk import StdioServerParameters

SCRIPTED = str(Path(__file__).with_name("scripted.py"))


def scripted_process(
    name: str, env: dict[str, str] | None = None
) -> StdioServerParameters:
    """Return how to start a script on stdio."""
    return StdioServerParameters(command=sys.executable, args=[SCRIPTED, name], env=env)


@contextmanager
def scripted_server(name: str, transport: str = "stdio") -> Generator[Any]:
    """Yield what a `Client` is pointed at to talk to a script."""
    if transport == "stdio":
        yield scripted_process(name)
        return
    command = [sys.executable, SCRIPTED, name, "--http"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
    finally:
        process.kill()
        process.communicate()
