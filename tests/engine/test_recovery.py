"""What is mended below a call: lost sessions, and servers that change."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine import (
    Connected,
    Dropped,
    Exchange,
    Face,
    Fault,
    Reopened,
    SessionState,
)
from mcp_anyera.eras import Era
from tests.engine.conversation import (
    DISCOVER,
    INITIALIZED,
    Json,
    Talk,
    error,
    initialize,
    legacy,
    notification,
    request,
    result,
)

HTTP: dict[str, Any] = {"exchange": Exchange.HTTP, "target": "http://x/mcp"}
LOGS: Json = {"tools": {}, "logging": {}, "resources": {"subscribe": True}}
GONE, STALE = SessionState.GONE, SessionState.STALE


def opened(**config: Any) -> Talk:
    """Return a conversation in ``auto`` mode that has found a legacy server."""
    talk = Talk(**{**HTTP, **config})
    talk.client_says(initialize())
    probe = talk.server_sees(method="server/discover")["id"]
    talk.exchange_fails(probe, 400)
    shakes_hands(talk)
    talk.client_sees(id="init")
    talk.client_says(notification("notifications/initialized"))
    talk.server_sees(method="notifications/initialized")
    return talk


def called(talk: Talk, id_: int, method: str = "tools/call") -> int:
    talk.client_says(request(id_, method, {"name": "t"}))
    return talk.server_sees(method=method)["id"]


def shakes_hands(talk: Talk) -> None:
    wire = talk.server_sees(method="initialize")["id"]
    talk.server_says(result(wire, {**INITIALIZED, "capabilities": LOGS}), wire)
    talk.notices(Connected)


def refuses_probe(talk: Talk) -> None:
    talk.exchange_fails(talk.server_sees(method="server/discover")["id"], 400)


def test_a_session_that_is_gone_is_opened_again_and_its_calls_are_sent_again() -> None:
    with opened() as talk:
        first, second = called(talk, 1), called(talk, 2)
        talk.exchange_fails(first, 404, session=GONE)
        assert talk.notices(Reopened).reason == (
            "the server has lost the session (HTTP 404)"
        )
        probe = talk.server_sees(method="server/discover")["id"]
        talk.exchange_fails(second, 404, session=STALE)
        talk.client_says(request(3, "tools/list"))
        talk.client_says(notification("notifications/roots/list_changed"))
        talk.notices(Dropped)
        talk.client_says(request(4, "tools/list"))
        talk.client_says(notification("notifications/cancelled", {"requestId": 4}))
        talk.exchange_fails(probe, 400)
        shakes_hands(talk)
        talk.server_sees(method="notifications/initialized")
        legs = [talk.server_sees()["id"] for _ in range(3)]
        assert len({first, second, *legs}) == 5
        for id_, leg in zip((1, 2, 3), legs, strict=True):
            talk.server_says(result(leg, {}), leg)
            talk.client_sees(id=id_)


def test_a_call_of_the_old_session_goes_straight_to_the_new_one() -> None:
    with opened() as talk:
        wire = called(talk, 1)
        talk.exchange_fails(wire, 404, session=STALE)
        talk.server_sees(method="tools/call")


def test_a_server_that_loses_every_session_is_believed_the_second_time() -> None:
    with opened() as talk:
        wire = called(talk, 1)
        talk.exchange_fails(wire, 404, session=GONE)
        talk.notices(Reopened)
        refuses_probe(talk)
        shakes_hands(talk)
        talk.server_sees(method="notifications/initialized")
        wire = talk.server_sees(method="tools/call")["id"]
        talk.exchange_fails(wire, 404, session=GONE)
        talk.client_fails(1, "tools/call 't' failed: HTTP 404")


def test_log_level_and_subscriptions_are_restored() -> None:
    with opened(log_level="info") as talk:
        level = talk.server_sees(method="logging/setLevel")["id"]
        talk.server_says(result(level), level)
        for id_, method, uri in (
            (1, "resources/subscribe", "a"),
            (2, "resources/subscribe", "b"),
            (3, "resources/unsubscribe", "a"),
        ):
            talk.client_says(request(id_, method, {"uri": uri}))
            wire = talk.server_sees(method=method)["id"]
            talk.server_says(result(wire), wire)
            talk.client_sees(id=id_)
        talk.client_says(request(4, "logging/setLevel", {"level": "error"}))
        wire = talk.server_sees(method="logging/setLevel")["id"]
        talk.server_says(result(wire), wire)
        talk.client_sees(id=4)
        talk.client_says(request(5, "tools/list"))
        talk.exchange_fails(talk.server_sees()["id"], 404, session=GONE)
        talk.notices(Reopened)
        refuses_probe(talk)
        shakes_hands(talk)
        talk.server_sees(method="notifications/initialized")
        talk.server_sees(method="logging/setLevel", params={"level": "error"})
        talk.server_sees(method="resources/subscribe", params={"uri": "b"})
        talk.server_sees(method="tools/list")


def test_a_session_that_cannot_be_had_again_fails_what_waits_and_is_tried_again() -> (
    None
):
    with opened() as talk:
        wire, other = called(talk, 1), called(talk, 2)
        talk.exchange_fails(wire, 404, session=GONE)
        talk.notices(Reopened)
        probe = talk.server_sees(method="server/discover")["id"]
        talk.exchange_fails(other, 404, session=STALE)
        talk.client_says(notification("notifications/cancelled", {"requestId": 2}))
        talk.exchange_fails(probe, 503)
        failure = talk.client_failure(1)
        assert failure.fault is Fault.CONNECT
        assert failure.http.status == 503
        talk.client_says(notification("notifications/roots/list_changed"))
        talk.notices(Dropped)
        talk.client_says(request(3, "tools/list"))
        talk.notices(Reopened)
        refuses_probe(talk)
        shakes_hands(talk)
        talk.server_sees(method="notifications/initialized")
        talk.server_sees(method="tools/list")


def test_a_server_that_knows_nothing_any_more_is_asked_again_by_the_next_call() -> None:
    with opened(sse_fallback=True) as talk:
        for id_ in (1, 2):
            wire = called(talk, id_) if id_ == 1 else None
            if wire is None:
                talk.client_says(request(id_, "tools/call", {"name": "t"}))
            else:
                talk.exchange_fails(wire, 404, session=GONE)
            talk.notices(Reopened)
            refuses_probe(talk)
            wire = talk.server_sees(method="initialize")["id"]
            talk.exchange_fails(wire, 404)
            assert talk.client_failure(id_).http.status == 404


@pytest.mark.parametrize("face", [Face.LEGACY, Face.NATIVE])
def test_a_server_that_has_become_modern_is_met_where_it_is(face: Face) -> None:
    with opened(face=face) as talk:
        talk.client_says(request(1, "resources/subscribe", {"uri": "a"}))
        wire = talk.server_sees()["id"]
        talk.server_says(result(wire), wire)
        talk.client_sees(id=1)
        wire = called(talk, 2)
        supported = {"supported": ["2026-07-28"]}
        talk.exchange_fails(wire, 400, error(wire, -32022, data=supported))
        assert talk.notices(Reopened).reason == (
            "the server has become modern (error -32022)"
        )
        probe = talk.server_sees(method="server/discover")["id"]
        talk.server_says(result(probe, DISCOVER), probe)
        assert talk.notices(Connected).verdict.era is Era.MODERN
        talk.server_sees(method="subscriptions/listen")
        talk.server_sees(
            method="subscriptions/listen",
            params={"notifications": {"resourceSubscriptions": ["a"]}},
        )
        wire = talk.server_sees(method="tools/call")["id"]
        body: Json = {"resultType": "complete", "content": []}
        talk.server_says(result(wire, body), wire)
        assert talk.client_sees(id=2)["result"] == {"content": []}


def test_without_a_listener_no_list_changes_are_asked_of_the_new_server() -> None:
    with opened(list_changes=False) as talk:
        wire = called(talk, 2)
        talk.server_says(error(wire, -32020), wire)
        talk.notices(Reopened)
        probe = talk.server_sees(method="server/discover")["id"]
        talk.server_says(result(probe, DISCOVER), probe)
        talk.notices(Connected)
        talk.server_sees(method="tools/call")


def test_two_calls_that_meet_the_modern_server_open_it_once() -> None:
    with opened() as talk:
        legs = [called(talk, 1), called(talk, 2)]
        talk.server_says(error(legs[0], -32022), legs[0])
        talk.notices(Reopened)
        talk.server_sees(method="server/discover")
        talk.server_says(error(legs[1], -32022), legs[1])


def test_a_pinned_legacy_connection_keeps_the_servers_error() -> None:
    with legacy(**HTTP) as talk:
        wire = called(talk, 1)
        talk.server_says(error(wire, -32022), wire)
        talk.client_sees(id=1, error={"code": -32022})


def test_on_a_byte_stream_nothing_is_mended() -> None:
    with legacy() as talk:
        talk.client_says(request(1, "tools/list"))
        talk.server_says(error(talk.server_sees()["id"], -32022))
        talk.client_sees(id=1, error={"code": -32022})
