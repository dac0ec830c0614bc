from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine import Dropped, Exchange, Face, Fault
from tests.engine.conversation import (
    FORM,
    Talk,
    error,
    legacy,
    modern,
    notification,
    request,
    result,
    rounds,
)

K = "io.modelcontextprotocol/"
CALL = request(7, "tools/call", {"name": "t", "arguments": {"a": 1}})


def called(talk: Talk, message: Any = CALL, **options: Any) -> Any:
    talk.client_says(message, **options)
    return talk.server_sees(method=message["method"])["id"]


def test_a_modern_request_is_stamped_and_gets_a_fresh_id() -> None:
    with modern() as talk:
        talk.client_says(CALL)
        wire = talk.server_sees(method="tools/call")
        assert wire["id"] != 7
        assert wire["params"]["name"] == "t"
        assert wire["params"]["arguments"] is CALL["params"]["arguments"]
        assert wire["params"]["_meta"][K + "protocolVersion"] == "2026-07-28"
        assert wire["params"]["_meta"][K + "clientCapabilities"]["roots"] == {}
        talk.server_says(result(wire["id"], {"resultType": "complete", "content": []}))
        assert talk.client_sees(id=7)["result"] == {"content": []}


def test_a_request_without_params_gets_some() -> None:
    with modern() as talk:
        talk.client_says(request(1, "tools/list"))
        assert set(talk.server_sees()["params"]) == {"_meta"}


def test_a_native_face_gets_the_modern_result() -> None:
    with modern(face=Face.NATIVE) as talk:
        wire = called(talk)
        talk.server_says(result(wire, {"ttlMs": 1}))
        assert talk.client_sees(id=7)["result"] == {
            "ttlMs": 1,
            "resultType": "complete",
        }


def test_a_legacy_request_goes_out_and_comes_back_by_identity() -> None:
    with legacy() as talk:
        talk.client_says(CALL)
        wire = talk.server_sees(method="tools/call")
        assert wire["params"] is CALL["params"]
        body = {"resultType": "left alone"}
        talk.server_says(result(wire["id"], body))
        assert talk.client_sees(id=7)["result"] is body


def test_errors_of_the_server_stay_what_they_are() -> None:
    for talk in (modern(), legacy()):
        with talk:
            wire = called(talk)
            talk.server_says(error(wire, -32042, "why", {"x": 1}))
            talk.client_sees(
                id=7, error={"code": -32042, "message": "why", "data": {"x": 1}}
            )


def test_a_missing_resource_is_translated_for_a_legacy_face_only_where_asked() -> None:
    read = request(1, "resources/read", {"uri": "u"})
    for translate, code in ((True, -32002), (False, -32602)):
        with modern(translate_missing_resource=translate) as talk:
            wire = called(talk, read)
            talk.server_says(error(wire, -32602, "gone", {"uri": "u"}))
            talk.client_sees(id=1, error={"code": code})


def test_an_unknown_result_type_is_an_error() -> None:
    with modern() as talk:
        wire = called(talk)
        talk.server_says(result(wire, {"resultType": "task"}))
        talk.client_fails(
            7, "tools/call 't' was answered with the unknown resultType 'task'", -32603
        )


@pytest.mark.parametrize("make", [modern, legacy])
def test_a_malformed_reply_fails_the_call_that_it_names(make: Any) -> None:
    with make() as talk:
        wire = called(talk)
        talk.server_says({"jsonrpc": "2.0", "id": wire, "result": [1]})
        failure = talk.client_fails(
            7,
            "tools/call 't' was answered with a malformed message: its result is not an object",
        )
        assert failure.fault is Fault.VIOLATION
        assert failure.as_error()["data"] == {"io.github.mcp-anyera/fault": "violation"}


