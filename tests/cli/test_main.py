from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from mcp_anyera.cli import main
from mcp_anyera.cli.main import COMMANDS
from tests.cli.running import ASKING, program

MINE = ["probe", "call", "prompt", "resource", "bridge"]


def test_the_version_names_the_sdk_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert "(mcp " in capsys.readouterr().out


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "mcp_anyera", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: anyera")
    for name in COMMANDS:
        assert f"\n    {name} " in done.stdout


@pytest.mark.parametrize("name", MINE)
def test_the_help_of_a_command_has_examples_and_statuses(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert f"usage: anyera {name} [options]" in shown
    assert "examples:\n" in shown
    assert "exit status: 0" in shown
    for option in ("--header", "--env", "--mode", "--connect-timeout", "--memory"):
        assert option in shown


@pytest.mark.parametrize("words", [[], ["unknown"], ["probe", "--unknown", "x"]])
def test_a_wrong_command_line_ends_with_2(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "usage: anyera" in capsys.readouterr().err


def test_help_is_shown_without_the_sdk() -> None:
    code = (
        "import sys; sys.modules['mcp'] = None\n"
        "from mcp_anyera.cli import main\n"
        "main(['call', '--help'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "examples:" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("redirection", "status"), [(">&-", 0), ("<&-", 0), ("2>&-", 0), ("> /dev/full", 1)]
)
def test_a_stream_that_is_missing_or_full_is_no_traceback(
    redirection: str, status: int
) -> None:
    words = shlex.join(program("call", "plain", "--", *ASKING, "modern"))
    shell = ["sh", "-c", f"{words} {redirection}"]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
