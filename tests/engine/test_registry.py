from __future__ import annotations

from mcp_anyera.engine import Engine
from mcp_anyera.engine.registry import Direction, lookup, rows
from mcp_anyera.eras import Era


def handlers() -> set[str]:
    engine = Engine()
    return {*engine._client.handlers, *engine._server.handlers}  # pyright: ignore[reportPrivateUsage]


def test_every_handler_that_a_rule_names_exists_and_none_is_unused() -> None:
    named = {rule.handler for _, _, _, rule in rows()}
    defaults = {
        lookup(direction, era, "x/y").handler for direction in Direction for era in Era
    }
    assert named | defaults == handlers()


def test_every_row_says_how_and_where_it_is_written() -> None:
    for direction, method, era, rule in rows():
        assert rule.how, (direction, method, era)
        assert rule.spec.startswith(("2025-11-25 ", "2026-07-28 ")), method


def test_requests_and_notifications_are_told_apart_by_their_names() -> None:
    for direction, method, _, _ in rows():
        is_notification = direction in {
            Direction.CLIENT_NOTIFICATION,
            Direction.SERVER_NOTIFICATION,
        }
        assert method.startswith("notifications/") is is_notification
