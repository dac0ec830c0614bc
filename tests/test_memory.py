"""What is remembered, where, and for how long."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_anyera import EraMemory
from mcp_anyera.engine import (
    AnsweredLate,
    Connected,
    Downgraded,
    FellBack,
    Mistaken,
    Remembered,
    RoundBegun,
    Step,
    Verdict,
)
from mcp_anyera.eras import Era
from mcp_anyera.memory import Identity

SERVER = Identity("stdio", "server", ["server", "--token=s3cret"], {"KEY": "hush"})
STEPS = (Step("server/discover", "offers it", 0.1),)
MODERN = Connected(Verdict(Era.MODERN, "2026-07-28", STEPS, discover={"a": 1}))
LEGACY = Connected(Verdict(Era.LEGACY, "2025-06-18", STEPS, initialize={}))


def known(memory: EraMemory, identity: Identity = SERVER) -> Remembered | None:
    return memory.recall(identity).options()["remembered"]


def learned(memory: EraMemory, *events: Any) -> None:
    recollection = memory.recall(SERVER)
    for event in events:
        recollection.hear(event)


@pytest.mark.parametrize("in_file", [True, False])
def test_verdicts_of_both_eras_are_kept(tmp_path: Path, in_file: bool) -> None:
    memory = EraMemory(tmp_path / "deep" / "eras.json" if in_file else None)
    assert known(memory) is None
    learned(memory, MODERN)
    assert known(memory) == Remembered(
        era=Era.MODERN, revision="2026-07-28", discover={"a": 1}
    )
    learned(memory, Mistaken("no more"), LEGACY)
    assert known(memory) == Remembered(era=Era.LEGACY, revision="2025-06-18")
    (entry,) = memory.servers()
    assert entry["name"] == "server"
    assert entry["evidence"] == [
        {"what": "server/discover", "outcome": "offers it", "seconds": 0.1}
    ]
    memory.forget(SERVER)
    assert known(memory) is None
    learned(memory, MODERN)
    memory.clear()
    assert memory.servers() == []


def test_another_command_environment_or_folder_is_another_server() -> None:
    memory = EraMemory()
    learned(memory, MODERN)
    for other in (
        Identity("http", "server", SERVER.place, SERVER.caller),
        Identity("stdio", "server", ["server"], SERVER.caller),
        Identity("stdio", "server", SERVER.place, {"KEY": "other"}),
    ):
        assert known(memory, other) is None
    same = Identity("stdio", "its name", SERVER.place, SERVER.caller)
    assert known(memory, same) is not None


def test_nothing_private_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "eras.json"
    learned(EraMemory(path), MODERN)
    assert "s3cret" not in path.read_text()
    assert "hush" not in path.read_text()
    assert "hush" not in repr(SERVER)


def test_a_legacy_verdict_expires_and_is_no_younger_when_it_is_met_again() -> None:
    now = [1000.0]
    memory = EraMemory(legacy_ttl=60, clock=lambda: now[0])
    learned(memory, LEGACY)
    now[0] += 59
    learned(memory, LEGACY)
    assert known(memory) is not None
    now[0] += 1
    assert known(memory) is None
    learned(memory, LEGACY)
    assert known(memory) is not None
    now[0] -= 1000
    assert known(memory) is None


def test_a_slow_server_is_given_more_patience() -> None:
    memory = EraMemory()
    learned(memory, LEGACY, AnsweredLate(3.0))
    assert known(memory) == Remembered(
        era=Era.LEGACY, revision="2025-06-18", patience=6.0
    )


def test_a_tool_that_calls_back_makes_no_server_legacy() -> None:
    memory = EraMemory()
    learned(memory, MODERN, RoundBegun("x", 1, ()), Downgraded("it calls", "t"), LEGACY)
    options = memory.recall(SERVER).options()
    assert options["legacy_tools"] == {"t"}
    assert options["remembered"].era is Era.MODERN


def test_a_server_that_is_not_modern_after_all_is_legacy() -> None:
    memory = EraMemory()
    learned(memory, MODERN, Downgraded("it refuses everything"), LEGACY)
    remembered = known(memory)
    assert remembered is not None
    assert remembered.era is Era.LEGACY


def test_the_old_transport_is_found_anew_each_time() -> None:
    memory = EraMemory()
    learned(memory, FellBack("405"), LEGACY)
    assert known(memory) is None


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"version": 9, "servers": {}}',
        '{"version": 1, "servers": []}',
        "\xff",
    ],
)
def test_a_file_that_cannot_be_read_is_set_aside(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "eras.json"
    path.write_bytes(content.encode("latin-1"))
    memory = EraMemory(path)
    assert known(memory) is None
    learned(memory, MODERN)
    assert known(memory) is not None
    assert (tmp_path / "eras.json.unreadable").read_bytes() == content.encode("latin-1")
    assert caplog.text.count("set aside") == 1


def test_entries_that_make_no_sense_are_none(tmp_path: Path) -> None:
    path = tmp_path / "eras.json"
    learned(EraMemory(path), MODERN)
    content = json.loads(path.read_text())
    (entry,) = content["servers"].values()
    for members in ({"era": "legacy"}, {"revision": "1999-01-01"}, {"revision": None}):
        (key,) = content["servers"]
        path.write_text(json.dumps({**content, "servers": {key: {**entry, **members}}}))
        assert known(EraMemory(path)) is None


def test_a_place_that_cannot_be_written_to_harms_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    memory = EraMemory(tmp_path / "file" / "eras.json")
    learned(memory, MODERN, LEGACY)
    assert known(memory) is None
    assert caplog.text.count("nothing is remembered") == 1
    assert caplog.records[0].levelno == logging.WARNING


WRITER = """
import sys
from mcp_anyera.memory import EraMemory, Identity
memory = EraMemory(sys.argv[1])
for number in range(20):
    memory.update(Identity("stdio", f"{sys.argv[2]}-{number}", number, sys.argv[2]), {})
"""


def test_several_processes_share_a_file_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "eras.json"
    memory = EraMemory(path)
    memory.clear()
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(name)])
        for name in range(4)
    ]
    assert [writer.wait(30) for writer in writers] == [0] * 4
    names = {entry["name"] for entry in memory.servers()}
    assert len(names) == 80
    assert not list(tmp_path.glob("eras.json?*[!k]"))  # only the lock is beside it
