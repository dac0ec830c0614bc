"""What is written about the matrix is what its last run says."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from mcp_anyera.matrix import result as results
from mcp_anyera.matrix import transcript
from mcp_anyera.matrix.scenarios import Scenarios
from mcp_anyera.matrix.views import markdown, page
from tests.interop.peers import ROOT

RESULT = ROOT / "compat-matrix" / "results" / "latest.json"


def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "scripts" / "matrix_docs.py"))


def test_the_documentation_is_what_the_last_run_says() -> None:
    written = (ROOT / "docs" / "reference" / "compat-matrix.md").read_text("utf-8")
    assert written == script()["page"](), "run: make matrix-docs"


def test_the_readmes_table_is_what_the_last_run_says() -> None:
    written = (ROOT / "README.md").read_text("utf-8")
    assert written == script()["readme"](), "run: make matrix-docs"


def test_the_last_run_is_a_run_of_the_whole_matrix() -> None:
    from mcp_anyera.matrix.ordering import GROUPS
    from mcp_anyera.matrix.peers import Peers, folders

    data, peers = results.load(RESULT), Peers.load(folders())
    servers = {
        name for name, each in peers.servers.items() if each.data.get("matrix", True)
    }
    assert data["complete"]
    assert set(data["servers"]) == servers
    assert set(data["clients"]) == {each.name for each in peers.in_groups(GROUPS)}
    assert set(data["scenarios"]) == set(Scenarios.load())
    assert results.status(data) == 0, results.failures(data) + results.errors(data)


def test_the_last_run_names_no_place_on_the_machine_that_it_ran_on() -> None:
    data = results.load(RESULT)
    for pair in data["pairs"]:
        pair["transcript"] = transcript.unpacked(pair["transcript"])
    text = json.dumps(data)
    for place in ("/home/", "/root/", "/tmp/", f"{Path.home()}/", str(ROOT)):
        assert place not in text


def test_the_page_needs_no_network() -> None:
    html = page.rendered(results.load(RESULT))
    for load in ('src="', "@import", "url(", '<link rel="stylesheet"', "fetch("):
        assert load not in html.partition('id="data">')[0]
    assert "</script>" in html
    assert html.count("</script>") == 2


def test_a_readme_without_a_place_for_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for the table"):
        markdown.inserted("# Nothing", results.load(RESULT))
