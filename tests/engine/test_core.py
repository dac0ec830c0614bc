from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine import Dropped, Engine, Face, Failure, Fault
from mcp_anyera.eras import Era, era_of, newest_common
from tests.engine.conversation import (
    INITIALIZED,
    Talk,
    initialize,
    legacy,
    modern,
    notification,
    request,
    result,
)

BATCHING: dict[str, Any] = {**INITIALIZED, "protocolVersion": "2025-03-26"}


def test_a_new_engine_knows_nothing_and_wants_no_time() -> None:
    engine = Engine()
    assert (engine.era, engine.revision, engine.deadline, engine.in_flight) == (
        None,
        None,
        None,
        0,
    )


@pytest.mark.parametrize("make", [modern, legacy])
def test_ping_of_the_client_side(make: Any) -> None:
    with make() as talk:
        talk.client_says(request(1, "ping"))
        if talk.engine.era is Era.MODERN:
            talk.client_sees(id=1, result={})
        else:
            talk.server_sees(method="ping")


def test_ping_of_a_legacy_server_is_answered_here() -> None:
    with legacy() as talk:
        talk.server_says(request("p", "ping"))
        talk.server_sees(id="p", result={})


def test_before_the_handshake_only_ping_is_answered() -> None:
    with Talk() as talk:
        talk.client_says(request(1, "ping"))
        talk.client_sees(id=1, result={})
        talk.client_says(request(2, "tools/list"))
        talk.client_fails(
            2,
            "tools/list came before the handshake was over; send initialize first",
            -32600,
        )
        talk.client_says(request(3, "server/discover"))
        talk.client_fails(
            3,
            "Method not found: this side speaks a legacy revision; send initialize",
            -32601,
        )
        talk.client_says(notification("notifications/cancelled", {"requestId": 1}))
        talk.notices(Dropped)


def test_discover_is_forwarded_only_where_both_sides_are_modern() -> None:
    with modern(face=Face.NATIVE) as talk:
        talk.client_says(request(1, "server/discover"))
        talk.server_sees(method="server/discover")
    for talk in (modern(), legacy(face=Face.NATIVE)):
        with talk:
            talk.client_says(request(1, "server/discover"))
            talk.client_fails(
                1,
                "Method not found: this side speaks a legacy revision; send initialize",
            )


def test_unknown_methods_pass() -> None:
    with modern() as talk:
        talk.client_says(request(1, "vendor/do", {"x": 1}))
        wire = talk.server_sees(method="vendor/do", params={"x": 1})["id"]
        talk.server_says(result(wire, {"y": 2}))
        talk.client_sees(id=1, result={"y": 2})


@pytest.mark.parametrize(
    ("message", "id_", "problem"),
    [
        (3, None, "it is not a JSON object"),
        ({"id": 4}, 4, "it must have exactly one of result and error"),
        ({"id": 4, "method": 5}, 4, "its method is not a string"),
        ({"id": [4], "method": "m"}, None, "its id is no string or integer"),
    ],
)
def test_a_malformed_message_of_the_client_side_is_answered(
    message: Any, id_: Any, problem: str
) -> None:
    with modern() as talk:
        talk.client_says(message)
        talk.client_fails(
            id_, f"the client side sent a malformed message: {problem}", -32600
        )


def test_a_malformed_message_under_an_id_in_use_does_not_end_the_call() -> None:
    with modern() as talk:
        talk.client_says(request(4, "tools/list"))
        wire = talk.server_sees()["id"]
        talk.client_says({"id": 4, "method": 5})
        talk.client_fails(
            None, "the client side sent a malformed message: its method is not a string"
        )
        talk.server_says(result(wire))
        talk.client_sees(id=4)


@pytest.mark.parametrize("id_", [4, None, [1]])
def test_a_malformed_answer_to_nothing_is_dropped(id_: Any) -> None:
    with modern() as talk:
        talk.client_says({"id": id_, "result": 3})
        talk.notices(Dropped)


@pytest.mark.parametrize("message", [None, "x", [], {"id": 1, "method": 3}, {"x": 1}])
def test_a_malformed_message_of_the_server_is_dropped(message: Any) -> None:
    with modern() as talk:
        talk.server_says(message)
        assert talk.notices(Dropped).what == "a message of the server"


def test_batches_are_legal_in_one_revision_only() -> None:
    with legacy(answer=BATCHING) as talk:
        talk.client_says(request(1, "tools/list"))
        wire = talk.server_sees()["id"]
        talk.server_says([notification("notifications/x"), result(wire), 3, []])
        talk.client_sees(method="notifications/x")
        talk.client_sees(id=1)
        talk.notices(Dropped)
        talk.notices(Dropped)
        talk.server_says([])
    for talk in (legacy(), modern()):
        with talk:
            talk.server_says([notification("notifications/x")])
            talk.notices(Dropped)


def test_an_id_may_be_used_again_after_its_answer() -> None:
    with modern() as talk:
        seen = set[Any]()
        for _ in range(3):
            talk.client_says(request(1, "tools/list"))
            wire = talk.server_sees()["id"]
            seen.add(wire)
            talk.server_says(result(wire))
            talk.client_sees(id=1)
        assert len(seen) == 3


def test_a_tick_that_comes_early_does_nothing() -> None:
    with Talk() as talk:
        talk.client_says(initialize())
        talk.server_sees()
        talk.time_passes(0.5)
        assert talk.engine.deadline == 100.9


def test_what_is_due_is_done_before_the_input_that_comes_with_it() -> None:
    with Talk() as talk:
        talk.client_says(initialize())
        talk.server_sees(method="server/discover")
        talk.now += 2
        talk.server_says(request(1, "ping"))
        talk.server_sees(method="initialize")
        talk.server_sees(id=1)


def test_a_failure_says_on_the_wire_that_it_is_ours_unless_it_carries_data() -> None:
    assert Failure(Fault.LOST, "m").as_error() == {
        "code": -32000,
        "message": "m",
        "data": {"io.github.mcp-anyera/fault": "lost"},
    }
    assert Failure(Fault.LOST, "m", -1, 5).as_error() == {
        "code": -1,
        "message": "m",
        "data": 5,
    }


def test_revisions_belong_to_eras() -> None:
    assert era_of("2026-07-28") is Era.MODERN
    assert era_of("2024-11-05") is Era.LEGACY
    assert era_of("2099-01-01") is None
    assert newest_common(("c", "b", "a"), ["a", "b", "x"]) == "b"
    assert newest_common(("c",), []) is None
