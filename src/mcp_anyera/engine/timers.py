"""Deadlines by key, for a core that is told the time instead of reading it.

Setting and clearing are O(log n) and O(1): ten thousand calls with a timeout
each must cost no more per call than ten. Stale heap entries are skipped when
they surface, and swept when they outnumber the live ones.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TypeAlias

Action: TypeAlias = Callable[[], None]

_SWEEP_AT = 64
"""Heaps smaller than this are not worth sweeping."""


class Timers:
    """A set of named deadlines in seconds of the caller's own clock."""

    def __init__(self) -> None:
        self._entries: dict[object, tuple[float, int, Action]] = {}
        self._heap: list[tuple[float, int, object]] = []
        self._serial = 0

    def set(self, key: object, when: float, action: Action) -> None:
        """Run ``action`` once at ``when``; replaces an earlier timer of ``key``."""
        self._serial += 1
        self._entries[key] = (when, self._serial, action)
        if len(self._heap) > _SWEEP_AT + 2 * len(self._entries):
            self._sweep()
        heapq.heappush(self._heap, (when, self._serial, key))

    def clear(self, key: object) -> None:
        """Forget the timer of ``key``, if there is one."""
        self._entries.pop(key, None)

    def take(self, key: object) -> tuple[float, Action] | None:
        """Forget the timer of ``key``, and return when it was due and its action."""
        entry = self._entries.pop(key, None)
        return None if entry is None else (entry[0], entry[2])

    @property
    def deadline(self) -> float | None:
        """The time at which `run_due` next has something to do."""
        while self._heap:
            when, serial, key = self._heap[0]
            if self._is_live(key, serial):
                return when
            heapq.heappop(self._heap)
        return None

    def run_due(self, now: float) -> None:
        """Run every action whose time has come, in order of their deadlines."""
        while (deadline := self.deadline) is not None and deadline <= now:
            _, _, key = heapq.heappop(self._heap)
            _, _, action = self._entries.pop(key)
            action()

    def _is_live(self, key: object, serial: int) -> bool:
        entry = self._entries.get(key)
        return entry is not None and entry[1] == serial

    def _sweep(self) -> None:
        self._heap = [
            entry for entry in self._heap if self._is_live(entry[2], entry[1])
        ]
        heapq.heapify(self._heap)
