from __future__ import annotations

from mcp_anyera.engine.timers import Timers


def test_actions_run_once_in_the_order_of_their_deadlines() -> None:
    timers, ran = Timers(), list[str]()
    timers.set("b", 2.0, lambda: ran.append("b"))
    timers.set("a", 1.0, lambda: ran.append("a"))
    timers.set("c", 3.0, lambda: ran.append("c"))
    assert timers.deadline == 1.0
    timers.run_due(2.0)
    assert ran == ["a", "b"]
    assert timers.deadline == 3.0
    timers.run_due(9.0)
    timers.run_due(9.0)
    assert ran == ["a", "b", "c"]
    assert timers.deadline is None


def test_setting_a_key_again_replaces_its_deadline() -> None:
    timers, ran = Timers(), list[int]()
    timers.set("a", 1.0, lambda: ran.append(1))
    timers.set("a", 5.0, lambda: ran.append(5))
    timers.run_due(2.0)
    assert ran == []
    assert timers.deadline == 5.0
    timers.run_due(5.0)
    assert ran == [5]


def test_a_cleared_key_never_runs() -> None:
    timers, ran = Timers(), list[int]()
    timers.set("a", 1.0, lambda: ran.append(1))
    timers.clear("a")
    timers.clear("never set")
    assert timers.deadline is None
    timers.run_due(9.0)
    assert ran == []


def test_an_action_may_set_a_timer_that_is_due_at_once() -> None:
    timers, ran = Timers(), list[str]()

    def first() -> None:
        ran.append("first")
        timers.set("second", 1.0, lambda: ran.append("second"))

    timers.set("first", 1.0, first)
    timers.run_due(1.0)
    assert ran == ["first", "second"]


def test_stale_entries_do_not_pile_up() -> None:
    timers = Timers()
    for moment in range(10_000):
        timers.set("a", float(moment), lambda: None)
    assert len(timers._heap) < 100  # pyright: ignore[reportPrivateUsage]
    assert timers.deadline == 9_999.0
