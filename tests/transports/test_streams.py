"""A stream pair of the SDK as a wire."""

from __future__ import annotations

import math
from typing import Any

import anyio
import pytest
from mcp import ClientSession
from mcp.client.stdio import stdio_client

from mcp_anyera import adapt
from mcp_anyera._sdk import to_session_message
from mcp_anyera.engine import ToServer
from mcp_anyera.transports.seeing import wire_for
from mcp_anyera.transports.streams import StreamsWire
from mcp_anyera.transports.wire import Malformed, WireClosed


def pair() -> tuple[Any, Any, Any, Any]:
    to_client, read = anyio.create_memory_object_stream[Any](math.inf)
    write, from_client = anyio.create_memory_object_stream[Any](math.inf)
    return to_client, read, write, from_client


async def test_messages_go_through_both_ways_and_complaints_are_kept() -> None:
    to_client, read, write, from_client = pair()
    message = {"jsonrpc": "2.0", "method": "notifications/x", "params": {"a": None}}
    fault = ValueError("not json")
    async with StreamsWire((read, write, "extra")) as wire:
        assert wire.extras == ("extra",)
        to_client.send_nowait(to_session_message(message))
        to_client.send_nowait(fault)
        assert await wire.receive() == message
        complaint = await wire.receive()
        assert isinstance(complaint, Malformed)
        assert complaint.error is fault
        await wire.send([ToServer(message)])
        assert from_client.receive_nowait() is not None
        to_client.close()
        with pytest.raises(WireClosed, match="the transport closed its stream"):
            await wire.receive()
        from_client.close()
        await wire.send([ToServer(message)])
        with pytest.raises(OSError, match="cannot be started again"):
            await wire.restart()


async def test_a_session_hears_of_what_is_no_message_and_of_the_end() -> None:
    to_client, read, write, from_client = pair()
    heard: list[Any] = []

    async def handle(message: Any) -> None:
        heard.append(message)

    async with adapt((read, write), mode="legacy") as (near_read, near_write):
        async with ClientSession(near_read, near_write, message_handler=handle):
            to_client.send_nowait(ValueError("not json"))
            with anyio.fail_after(5):
                while not heard:
                    await anyio.sleep(0.01)
        with pytest.raises(anyio.ClosedResourceError):
            await near_write.send(to_session_message({"jsonrpc": "2.0", "method": "x"}))
    assert isinstance(heard[0], ValueError)
    to_client.close()
    from_client.close()


def test_only_a_stdio_client_whose_parameters_can_be_seen_is_replaced() -> None:
    odd: Any = stdio_client("not parameters")  # pyright: ignore[reportArgumentType]
    assert isinstance(wire_for(odd), StreamsWire)
    inner: Any = getattr(stdio_client, "__wrapped__")  # noqa: B009 - contextlib's own
    missing: Any = type("Odd", (), {"func": inner, "args": (), "kwds": {"no": 1}})()
    assert isinstance(wire_for(missing), StreamsWire)
    assert not wire_for(odd).traits.legacy_only
