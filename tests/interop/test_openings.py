"""Connecting to the servers that exist: what is asked, what it costs, what is kept."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mcp_anyera import Client, ConnectError, ConnectionLost, EraMemory, adapt
from mcp_anyera._sdk import ClientSession
from mcp_anyera.engine import Connected, Downgraded, Mistaken, Reopened, Restarted
from mcp_anyera.eras import Era
from mcp_anyera.transports import stdio_client
from tests.interop.faces import connected, text
from tests.interop.peers import DUAL, LEGACY, MODERN, shared
from tests.interop.scripting import SCRIPTED, scripted_process

pytestmark = pytest.mark.interop


class Scripted:
    """One script, met as often as wanted, with what it was asked."""

    def __init__(self, folder: Path, script: str, era: str = "legacy") -> None:
        self._notes, self._era = folder / "notes", folder / "era"
        self.becomes(era)
        env = {"NOTES": str(self._notes), "ERA": str(self._era)}
        self.parameters = scripted_process(script, env)
        self.events: list[Any] = []

    def forget(self) -> None:
        self._notes.write_text("")
        self.events.clear()

    def becomes(self, era: str) -> None:
        self._era.write_text(era)

    @asynccontextmanager
    async def client(self, **options: Any) -> AsyncGenerator[Client]:
        self.forget()
        hear = self.events.append
        async with Client(self.parameters, on_event=hear, **options) as client:
            yield client

    @property
    def asked(self) -> list[str]:
        return self._notes.read_text().split()

    def told(self, kind: type) -> int:
        return sum(isinstance(event, kind) for event in self.events)


async def works(client: Any) -> bool:
    return text(await client.call_tool("x")) == "done"


# -- orders ----------------------------------------------------------------------------


async def test_a_legacy_server_need_not_be_probed(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, "noted")
    async with scripted.client(probe="legacy_first") as client:
        assert await works(client)
    assert scripted.asked[0] == "initialize"
    assert "server/discover" not in scripted.asked


@pytest.mark.parametrize("peer", [MODERN, f"{MODERN}@http", "ts-2.4-modern"])
async def test_a_modern_server_is_found_behind_its_refusal(peer: str) -> None:
    async with connected("client", peer, probe="legacy_first") as client:
        assert client.era is Era.MODERN
        assert text(await client.call_tool("echo", {"text": "x"})) == "x"


@pytest.mark.parametrize("peer", [LEGACY, DUAL, f"{LEGACY}@http", f"{DUAL}@http"])
async def test_a_server_that_shakes_hands_is_legacy_when_that_comes_first(
    peer: str,
) -> None:
    async with connected("client", peer, probe="legacy_first") as client:
        assert client.era is Era.LEGACY
        assert text(await client.call_tool("echo", {"text": "x"})) == "x"


async def test_adapted_streams_may_shake_hands_first(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, "noted", "modern")
    transport = stdio_client(scripted.parameters)
    async with adapt(transport, probe="legacy_first") as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            assert text(await session.call_tool("x")) == "done"
    assert scripted.asked[:2] == ["initialize", "server/discover"]


async def test_older_handshakes_are_tried_where_that_is_wanted(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, "only_older")
    async with scripted.client(handshake_ladder=True) as client:
        assert client.protocol_version == "2025-03-26"
        assert await works(client)
    with pytest.raises(ConnectError, match="accepts neither opening"):
        async with scripted.client():
            pass


# -- servers that the probe does not suit ----------------------------------------------


async def test_a_server_that_falls_silent_at_metadata_is_legacy(tmp_path: Path) -> None:
    async with Scripted(tmp_path, "mute_with_meta").client() as client:
        assert client.era is Era.LEGACY


async def test_what_the_probe_has_cost_is_told_apart_from_the_handshake(
    tmp_path: Path,
) -> None:
    scripted = Scripted(tmp_path, "slow_handshake")
    async with scripted.client(connect_timeout_seconds=20) as client:
        probe, handshake = client.verdict.evidence
    assert 0.8 <= probe.seconds < 2 <= handshake.seconds


async def test_a_server_that_the_probe_poisons_is_started_again(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, "poisoned")
    async with scripted.client() as client:
        assert await works(client)
    assert scripted.told(Restarted) == 1


async def test_a_handshake_that_ends_in_a_modern_revision_is_none(
    tmp_path: Path,
) -> None:
    async with Scripted(tmp_path, "echoes_modern").client() as client:
        assert client.era is Era.MODERN
        assert await works(client)


# -- memory ----------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_remembered_server_is_not_asked_again(tmp_path: Path, era: str) -> None:
    scripted, memory = Scripted(tmp_path, "noted", era), EraMemory()
    async with scripted.client(memory=memory) as client:
        assert await works(client)
    async with scripted.client(memory=memory) as client:
        assert client.era.value == era
        assert await works(client)
    assert "server/discover" not in scripted.asked
    assert (scripted.asked[0] == "initialize") is (era == "legacy")


@pytest.mark.parametrize(
    ("before", "after"), [("legacy", "modern"), ("modern", "legacy")]
)
async def test_a_server_that_has_changed_is_found_out_and_nobody_hears_of_it(
    tmp_path: Path, before: str, after: str
) -> None:
    scripted = Scripted(tmp_path, "noted", before)
    memory = EraMemory(tmp_path / "eras.json")
    async with scripted.client(memory=memory):
        pass
    scripted.becomes(after)
    async with scripted.client(memory=memory) as client:
        assert await works(client)
        assert client.era.value == after
    assert scripted.told(Mistaken) == 1
    assert scripted.asked.count("server/discover") == 1
    async with scripted.client(memory=memory) as client:
        assert await works(client)
        assert client.era.value == after
    assert scripted.told(Mistaken) == 0


async def test_what_is_not_conclusive_is_not_remembered(tmp_path: Path) -> None:
    memory = EraMemory()
    for mode in ("legacy", "2025-11-25"):
        async with connected("client", DUAL, memory=memory, mode=mode):
            pass
    with pytest.raises(ConnectError):
        async with Scripted(tmp_path, "dies_always").client(memory=memory):
            pass
    assert memory.servers() == []


@pytest.mark.parametrize("peer", [LEGACY, MODERN])
async def test_a_memory_serves_urls_as_well(peer: str) -> None:
    memory, url = EraMemory(), shared(peer)
    for expected in ("asked", "remembered"):
        async with Client(url, memory=memory) as client:
            steps = " ".join(map(str, client.verdict.evidence))
            known = "remembered" in steps or "discover" not in steps
            assert known is (expected == "remembered")
            assert text(await client.call_tool("echo", {"text": "x"})) == "x"


async def test_adapted_streams_share_the_memory_of_clients(tmp_path: Path) -> None:
    scripted, memory = Scripted(tmp_path, "noted", "modern"), EraMemory()
    for _ in range(2):
        scripted.forget()
        transport = stdio_client(scripted.parameters)
        async with adapt(transport, memory=memory) as (read, write):
            async with ClientSession(read, write) as session:
                await session.initialize()
                assert text(await session.call_tool("x")) == "done"
    assert "server/discover" not in scripted.asked


# -- servers that are not what they say ------------------------------------------------


async def test_a_server_that_is_modern_in_its_probe_only_is_met_as_legacy(
    tmp_path: Path,
) -> None:
    scripted, memory = Scripted(tmp_path, "half_modern"), EraMemory()
    for downgrades in (1, 0):
        async with scripted.client(memory=memory) as client:
            assert (await client.list_tools()).tools == []
            assert client.era is Era.LEGACY
            assert await works(client)
        assert scripted.told(Downgraded) == downgrades


# -- a process that ends ---------------------------------------------------------------


async def test_a_call_starts_a_server_again_that_has_ended(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, "mortal")
    async with scripted.client(restart=True) as client:
        for _ in range(2):
            with pytest.raises(ConnectionLost, match="last words"):
                await client.call_tool("die")
            assert await works(client)
    assert (scripted.told(Reopened), scripted.told(Connected)) == (2, 3)


async def test_without_that_wish_it_stays_ended(tmp_path: Path) -> None:
    async with Scripted(tmp_path, "mortal").client() as client:
        with pytest.raises(ConnectionLost):
            await client.call_tool("die")
        with pytest.raises(ConnectionLost, match="connection is closed"):
            await works(client)


async def test_a_failed_connect_reads_as_a_report() -> None:
    with pytest.raises(ConnectError) as caught:
        async with Client(scripted_process("dies_always")):
            pass
    error = caught.value
    assert SCRIPTED in str(error)
    assert [step.what for step in error.steps] == ["the server", "the server"]
    assert "ModuleNotFoundError after initialize" in str(error.steps[1])
    (report,) = error.__notes__
    assert " s)" in report
    assert "anyera probe" in report
