"""The program of the matrix's page, as the matrix runs it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import pieces
from tests.interop.peers import ROOT

pytestmark = pytest.mark.interop
ANYERA = [sys.executable, "-m", "mcp_anyera"]
PAGE = ROOT / "docs" / "how-to" / "matrix.md"


@pytest.mark.timeout(120)
def test_the_program_of_the_page_can_be_put_in_front_of_servers(
    tmp_path: Path,
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
    done = subprocess.run(
        [*ANYERA, "matrix", "run", "--client", client, *servers, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "6 pass, 0 gap, 0 fail" in done.stdout
