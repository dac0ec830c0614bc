"""The program of the matrix's page, as the matrix runs it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from mcp_anyera.cli import main
from tests.docs.pages import pieces
from tests.interop.peers import ROOT

pytestmark = pytest.mark.interop
PAGE = ROOT / "docs" / "how-to" / "matrix.md"


def test_the_program_of_the_page_can_be_put_in_front_of_servers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = [
        piece.value
        for piece in pieces(PAGE.read_text("utf-8"))
        if piece.language == "python"
    ]
    program = tmp_path / "my_client.py"
    program.write_text(code, encoding="utf-8")
    client = shlex.join([sys.executable, str(program)])
    words = ["--transport", "stdio", "--only", "call,form,decline"]
    servers = ["--servers", "mcp-1.30,mcp-2.3-modern"]
    assert main(["matrix", "run", "--client", client, *servers, *words]) == 0
    assert "6 pass, 0 gap, 0 fail" in capsys.readouterr().out
