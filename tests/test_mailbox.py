from __future__ import annotations

from typing import Any

import anyio

from mcp_anyera.mailbox import Item, Mailbox

LOG: dict[str, Any] = {"method": "notifications/message", "params": {"n": 1}}
CHANGE: dict[str, Any] = {"method": "notifications/tools/list_changed"}
OTHER: dict[str, Any] = {"method": "notifications/vendor"}


async def drained(box: Mailbox) -> list[Item]:
    got: list[Item] = []

    async def take(item: Item) -> None:
        got.append(item)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(box.run, take)
        await box.idle()
        tasks.cancel_scope.cancel()
    return got


async def test_items_come_out_in_order() -> None:
    box = Mailbox(print)
    for item in (LOG, CHANGE, OTHER):
        box.put(item)
    assert await drained(box) == [LOG, CHANGE, OTHER]


async def test_an_empty_box_is_idle() -> None:
    assert await drained(Mailbox(print)) == []


async def test_a_full_box_drops_the_oldest_log_message_and_says_so() -> None:
    dropped: list[str] = []
    box = Mailbox(dropped.append, limit=3)
    newer: dict[str, Any] = {**LOG, "params": {"n": 2}}
    for item in (CHANGE, LOG, newer, OTHER):
        box.put(item)
    assert await drained(box) == [CHANGE, newer, OTHER]
    assert dropped == ["notifications/message"]


async def test_changes_merge_when_the_box_is_full_and_none_is_lost() -> None:
    dropped: list[str] = []
    box = Mailbox(dropped.append, limit=2)
    updates: list[dict[str, Any]] = [
        {"method": "notifications/resources/updated", "params": {"uri": uri}}
        for uri in "abc"
    ]
    for item in (*updates, updates[0], CHANGE, CHANGE):
        box.put(item)
    assert await drained(box) == [*updates, CHANGE]
    assert dropped == []


async def test_what_finds_no_room_is_dropped_and_counted() -> None:
    dropped: list[str] = []
    box = Mailbox(dropped.append, limit=1)
    items: list[Item] = [OTHER, {**OTHER, "params": {}}, ValueError("x")]
    for item in items:
        box.put(item)
    assert await drained(box) == [OTHER]
    assert dropped == ["notifications/vendor", "an exception"]
