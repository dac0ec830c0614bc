"""Notifications on their way to user code: in order, bounded, off the receive path.

A slow handler must not hold up answers, and a chatty server must not fill the
memory. When the box is full, change notices that say the same merge (none is
lost), and the oldest log and progress messages go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import anyio

LIMIT: Final = 1000
"""Notifications that may wait; both SDK lines keep 256 or fewer per handler."""

_EXPENDABLE: Final = frozenset({"notifications/message", "notifications/progress"})

Item: TypeAlias = "dict[str, Any] | Exception"


class Mailbox:
    """A queue with one consumer."""

    def __init__(self, on_drop: Callable[[str], None], limit: int = LIMIT) -> None:
        self._items: deque[Item] = deque()
        self._limit = limit
        self._on_drop = on_drop
        self._wake = anyio.Event()
        self._idle = anyio.Event()
        self._idle.set()

    def put(self, item: Item) -> None:
        """Add an item; never waits."""
        if len(self._items) >= self._limit and not self._make_room(item):
            return
        self._items.append(item)
        if self._idle.is_set():
            self._idle = anyio.Event()
        self._wake.set()

    def _make_room(self, item: Item) -> bool:
        if not isinstance(item, Exception) and _is_change(item) and item in self._items:
            return False
        for index, old in enumerate(self._items):
            if not isinstance(old, Exception) and old["method"] in _EXPENDABLE:
                del self._items[index]
                self._on_drop(old["method"])
                return True
        if not isinstance(item, Exception) and _is_change(item):
            return True
        self._on_drop("an exception" if isinstance(item, Exception) else item["method"])
        return False

    async def run(self, deliver: Callable[[Item], Awaitable[None]]) -> None:
        """Hand the items over one by one, for ever."""
        while True:
            while self._items:
                await deliver(self._items.popleft())
            self._idle.set()
            self._wake = anyio.Event()
            await self._wake.wait()

    async def idle(self) -> None:
        """Wait until everything that came has been handed over."""
        await self._idle.wait()


def _is_change(message: dict[str, Any]) -> bool:
    method: str = message["method"]
    return method.endswith(("list_changed", "resources/updated"))
