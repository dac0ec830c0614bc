"""Changes on a modern server over HTTP: streams that end, and servers without any."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from mcp_anyera import Client
from mcp_anyera._sdk import SDKError
from mcp_anyera.engine import ListenEnded, subscriptions
from tests.transports.http.stage import Asked, Json, Say, modern, staged

OFFERS: Json = {
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True}},
}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def said(asked: Asked, method: str, **params: Any) -> Json:
    meta = {SUBSCRIPTION: asked.body["id"]}
    return {"jsonrpc": "2.0", "method": method, "params": {**params, "_meta": meta}}


def acknowledged(asked: Asked) -> Json:
    wanted = asked.body["params"]["notifications"]
    method = "notifications/subscriptions/acknowledged"
    return said(asked, method, notifications=wanted)


def listens(listen: Any) -> Any:
    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "server/discover":
            await say.json(asked.result(OFFERS))
        elif asked.method == "subscriptions/listen":
            await listen(asked, say)
        else:
            await modern(asked, say)

    return script


async def test_a_stream_that_ends_is_opened_again_and_the_gap_is_announced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subscriptions, "FIRST_PAUSE", 0.01)
    heard: list[str] = []
    enough = anyio.Event()

    async def handle(message: Any) -> None:
        heard.append(type(message).__name__)
        if len(heard) == 3:
            enough.set()

    async def listen(asked: Asked, say: Say) -> None:
        first = len(stage.of("subscriptions/listen")) == 1
        await say.events(acknowledged(asked), end=first)
        change = said(asked, "notifications/tools/list_changed")
        await say.event(change)
        if not first:
            await anyio.sleep(60)

    async with staged(listens(listen)) as stage:
        async with Client(stage.url, message_handler=handle):
            with anyio.fail_after(5):
                await enough.wait()
    # One of each stream, and one for what may have been missed in between.
    assert heard == ["ToolListChangedNotification"] * 3
    ids = [asked.body["id"] for asked in stage.of("subscriptions/listen")]
    assert len(set(ids)) == 2


async def test_a_set_that_grows_and_shrinks_is_a_new_stream_each_time() -> None:
    closed: list[Any] = []

    async def listen(asked: Asked, say: Say) -> None:
        await say.events(acknowledged(asked), end=False)
        try:
            while True:
                await say.event(": alive\n\n")
                await anyio.sleep(0.01)
        finally:
            closed.append(asked.body["params"]["notifications"])

    async with staged(listens(listen)) as stage, Client(stage.url) as client:
        await client.subscribe_resource("note://a")
        await client.subscribe_resource("note://b")
        await client.unsubscribe_resource("note://a")
        with anyio.fail_after(5):
            while len(closed) < 2:
                await anyio.sleep(0.01)
            await client.unsubscribe_resource("note://b")
            while len(closed) < 3:
                await anyio.sleep(0.01)
    wanted = [
        asked.body["params"]["notifications"]["resourceSubscriptions"]
        for asked in stage.of("subscriptions/listen")
    ]
    assert wanted == [["note://a"], ["note://a", "note://b"], ["note://b"]]
    assert {asked.verb for asked in stage.asked} == {"POST"}


@pytest.mark.parametrize("status", [200, 404])
async def test_a_server_without_streams_is_left_alone(status: int) -> None:
    ended = anyio.Event()
    events: list[Any] = []

    def observe(event: Any) -> None:
        if isinstance(event, ListenEnded):
            events.append(event)
            ended.set()

    async def handle(message: Any) -> None:
        raise AssertionError(message)

    async def listen(asked: Asked, say: Say) -> None:
        await say.json(asked.error(-32601), status)

    async with staged(listens(listen)) as stage:
        async with Client(
            stage.url, message_handler=handle, on_event=observe
        ) as client:
            with anyio.fail_after(5):
                await ended.wait()
            with pytest.raises(SDKError):
                await client.subscribe_resource("note://a")
            await client.call_tool("t")
    assert [event.retry_in for event in events] == [None, None]
