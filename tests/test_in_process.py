"""Servers in this process, streams that are open already, and the drop-in."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import ClientSession
from mcp.client.stdio import stdio_client as sdk_stdio_client

from mcp_anyera import Client, ConnectError, Era, adapt
from mcp_anyera._sdk import SDK1, StdioServerParameters
from mcp_anyera.transports import Adapted, stdio_client
from tests.interop.faces import EVERYTHING, elicit, text
from tests.interop.peers import DUAL, LEGACY, MODERN, command

if SDK1:
    from mcp.server.fastmcp import FastMCP as MCPServer
else:
    from mcp.server.mcpserver import MCPServer


def server() -> Any:
    made: Any = MCPServer("here")

    @made.tool()
    def add(a: int, b: int) -> int:
        return a + b

    del add
    return made


async def test_a_server_in_this_process_needs_no_transport() -> None:
    async with Client(server()) as client:
        assert client.era is (Era.LEGACY if SDK1 else Era.MODERN)
        assert text(await client.call_tool("add", {"a": 1, "b": 2})) == "3"
        assert [tool.name for tool in (await client.list_tools()).tools] == ["add"]


async def test_a_server_in_this_process_may_be_made_to_speak_legacy() -> None:
    async with Client(server(), mode="legacy") as client:
        assert client.era is Era.LEGACY
        assert text(await client.call_tool("add", {"a": 1, "b": 2})) == "3"


def parameters(peer: str) -> StdioServerParameters:
    program, *arguments = command(peer)
    return StdioServerParameters(command=program, args=arguments)


@pytest.mark.interop
@pytest.mark.parametrize("peer", [LEGACY, MODERN])
async def test_the_drop_in_serves_an_unchanged_session(peer: str) -> None:
    async with stdio_client(parameters(peer)) as (read, write):
        async with ClientSession(read, write, elicitation_callback=elicit) as session:
            await session.initialize()
            assert text(await session.call_tool("two_rounds")) == "one then two"


@pytest.mark.interop
@pytest.mark.parametrize("peer", [LEGACY, DUAL])
async def test_an_open_pair_of_streams_can_be_adapted(peer: str) -> None:
    async with sdk_stdio_client(parameters(peer)) as streams:
        async with adapt(streams) as (read, write):
            async with ClientSession(
                read, write, elicitation_callback=elicit
            ) as session:
                await session.initialize()
                assert text(await session.call_tool("two_rounds")) == "one then two"


@pytest.mark.interop
@pytest.mark.parametrize("peer", [LEGACY, DUAL])
async def test_a_client_takes_transports_and_pairs_and_sees_the_wires_own_era(
    peer: str,
) -> None:
    era = Era.LEGACY if peer == LEGACY else Era.MODERN
    async with sdk_stdio_client(parameters(peer)) as (read, write):
        async with Client((read, write), **EVERYTHING) as client:
            assert client.era is era
            assert text(await client.call_tool("three_questions")) == "Ada / short / 1"
    for transport in (
        sdk_stdio_client(parameters(peer)),
        stdio_client(parameters(peer)),
        adapt(sdk_stdio_client(parameters(peer))),
    ):
        async with Client(transport, **EVERYTHING) as client:
            assert client.era is era
            assert text(await client.call_tool("two_rounds")) == "one then two"


async def test_an_adapted_transport_is_entered_once() -> None:
    transport = stdio_client(StdioServerParameters(command="cat"))
    assert isinstance(transport, Adapted)
    async with transport:
        pass
    with pytest.raises(
        RuntimeError, match="this transport was entered before; make a new one"
    ):
        await transport.__aenter__()


async def test_a_command_that_does_not_exist_is_an_os_error_as_in_the_sdk() -> None:
    with pytest.raises(OSError, match="no-such-command"):
        async with stdio_client(StdioServerParameters(command="no-such-command")):
            pass


def test_a_mode_that_names_nothing_is_refused_before_anything_starts() -> None:
    with pytest.raises(ValueError, match="mode must be"):
        adapt(sdk_stdio_client(StdioServerParameters(command="cat")), mode="new")


async def test_a_failed_connect_names_the_url_without_its_secrets() -> None:
    with pytest.raises(ConnectError) as caught:
        async with Client(
            "http://user:secret@127.0.0.1:9/mcp?key=1#x", connect_timeout_seconds=5
        ):
            pass
    assert "could not connect to http://127.0.0.1:9/mcp" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "key=1" not in str(caught.value)