@pytest.mark.parametrize("make", [modern, legacy])
def test_late_repeated_and_unknown_replies_are_dropped(make: Any) -> None:
    with make() as talk:
        wire = called(talk)
        talk.server_says(result(wire))
        talk.client_sees(id=7)
        for message in (
            result(wire),
            error(wire),
            result(9999),
            result("x"),
            result(None),
            result([1]),
        ):
            talk.server_says(message)
            assert talk.notices(Dropped).what == "a response of the server"
        talk.server_says({"jsonrpc": "2.0", "id": "odd", "result": 3})
        assert talk.notices(Dropped).what == "a message of the server"


def test_an_id_that_comes_back_as_text_still_finds_its_call() -> None:
    with legacy() as talk:
        wire = called(talk)
        talk.server_says(result("9" * 25))
        talk.notices(Dropped)
        talk.server_says(result("12345"))
        talk.notices(Dropped)
        talk.server_says(result(str(wire)))
        talk.client_sees(id=7)


def test_an_id_that_is_in_use_is_answered_with_an_error_at_once() -> None:
    with modern() as talk:
        wire = called(talk)
        talk.client_says(CALL)
        message = talk.client_sees(id=7)
        assert (
            message["error"]["message"]
            == "request id 7 is in use by a request that is still open"
        )
        talk.server_says(result(wire))
        talk.client_sees(id=7)
        called(talk)


@pytest.mark.parametrize("make", [modern, legacy])
def test_a_cancelled_call_is_cancelled_under_its_wire_id_and_never_answered(
    make: Any,
) -> None:
    with make() as talk:
        wire = called(talk)
        talk.client_says(
            notification("notifications/cancelled", {"requestId": 7, "reason": "bored"})
        )
        talk.server_sees(
            method="notifications/cancelled",
            params={"requestId": wire, "reason": "bored"},
        )
        talk.server_says(result(wire))
        talk.notices(Dropped)
        assert talk.engine.in_flight == 0
        talk.client_says(notification("notifications/cancelled", {"requestId": 7}))
        talk.notices(Dropped)


@pytest.mark.parametrize("params", [None, {}, {"requestId": [1]}, {"requestId": 99}])
def test_a_cancellation_that_names_nothing_is_dropped(params: Any) -> None:
    with modern() as talk:
        talk.client_says(notification("notifications/cancelled", params))
        talk.notices(Dropped)


def test_on_modern_http_cancelling_closes_the_exchange() -> None:
    with modern(exchange=Exchange.HTTP) as talk:
        wire = called(talk)
        talk.client_says(notification("notifications/cancelled", {"requestId": 7}))
        talk.aborts(wire)


def test_on_legacy_http_cancelling_is_a_notification_and_nobody_reads_on() -> None:
    with legacy(exchange=Exchange.HTTP) as talk:
        wire = called(talk)
        talk.client_says(
            notification("notifications/cancelled", {"requestId": 7, "reason": 3})
        )
        talk.server_sees(params={"requestId": wire, "reason": "cancelled"})
        talk.aborts(wire)


def test_a_call_that_takes_too_long_fails_and_the_server_is_told() -> None:
    with modern() as talk:
        wire = called(talk, read_timeout=5.0)
        assert talk.engine.deadline == 105.0
        talk.time_passes(5)
        talk.server_sees(method="notifications/cancelled", params={"requestId": wire})
        talk.client_fails(
            7,
            "tools/call 't' took longer than 5 s (the server had not answered); "
            "raise read_timeout_seconds if it may take longer",
            -32001,
        )
        assert talk.engine.deadline is None


def test_progress_winds_the_clock_up_to_the_total() -> None:
    with modern() as talk:
        message = request(
            7, "tools/call", {"name": "t", "_meta": {"progressToken": "p"}}
        )
        wire = called(talk, message, read_timeout=5.0, total_timeout=8.0)
        talk.time_passes(4)
        talk.server_says(
            notification(
                "notifications/progress", {"progressToken": "p", "progress": 1}
            )
        )
        talk.client_sees(method="notifications/progress")
        talk.time_passes(3)
        talk.time_passes(1)
        talk.server_sees(params={"requestId": wire})
        talk.client_fails(
            7,
            "tools/call 't' took longer than 8 s (the server had not answered); raise total_timeout_seconds if it may take longer",
        )


