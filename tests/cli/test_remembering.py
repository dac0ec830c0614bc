"""``--memory``, ``--memory-file`` and ``--forget``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.raw import raw, stderr
from tests.bridge.test_stdio import MIRROR
from tests.cli.running import ASKING, SCRIPTED, anyera

pytestmark = pytest.mark.timeout(200)
MUTE = ["--", *SCRIPTED, "mute_on_probe"]
NOT_ASKED = "remembered; nothing was asked"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def bridged(*words: str, env: dict[str, str] | None = None) -> str:
    """Open a connection through a bridge; return what the bridge has logged."""
    async with raw("-v", *words, env=env) as client:
        assert "result" in await client.initialize()
        assert await client.end() == 0
        return await stderr(client)


def remembered(*words: str, env: dict[str, str] | None = None) -> Any:
    done = anyera("probe", "--json", *words, env=env)
    return json.loads(done.stdout)["remembered"]


async def test_a_bridge_does_not_ask_twice_what_a_server_is(tmp_path: Path) -> None:
    words = ["--memory-file", str(tmp_path / "eras.json"), *MUTE]
    assert NOT_ASKED not in await bridged(*words)
    assert "connected: legacy" in (log := await bridged(*words))
    assert "no answer" not in log


async def test_what_a_bridge_has_found_out_serves_the_other_commands(
    tmp_path: Path,
) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path)}
    assert remembered(*MIRROR, env=env) is None
    await bridged("--memory", *MIRROR, env=env)
    known = remembered("--memory", *MIRROR, env=env)
    assert (known["era"], known["revision"]) == ("modern", "2026-07-28")
    assert remembered(f"--memory-file={tmp_path}/mcp-anyera/eras.json", *MIRROR)
    assert NOT_ASKED in await bridged("--memory", *MIRROR, env=env)


async def test_nothing_is_written_unless_it_is_asked_for(tmp_path: Path) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path)}
    await bridged(*MIRROR, env=env)
    anyera("probe", *MIRROR, env=env)
    anyera("call", "plain", "--", *ASKING, "modern", env=env)
    assert not any(os.scandir(tmp_path))


def test_a_call_remembers_too(tmp_path: Path) -> None:
    words = ["--memory-file", str(tmp_path / "m"), "--", *ASKING, "legacy"]
    assert anyera("call", "plain", *words).returncode == 0
    assert remembered(*words)["era"] == "legacy"


def test_a_probe_shows_what_is_remembered_and_finds_out_by_itself(
    tmp_path: Path,
) -> None:
    words = ["--memory-file", str(tmp_path / "m"), "--", *ASKING, "legacy"]
    assert "nothing is remembered of this server" in anyera("probe", *words).stdout
    anyera("call", "plain", *words)
    shown = anyera("probe", *words).stdout
    assert "remembered  legacy, 2025-11-25" in shown
    assert "server/discover" in shown


def test_a_probe_forgets_when_it_is_told_to(tmp_path: Path) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path)}
    words = ["--", *ASKING, "legacy"]
    anyera("call", "--memory", "plain", *words, env=env)
    assert remembered("--forget", *words, env=env)["era"] == "legacy"
    assert remembered("--memory", *words, env=env) == {}


@pytest.mark.parametrize("verb", ["call", "probe"])
def test_a_file_that_cannot_be_written_is_said_and_done_without(verb: str) -> None:
    name = ["plain"] if verb == "call" else []
    place = ["--memory-file", "/dev/null/x"]
    done = anyera(verb, *name, *place, "--", *ASKING, "modern")
    assert done.returncode == 0
    assert "the era memory /dev/null/x cannot be read or written" in done.stderr
    assert done.stderr.count("\n") < 4


async def test_a_bridge_says_so_in_its_log() -> None:
    log = await bridged("--memory-file", "/dev/null/x", *MIRROR)
    assert log.count("the era memory /dev/null/x cannot be read or written") == 1
