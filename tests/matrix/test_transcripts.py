"""What stands between a client and a server passes everything and keeps no secret."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_anyera._sdk import httpx
from mcp_anyera.matrix import processes, proxy, transcript
from mcp_anyera.matrix.stages import tapped
from tests.matrix.stage import MINIS


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_a_tap_passes_lines_both_ways_and_the_status(tmp_path: Path) -> None:
    file = tmp_path / "wire.jsonl"
    code = "import sys; print(sys.stdin.readline().upper(), end=''); sys.exit(7)"
    done = subprocess.run(
        tapped(file, [sys.executable, "-c", code]),
        input=b'{"a": "b"}\n',
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert done.stdout == b'{"A": "B"}\n'
    assert done.returncode == 7
    records = transcript.read(file)
    assert [(each["d"], each["m"]) for each in records if each["d"] != "note"] == [
        ("out", {"a": "b"}),
        ("in", {"A": "B"}),
    ]


async def test_events_pass_a_proxy_while_the_stream_is_open(tmp_path: Path) -> None:
    file = tmp_path / "wire.jsonl"
    command = [sys.executable, str(MINIS / "web.py")]
    async with (
        processes.listening(command, {}, tmp_path / "err") as url,
        proxy.listening(url, file) as (_, origin),
        httpx.AsyncClient(timeout=20) as client,
    ):
        async with client.stream("GET", f"{origin}/mcp") as response:
            lines = response.aiter_lines()
            with anyio.fail_after(20):
                # The second event comes after the POST only.
                assert "first" in await anext(lines)
                headers = {"authorization": "Bearer a-secret", "mcp-name": "x"}
                reply = await client.post(f"{origin}/mcp", json={}, headers=headers)
                assert reply.json()["result"] == {"seen": True}
                assert '"id": 1' in "".join([line async for line in lines])
    records = transcript.read(file)
    (sent,) = [each for each in records if each.get("http") == "POST /mcp"]
    assert sent["headers"]["mcp-name"] == "x"
    assert "a-secret" not in file.read_text()


async def test_a_proxy_without_a_server_says_so(tmp_path: Path) -> None:
    upstream = "http://127.0.0.1:9/mcp"
    async with (
        proxy.listening(upstream, tmp_path / "wire.jsonl") as (_, origin),
        httpx.AsyncClient(timeout=20) as client,
    ):
        assert (await client.post(f"{origin}/mcp", json={})).status_code == 502


def test_each_scenario_gets_the_records_from_its_beginning_on() -> None:
    times = (0.5, 1.5, 2.5, 2.7)
    records: list[Any] = [{"t": time, "d": "in", "m": {}} for time in times]
    cuts = transcript.cut(records, {"a": 1.0, "b": 2.0}, 0.0)
    assert [len(each) for each in cuts.values()] == [1, 2]
    assert cuts["a"][0]["t"] == 1.5


def test_a_record_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "wire.jsonl"
    file.write_text('{"t": 1, "d": "in", "m": {}}\n{"t": 2, "d"')
    assert len(transcript.read(file)) == 1


def test_what_is_kept_has_a_limit() -> None:
    long = {"text": "x" * 999, "items": list(range(99))}
    short = transcript.shortened(long)
    assert len(short["text"]) == transcript.LONGEST + 1
    assert short["items"][-1] == "… 91 more"


def test_what_is_packed_names_no_place_on_this_machine() -> None:
    packed = transcript.packed({"path": "/home/ada/x"}, {"/home/ada": "HOME"})
    assert transcript.unpacked(packed) == {"path": "HOME/x"}
    json.dumps(packed)
