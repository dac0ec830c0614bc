"""The installed SDK is chosen once, and one that does not fit is named."""

from __future__ import annotations

import subprocess
import sys

BROKEN = """
import importlib.metadata, sys
real = importlib.metadata.version
def version(name):
    if name == "mcp":
        {action}
    return real(name)
importlib.metadata.version = version
{more}
try:
    import mcp_anyera._sdk
except ImportError as error:
    print(error)
"""


def run(action: str, more: str = "") -> str:
    code = BROKEN.format(action=action, more=more)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_without_an_sdk_the_error_says_what_is_needed() -> None:
    said = run("raise importlib.metadata.PackageNotFoundError(name)")
    assert said == "mcp-anyera runs on mcp>=1.24,<3, and no mcp is installed"


def test_an_sdk_that_lacks_a_name_is_named_with_it() -> None:
    more = "import mcp.client.stdio; del mcp.client.stdio.get_default_environment"
    said = run("return real(name)", more)
    assert said.startswith("mcp-anyera runs on mcp>=1.24,<3; mcp ")
    assert "lacks something that it needs" in said
    assert "get_default_environment" in said
