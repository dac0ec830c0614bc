"""Opening a connection over HTTP, and what a failed exchange does to a call."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine import (
    Connected,
    Dropped,
    Exchange,
    Failure,
    Fault,
    FellBack,
    Questions,
    RoundBegun,
)
from mcp_anyera.eras import Era
from tests.engine.conversation import (
    DISCOVER,
    INITIALIZED,
    ROOTS,
    Json,
    Talk,
    error,
    initialize,
    legacy,
    modern,
    notification,
    request,
    result,
    rounds,
)

HTTP: dict[str, Any] = {
    "exchange": Exchange.HTTP,
    "sse_fallback": True,
    "target": "http://x/mcp",
}
SHELL = Questions.SHELL
NOT_FOUND = {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "no"}}


def probed(**config: Any) -> tuple[Talk, int]:
    talk = Talk(**{**HTTP, **config})
    talk.client_says(initialize())
    return talk, talk.server_sees(method="server/discover")["id"]


def called(talk: Talk, id_: int, name: str = "t") -> int:
    talk.client_says(request(id_, "tools/call", {"name": name}))
    return talk.server_sees(method="tools/call")["id"]


def shakes_hands(talk: Talk) -> None:
    wire = talk.server_sees(method="initialize")["id"]
    talk.server_says(result(wire, INITIALIZED), wire)
    assert talk.notices(Connected).verdict.era is Era.LEGACY
    talk.client_sees(id="init")


def failure_of(talk: Talk) -> Failure:
    answer = talk.client_failure("init")
    assert answer.fault is Fault.CONNECT
    return answer


@pytest.mark.parametrize("status", [400, 404, 405, 406, 415, 422])
@pytest.mark.parametrize(
    "body", [None, NOT_FOUND, error(2, -32600), error(2, -32000), error(2, -32022)]
)
def test_a_refusal_of_the_probe_leads_to_a_handshake(
    status: int, body: Json | None
) -> None:
    talk, probe = probed()
    talk.exchange_fails(probe, status, body)
    shakes_hands(talk)
    talk.nothing_more()


def test_a_modern_error_in_the_body_is_evidence_whatever_the_status() -> None:
    for status in (200, 400, 422, 500):
        talk, probe = probed()
        supported = {"supported": ["2026-07-28"]}
        talk.exchange_fails(probe, status, error(probe, -32022, data=supported))
        again = talk.server_sees(method="server/discover")["id"]
        talk.server_says(result(again, DISCOVER), again)
        assert talk.notices(Connected).verdict.era is Era.MODERN
        talk.client_sees(id="init")
        talk.nothing_more()


@pytest.mark.parametrize("status", [None, 301, 408, 425, 429, 500, 503])
def test_how_the_server_is_says_nothing_about_its_era(status: int | None) -> None:
    talk, probe = probed()
    talk.exchange_fails(probe, status, later="30")
    failure = failure_of(talk)
    assert failure.http.status == status
    assert failure.http.retry_after == "30"
    said = "the line broke" if status is None else f"HTTP {status}"
    assert failure.message == (
        "could not connect to http://x/mcp: the server could not be asked for its "
        f"era (tried: server/discover: {said})"
    )
    talk.nothing_more()


@pytest.mark.parametrize("status", [401, 403])
def test_who_may_come_in_is_no_verdict(status: int) -> None:
    talk, probe = probed()
    talk.exchange_fails(probe, status, NOT_FOUND, challenge="Bearer x")
    failure = failure_of(talk)
    assert (failure.http.status, failure.http.challenge) == (status, "Bearer x")
    talk.nothing_more()


def test_with_a_credential_the_handshake_decides() -> None:
    talk, probe = probed()
    talk.exchange_fails(probe, 401, credentials=True)
    shakes_hands(talk)
    for body in (None, error(3, -32600), error(3, -32022)):
        talk, probe = probed()
        talk.exchange_fails(probe, 403, challenge="Bearer a", credentials=True)
        wire = talk.server_sees(method="initialize")["id"]
        talk.exchange_fails(wire, 401 if body is None else 400, body)
        if body is not None and body["error"]["code"] == -32022:
            again = talk.server_sees(method="server/discover")["id"]
            talk.exchange_fails(again, 403, challenge="Bearer a")
        assert failure_of(talk).http.challenge == "Bearer a"
        talk.nothing_more()
    talk, probe = probed(mode="modern")
    talk.exchange_fails(probe, 401, credentials=True)
    assert failure_of(talk).http.status == 401


def test_a_late_answer_to_the_probe_counts_at_once_over_http() -> None:
    talk, probe = probed(probe_timeout=3.0)
    talk.time_passes(3)
    wire = talk.server_sees(method="initialize")["id"]
    talk.server_says(result(probe, DISCOVER), probe)
    talk.aborts(wire)
    verdict = talk.notices(Connected).verdict
    assert verdict.era is Era.MODERN
    talk.client_sees(id="init")
    talk.nothing_more()


def test_a_probe_that_hangs_is_closed_when_the_handshake_has_worked() -> None:
    talk, probe = probed(probe_timeout=3.0)
    talk.time_passes(3)
    wire = talk.server_sees(method="initialize")["id"]
    talk.server_says(result(wire, INITIALIZED), wire)
    talk.aborts(probe)
    talk.notices(Connected)
    talk.client_sees(id="init")
    talk.nothing_more()


def test_a_probe_that_fails_late_is_one_more_step_in_the_error() -> None:
    talk, probe = probed(probe_timeout=3.0)
    talk.time_passes(3)
    wire = talk.server_sees(method="initialize")["id"]
    talk.server_says(error(probe, -32601), probe)
    talk.notices(Dropped)
    talk.exchange_fails(wire)
    assert failure_of(talk).message == (
        "could not connect to http://x/mcp: the handshake failed (tried: "
        "server/discover: no answer within 3 s; initialize: the line broke)"
    )
    talk, probe = probed(probe_timeout=3.0)
    talk.time_passes(3)
    wire = talk.server_sees(method="initialize")["id"]
    talk.exchange_fails(probe, 504)
    talk.exchange_fails(wire, 504)
    assert "server/discover: HTTP 504; initialize: HTTP 504" in failure_of(talk).message


@pytest.mark.parametrize("status", [400, 404, 405])
def test_a_refused_handshake_leads_to_the_old_transport(status: int) -> None:
    talk, probe = probed()
    talk.exchange_fails(probe, status)
    wire = talk.server_sees(method="initialize")["id"]
    talk.exchange_fails(wire, status, error(wire, -32000))
    talk.notices(FellBack)
    talk.falls_back()
    talk.server_starts()
    again = talk.server_sees(method="initialize")["id"]
    talk.server_says(result(again, {**INITIALIZED, "protocolVersion": "2024-11-05"}))
    assert talk.notices(Connected).verdict.revision == "2024-11-05"
    talk.client_sees(id="init")
    talk.nothing_more()


@pytest.mark.parametrize("status", [401, 406, 411, 415, 500])
def test_no_other_status_leads_to_the_old_transport(status: int) -> None:
    talk, probe = probed()
    talk.exchange_fails(probe, 404)
    wire = talk.server_sees(method="initialize")["id"]
    talk.exchange_fails(wire, status)
    assert failure_of(talk).http.status == status
    talk.nothing_more()


def test_the_first_error_is_raised_and_the_second_is_its_cause() -> None:
    talk, probe = probed()
    talk.exchange_fails(probe, 404)
    wire = talk.server_sees(method="initialize")["id"]
    talk.exchange_fails(wire, 404)
    talk.notices(FellBack)
    talk.falls_back()
    talk.server_ends("HTTP 405 on GET")
    failure = failure_of(talk)
    assert failure.http.status == 404
    assert failure.message == (
        "could not connect to http://x/mcp: the handshake was refused (tried: "
        "server/discover: HTTP 404; initialize: HTTP 404; "
        "the server: ended (HTTP 405 on GET))"
    )
    assert isinstance(failure.cause, Failure)
    assert failure.cause.message == (
        "the HTTP+SSE transport failed: the server ended before the handshake was over"
    )


def test_a_modern_error_to_the_handshake_brings_one_more_probe() -> None:
    talk, probe = probed()
    talk.exchange_fails(probe, 404)
    wire = talk.server_sees(method="initialize")["id"]
    talk.exchange_fails(wire, 400, error(wire, -32022))
    again = talk.server_sees(method="server/discover")["id"]
    talk.server_says(result(again, DISCOVER), again)
    assert talk.notices(Connected).verdict.era is Era.MODERN
    talk.client_sees(id="init")


def test_a_failed_exchange_hits_its_own_call_alone() -> None:
    with modern(**HTTP) as talk:
        first = called(talk, 1, "a")
        second = called(talk, 2, "b")
        talk.exchange_fails(first, 403, challenge="Bearer", later="9")
        failure = talk.client_fails(
            1,
            "tools/call 'a' failed: HTTP 403; check the credentials (headers=, auth= "
            "or http_client=)",
            -32603,
        )
        assert failure.fault is Fault.HTTP
        assert failure.as_error()["data"] == {
            "io.github.mcp-anyera/fault": "http",
            "io.github.mcp-anyera/status": 403,
        }
        talk.server_says(result(second, {"content": []}), second)
        talk.client_sees(id=2)


def test_an_error_in_the_body_is_the_servers_own() -> None:
    with modern(**HTTP) as talk:
        wire = called(talk, 1, "a")
        talk.exchange_fails(wire, 500, error(None, -32050, "mine", {"a": 1}))
        talk.client_sees(id=1, error={"code": -32050, "message": "mine"})


def test_the_answer_to_somebody_else_answers_nobody() -> None:
    with modern(**HTTP) as talk:
        first, second = called(talk, 1), called(talk, 2)
        talk.server_says(result(second, {"content": []}), first)
        text = (
            "tools/call 't' failed: the server answered with the id of another request"
        )
        assert talk.client_fails(1, text).fault is Fault.VIOLATION
        talk.notices(Dropped)
        talk.server_says(result(str(second), {"content": []}), second)
        talk.client_sees(id=2)


def test_an_error_without_an_id_belongs_to_the_exchange_that_it_came_on() -> None:
    with legacy(**HTTP) as talk:
        wire = called(talk, 1)
        talk.server_says(error(None, -32700, "unreadable"), wire)
        talk.client_sees(id=1, error={"code": -32700})
        wire = called(talk, 2)
        talk.server_says({"jsonrpc": "2.0", "result": [1]}, wire)
        talk.client_fails(
            2,
            "tools/call 't' was answered with a malformed message: it has neither a "
            "method nor an id",
        )


def test_an_exchange_that_nobody_waits_for_is_dropped() -> None:
    with modern(**HTTP) as talk:
        talk.exchange_fails(99, 500)
        assert talk.notices(Dropped).reason == "HTTP 500"


def test_a_question_is_asked_for_the_call_on_whose_response_it_came() -> None:
    with legacy(questions=SHELL, **HTTP) as talk:
        called(talk, 1, "a")
        second = called(talk, 2, "b")
        talk.server_says(request("q", "roots/list"), second)
        question = talk.asks("roots/list")
        assert question.call is not None
        assert question.call.name == "b"
        talk.server_says(request("r", "roots/list"))
        assert talk.asks("roots/list").call is None


def test_a_round_whose_exchange_breaks_fails_the_call_and_not_the_rest() -> None:
    with modern(questions=SHELL, **HTTP) as talk:
        wire = called(talk, 1)
        talk.server_says(result(wire, rounds(inputRequests={"a": ROOTS})), wire)
        talk.notices(RoundBegun)
        talk.answers(talk.asks("roots/list"), {"roots": []})
        again = talk.server_sees(method="tools/call")["id"]
        talk.exchange_fails(again)
        failure = talk.client_fails(1, "tools/call 't' failed: the line broke", -32000)
        assert failure.fault is Fault.LOST


def test_a_call_that_takes_too_long_says_why_questions_may_not_come() -> None:
    with legacy(**HTTP) as talk:
        assert talk.engine.suspect("it replies with JSON", talk.now) == []
        talk.client_says(request(1, "tools/call", {"name": "t"}), read_timeout=5.0)
        wire = talk.server_sees(method="tools/call")["id"]
        talk.time_passes(5)
        talk.server_sees(method="notifications/cancelled")
        talk.aborts(wire)
        talk.client_fails(
            1,
            "tools/call 't' took longer than 5 s (the server had not answered); raise "
            "read_timeout_seconds if it may take longer; it replies with JSON",
        )


def test_a_cancelled_call_on_a_modern_server_is_closed_and_nothing_is_said() -> None:
    with modern(**HTTP) as talk:
        wire = called(talk, 1)
        talk.client_says(notification("notifications/cancelled", {"requestId": 1}))
        talk.aborts(wire)


def held(talk: Talk, leg: int, *, begins: bool) -> None:
    assert talk.engine.exchange_held(leg, talk.now, held=begins) == []


def test_a_login_stops_the_clocks_of_the_opening() -> None:
    talk, probe = probed(probe_timeout=3.0, connect_timeout=10.0)
    talk.time_passes(2)
    held(talk, probe, begins=True)
    held(talk, probe, begins=True)
    talk.time_passes(1000)
    held(talk, probe, begins=False)
    talk.time_passes(0.5)
    assert talk.engine.deadline == talk.now + 0.5
    talk.time_passes(0.5)
    wire = talk.server_sees(method="initialize")["id"]
    held(talk, probe, begins=True)
    held(talk, wire, begins=True)
    held(talk, 99, begins=True)
    talk.time_passes(1000)
    held(talk, wire, begins=False)
    assert talk.engine.deadline is None
    held(talk, probe, begins=False)
    talk.time_passes(7)
    assert "no answer within 10 s" in failure_after_aborts(talk, probe, wire).message


def failure_after_aborts(talk: Talk, *legs: int) -> Failure:
    for leg in legs:
        talk.aborts(leg)
    return failure_of(talk)


def test_a_connection_that_comes_about_during_a_login_has_no_clock_left() -> None:
    talk, probe = probed(probe_timeout=3.0)
    held(talk, probe, begins=True)
    talk.server_says(result(probe, DISCOVER), probe)
    talk.notices(Connected)
    talk.client_sees(id="init")
    assert talk.engine.deadline is None


def test_a_login_in_the_middle_of_a_call_is_no_time_of_the_machine() -> None:
    with modern(**HTTP) as talk:
        talk.client_says(request(1, "tools/call", {"name": "t"}), read_timeout=5.0)
        wire = talk.server_sees(method="tools/call")["id"]
        held(talk, wire, begins=True)
        held(talk, wire, begins=True)
        talk.time_passes(60)
        held(talk, wire, begins=False)
        assert talk.engine.deadline == talk.now + 5
        held(talk, wire, begins=True)
        talk.server_says(result(wire, {"content": []}), wire)
        talk.client_sees(id=1)
        assert talk.engine.deadline is None