def test_a_call_without_a_name_is_called_by_its_method() -> None:
    with legacy() as talk:
        wire = called(talk, request(1, "tools/list"), read_timeout=1.0)
        talk.time_passes(1)
        talk.server_sees(params={"requestId": wire})
        talk.client_fails(
            1,
            "tools/list took longer than 1 s (the server had not answered); raise read_timeout_seconds if it may take longer",
        )


@pytest.mark.parametrize("make", [modern, legacy])
def test_a_server_that_dies_ends_every_open_call(make: Any) -> None:
    with make() as talk:
        called(talk)
        called(talk, request("b", "tools/list"), read_timeout=5.0)
        talk.server_ends("exit status 3")
        talk.client_fails(
            7, "connection closed while tools/call 't' was open: exit status 3", -32000
        )
        talk.client_fails(
            "b", "connection closed while tools/list was open: exit status 3", -32000
        )
        talk.client_says(request(9, "tools/list"))
        talk.client_fails(
            9, "tools/list was not sent: the connection is closed", -32000
        )
        assert talk.engine.deadline is None


def test_a_client_side_that_leaves_cancels_what_it_asked_for() -> None:
    with modern() as talk:
        wire = called(talk)
        talk.client_leaves()
        talk.server_sees(method="notifications/cancelled", params={"requestId": wire})
        assert talk.engine.in_flight == 0


def test_listen_requests_of_a_session_travel_under_a_name_of_ours() -> None:
    with modern(face=Face.NATIVE) as talk:
        talk.client_says(
            request("listen-1", "subscriptions/listen", {"notifications": {}})
        )
        wire = talk.server_sees(method="subscriptions/listen")["id"]
        assert wire != "listen-1"
        assert isinstance(wire, str)
        meta = {K + "subscriptionId": wire}
        for method in (
            "notifications/subscriptions/acknowledged",
            "notifications/tools/list_changed",
        ):
            talk.server_says(notification(method, {"_meta": meta}))
            talk.client_sees(
                method=method, params={"_meta": {K + "subscriptionId": "listen-1"}}
            )
        talk.server_says(notification("notifications/cancelled", {"requestId": wire}))
        talk.client_sees(params={"requestId": "listen-1"})
        talk.server_says(result(wire, {"_meta": meta}))
        talk.client_sees(id="listen-1")


def test_the_clock_stands_still_while_a_question_is_open() -> None:
    with modern() as talk:
        wire = called(talk, read_timeout=5.0)
        talk.time_passes(4)
        talk.server_says(result(wire, rounds(inputRequests={"a": FORM})))
        talk.notices(object)
        question = talk.client_sees(method="elicitation/create")["id"]
        talk.time_passes(1000)
        talk.client_says(result(question, {"action": "accept"}))
        talk.server_sees(method="tools/call")
        assert talk.engine.deadline == talk.now + 5.0


def test_progress_while_a_question_is_open_does_not_start_the_clock() -> None:
    with modern() as talk:
        message = request(7, "tools/call", {"name": "t", "_meta": {"progressToken": 5}})
        wire = called(talk, message, read_timeout=5.0, total_timeout=50.0)
        talk.server_says(result(wire, rounds(inputRequests={"a": FORM})))
        talk.notices(object)
        question = talk.client_sees(method="elicitation/create")["id"]
        talk.server_says(
            notification("notifications/progress", {"progressToken": 5, "progress": 1})
        )
        talk.client_sees(method="notifications/progress")
        talk.time_passes(50)
        talk.client_sees(
            method="notifications/cancelled", params={"requestId": question}
        )
        talk.client_fails(
            7,
            "tools/call 't' took longer than 50 s (a question was open); raise total_timeout_seconds if it may take longer",
        )
        talk.client_says(result(question, {"action": "accept"}))
        talk.notices(Dropped)
