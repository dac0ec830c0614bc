from __future__ import annotations

import subprocess
import sys

import pytest

from mcp_anyera.cli import main


def test_the_version_names_the_sdk_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert "(mcp " in capsys.readouterr().out


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "mcp_anyera", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: anyera")
