from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine import (
    CallInfo,
    Dialect,
    Dropped,
    Failure,
    Fault,
    Questions,
    Refused,
    RoundBegun,
)
from tests.engine.conversation import (
    FORM,
    ROOTS,
    SAMPLE,
    Talk,
    error,
    legacy,
    modern,
    notification,
    request,
    result,
    rounds,
)

CALL = request(7, "tools/call", {"name": "t", "arguments": {"a": 1}})
URL: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {"mode": "url", "message": "?", "url": "https://example.com/"},
}
SHELL: dict[str, Any] = {"questions": Questions.SHELL}
NO = Failure(Fault.REFUSED, "not today", -32050, {"why": "rain"})


def called(talk: Talk, message: Any = CALL, **options: Any) -> Any:
    talk.client_says(message, **options)
    return talk.server_sees(method=message["method"])["id"]


# -- modern, a session answers -----------------------------------------------------


def test_each_question_reaches_the_session_and_the_answers_go_out_together() -> None:
    with modern() as talk:
        wire = called(talk)
        asked = rounds(
            inputRequests={"a": FORM, "b": SAMPLE, "c": ROOTS}, requestState="s 1"
        )
        talk.server_says(result(wire, asked))
        begun = talk.notices(RoundBegun)
        assert begun == RoundBegun(
            "tools/call",
            1,
            ("elicitation/create", "sampling/createMessage", "roots/list"),
        )
        form = talk.client_sees(**FORM)["id"]
        sample = talk.client_sees(**SAMPLE)["id"]
        roots = talk.client_sees(method="roots/list")
        assert "params" not in roots
        talk.client_says(result(roots["id"], {"roots": []}))
        talk.client_says(result(form, {"action": "decline", "content": {"x": 1}}))
        talk.client_says(result(sample, {"role": "assistant", "_meta": {"m": 1}}))
        retry = talk.server_sees(method="tools/call")
        assert retry["id"] != wire
        assert retry["params"]["arguments"] is CALL["params"]["arguments"]
        assert retry["params"]["requestState"] == "s 1"
        assert retry["params"]["inputResponses"] == {
            "a": {"action": "decline"},
            "b": {"role": "assistant", "_meta": {"m": 1}},
            "c": {"roots": []},
        }
        talk.server_says(result(retry["id"], {"content": []}))
        talk.client_sees(id=7, result={"content": []})


def test_only_the_newest_answers_and_the_newest_state_go_out() -> None:
    with modern() as talk:
        wire = called(talk)
        talk.server_says(
            result(wire, rounds(inputRequests={"a": ROOTS}, requestState="one"))
        )
        talk.notices(RoundBegun)
        talk.client_says(result(talk.client_sees()["id"], {"roots": []}))
        second = talk.server_sees()["id"]
        talk.server_says(result(second, rounds(inputRequests={"b": ROOTS})))
        assert talk.notices(RoundBegun).number == 2
        talk.client_says(result(talk.client_sees()["id"], {"roots": []}))
        params = talk.server_sees()["params"]
        assert "requestState" not in params
        assert list(params["inputResponses"]) == ["b"]


@pytest.mark.parametrize("state", ["", "ü\u2028", "x" * 100_000])
def test_the_state_goes_back_as_it_came(state: str) -> None:
    with modern() as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(requestState=state)))
        assert talk.notices(RoundBegun).kinds == ()
        params = talk.server_sees(method="tools/call")["params"]
        assert params["requestState"] is state
        assert "inputResponses" not in params


def test_seeds_of_the_caller_go_out_once() -> None:
    seeded: dict[str, Any] = {
        "name": "t",
        "inputResponses": {"x": {}},
        "requestState": "old",
    }
    with modern() as talk:
        wire = called(talk, request(7, "tools/call", seeded))
        talk.server_says(result(wire, rounds(inputRequests={})))
        talk.notices(RoundBegun)
        params = talk.server_sees()["params"]
        assert params["inputResponses"] == {}
        assert "requestState" not in params


def test_a_url_question_gets_the_id_that_a_legacy_session_requires() -> None:
    with modern() as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(inputRequests={"a": URL})))
        talk.notices(RoundBegun)
        asked = talk.client_sees(method="elicitation/create")
        assert asked["params"]["elicitationId"] == asked["id"]
        assert "elicitationId" not in URL["params"]


def test_an_error_of_the_session_ends_the_call_and_its_siblings_are_withdrawn() -> None:
    with modern() as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(inputRequests={"a": FORM, "b": ROOTS})))
        talk.notices(RoundBegun)
        form = talk.client_sees(method="elicitation/create")["id"]
        roots = talk.client_sees(method="roots/list")["id"]
        talk.client_says(error(form, -1, "rejected", {"d": 1}))
        talk.client_sees(
            method="notifications/cancelled",
            params={"requestId": roots, "reason": "rejected"},
        )
        failure = talk.client_fails(7, "rejected", -1)
        assert failure.as_error()["data"] == {"d": 1}
        talk.client_says(result(roots, {"roots": []}))
        talk.notices(Dropped)


def test_a_malformed_answer_of_the_session_ends_the_call() -> None:
    with modern() as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(inputRequests={"a": FORM})))
        talk.notices(RoundBegun)
        form = talk.client_sees()["id"]
        talk.client_says({"jsonrpc": "2.0", "id": form, "result": 3})
        talk.client_fails(
            7,
            "the client side answered a question with a malformed message: its result is not an object",
            -32603,
        )


def test_cancelling_a_call_withdraws_its_questions_and_sends_nothing() -> None:
    with modern() as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(inputRequests={"a": FORM})))
        talk.notices(RoundBegun)
        form = talk.client_sees()["id"]
        talk.client_says(notification("notifications/cancelled", {"requestId": 7}))
        talk.client_sees(method="notifications/cancelled", params={"requestId": form})
        assert talk.engine.in_flight == 0


@pytest.mark.parametrize(
    ("method", "body", "problem"),
    [
        ("tools/call", {}, "it has neither inputRequests nor requestState"),
        (
            "tools/call",
            {"inputRequests": None, "requestState": None},
            "it has neither inputRequests nor requestState",
        ),
        ("tools/call", {"requestState": 3}, "its requestState is not a string"),
        (
            "tools/call",
            {"inputRequests": [FORM]},
            "its inputRequests are not an object",
        ),
        (
            "tools/call",
            {"inputRequests": {"a": 3}},
            "its question 'a' is not an object",
        ),
        (
            "tools/call",
            {"inputRequests": {"a": {"method": "ping"}}},
            "its question 'a' has the unknown method 'ping'",
        ),
        (
            "tools/call",
            {"inputRequests": {"a": {}}},
            "its question 'a' has the unknown method 'None'",
        ),
        (
            "tools/call",
            {"inputRequests": {"a": {"method": ["x"]}}},
            "its question 'a' has the unknown method \"['x']\"",
        ),
        (
            "tools/call",
            {"inputRequests": {"a": {"method": "elicitation/create"}}},
            "the params of question 'a' are not an object",
        ),
        (
            "tools/call",
            {"inputRequests": {"a": {"method": "roots/list", "params": []}}},
            "the params of question 'a' are not an object",
        ),
        (
            "tools/list",
            {"requestState": "s"},
            "tools/list may not be answered with questions",
        ),
    ],
)
def test_a_malformed_round_fails_the_call_and_names_the_fault(
    method: str, body: Any, problem: str
) -> None:
    with modern() as talk:
        wire = called(talk, request(7, method, {"name": "t"}))
        talk.server_says(result(wire, rounds(**body)))
        failure = talk.client_fails(
            7,
            f"{method} 't' was answered with an invalid InputRequiredResult: {problem}",
            -32603,
        )
        assert failure.fault is Fault.VIOLATION


def test_a_question_that_was_not_declared_fails_the_call_and_nobody_is_asked() -> None:
    with modern({"roots": {}}) as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(inputRequests={"a": ROOTS, "b": FORM})))
        talk.notices(RoundBegun)
        talk.notices(Refused)
        talk.client_fails(
            7,
            "Elicitation not supported: the server sent elicitation/create, and elicitation_callback= is not set",
            -32600,
        )


def test_rounds_have_a_limit_and_the_last_questions_are_kept() -> None:
    with modern(max_rounds=1) as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(inputRequests={"a": ROOTS})))
        talk.notices(RoundBegun)
        talk.client_says(result(talk.client_sees()["id"], {"roots": []}))
        wire = talk.server_sees()["id"]
        talk.server_says(result(wire, rounds(inputRequests={"a": ROOTS})))
        failure = talk.client_fails(
            7,
            "tools/call 't' still asks after 1 rounds (input_required_max_rounds); raise the limit if it may",
        )
        assert failure.fault is Fault.ROUNDS
        assert failure.questions == (ROOTS,)


def test_questions_have_a_limit() -> None:
    with modern(max_questions=1) as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(inputRequests={"a": ROOTS, "b": ROOTS})))
        talk.client_fails(
            7,
            "tools/call 't' still asks after 1 questions (max_questions); raise the limit if it may",
        )


# -- modern, only a state ----------------------------------------------------------


def test_a_state_alone_is_retried_at_once_then_with_growing_pauses() -> None:
    with modern() as talk:
        wire = called(talk, read_timeout=1.0)
        delays = list[float]()
        for _ in range(20):
            talk.server_says(result(wire, rounds(requestState="s")))
            talk.notices(RoundBegun)
            began = talk.now
            if delays:
                deadline = talk.engine.deadline
                assert deadline is not None
                talk.time_passes(deadline - talk.now)
            wire = talk.server_sees(method="tools/call")["id"]
            delays.append(round(talk.now - began, 4))
        assert delays[:4] == [0.0, 0.05, 0.075, 0.1125]
        assert delays[-1] == 5.0
        talk.server_says(result(wire))
        talk.client_sees(id=7)
        assert talk.engine.deadline is None


def test_patience_has_a_budget_of_its_own() -> None:
    with modern(state_only_budget=10.0) as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(requestState="s")))
        talk.notices(RoundBegun)
        wire = talk.server_sees()["id"]
        talk.now += 10
        talk.server_says(result(wire, rounds(requestState="s")))
        failure = talk.client_fails(
            7, "tools/call 't' has asked for patience for 10 s and is given up", -32001
        )
        assert failure.fault is Fault.TIMEOUT


def test_a_total_timeout_takes_the_place_of_the_budget() -> None:
    with modern(state_only_budget=10.0) as talk:
        wire = called(talk, total_timeout=100.0)
        talk.server_says(result(wire, rounds(requestState="s")))
        talk.notices(RoundBegun)
        wire = talk.server_sees()["id"]
        talk.now += 50
        talk.server_says(result(wire, rounds(requestState="s")))
        talk.notices(RoundBegun)
        talk.time_passes(1)
        talk.server_sees(method="tools/call")


def test_a_call_that_is_cancelled_while_it_waits_is_not_retried() -> None:
    with modern() as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(requestState="s")))
        talk.notices(RoundBegun)
        talk.server_says(result(talk.server_sees()["id"], rounds(requestState="s")))
        talk.notices(RoundBegun)
        talk.client_says(notification("notifications/cancelled", {"requestId": 7}))
        assert talk.engine.deadline is None


def test_a_question_between_two_waits_starts_the_pauses_again() -> None:
    with modern() as talk:
        wire = called(talk)
        for _ in range(2):
            talk.server_says(result(wire, rounds(requestState="s")))
            talk.notices(RoundBegun)
            wire = talk.server_sees()["id"]
            talk.server_says(result(wire, rounds(inputRequests={"a": ROOTS})))
            talk.notices(RoundBegun)
            talk.client_says(result(talk.client_sees()["id"], {"roots": []}))
            wire = talk.server_sees()["id"]


# -- modern, the shell answers -----------------------------------------------------


def test_the_shell_is_asked_and_knows_which_call_the_question_belongs_to() -> None:
    with modern(**SHELL) as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(inputRequests={"key": FORM})))
        talk.notices(RoundBegun)
        question = talk.asks("elicitation/create")
        assert (question.key, question.round, question.dialect) == (
            "key",
            1,
            Dialect.INPUT,
        )
        assert question.call == CallInfo("tools/call", "t", {"a": 1})
        talk.answers(question, {"action": "accept", "content": {"n": 1}})
        params = talk.server_sees()["params"]
        assert params["inputResponses"] == {
            "key": {"action": "accept", "content": {"n": 1}}
        }
        talk.answers(question, {"action": "accept"})
        assert talk.notices(Dropped).what == "an answer"


def test_a_refusal_of_the_shell_ends_the_call_with_its_code_message_and_data() -> None:
    with modern(**SHELL) as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(inputRequests={"a": FORM, "b": ROOTS})))
        talk.notices(RoundBegun)
        form, roots = talk.asks("elicitation/create"), talk.asks("roots/list")
        talk.refuses(form, NO)
        talk.withdraws(roots)
        assert talk.client_fails(7, "not today", -32050) is NO


def test_a_server_that_dies_withdraws_what_it_asked() -> None:
    with modern(**SHELL) as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(inputRequests={"a": FORM})))
        talk.notices(RoundBegun)
        form = talk.asks("elicitation/create")
        talk.server_ends("gone")
        talk.withdraws(form)
        talk.client_fails(7, "connection closed while tools/call 't' was open: gone")


def test_a_modern_server_that_asks_directly_is_not_answered() -> None:
    with modern(**SHELL) as talk:
        talk.server_says(request(1, "elicitation/create", FORM["params"]))
        assert talk.notices(Dropped).reason == "a modern server may not ask directly"


# -- legacy, a session answers -----------------------------------------------------


def test_a_direct_request_and_its_answer_pass_by_identity() -> None:
    with legacy() as talk:
        called(talk)
        asked = request("q", "elicitation/create", FORM["params"])
        talk.server_says(asked)
        assert talk.client_sees() is asked
        answer = result("q", {"action": "accept", "content": {}})
        talk.client_says(answer)
        assert talk.server_sees() is answer
        talk.client_says(answer)
        talk.notices(Dropped)


def test_what_is_no_question_goes_to_the_session_too() -> None:
    with legacy() as talk:
        talk.server_says(request(1, "vendor/thing"))
        talk.client_sees(method="vendor/thing")
        talk.client_says(error(1, -32601))
        talk.server_sees(id=1, error={"code": -32601})


def test_a_withdrawn_question_is_withdrawn_from_the_session() -> None:
    with legacy() as talk:
        talk.server_says(request(1, "roots/list"))
        talk.client_sees(method="roots/list")
        cancel = notification("notifications/cancelled", {"requestId": 1})
        talk.server_says(cancel)
        assert talk.client_sees() is cancel
        talk.client_says(error(1, 0, "Request cancelled"))
        talk.notices(Dropped)
        for params in ({"requestId": 1}, {"requestId": [1]}, {}):
            talk.server_says(notification("notifications/cancelled", params))
            talk.notices(Dropped)


def test_a_server_that_uses_an_id_twice_is_told() -> None:
    with legacy() as talk:
        talk.server_says(request(1, "roots/list"))
        talk.client_sees(method="roots/list")
        talk.server_says(request(1, "roots/list"))
        talk.server_sees(
            id=1, error={"code": -32600, "message": "request id 1 is already in use"}
        )


def test_a_dead_server_withdraws_direct_questions_from_the_session() -> None:
    with legacy() as talk:
        talk.server_says(request(1, "roots/list"))
        talk.client_sees(method="roots/list")
        talk.server_ends()
        talk.client_sees(method="notifications/cancelled", params={"requestId": 1})


# -- legacy, the shell answers -----------------------------------------------------


def test_a_question_belongs_to_the_only_call_in_flight() -> None:
    with legacy(**SHELL) as talk:
        wire = called(talk, read_timeout=5.0)
        talk.server_says(request(9, "elicitation/create", FORM["params"]))
        question = talk.asks("elicitation/create")
        assert (question.key, question.round, question.dialect) == (
            9,
            0,
            Dialect.DIRECT,
        )
        assert question.call == CallInfo("tools/call", "t", {"a": 1})
        talk.time_passes(1000)
        talk.answers(question, {"action": "cancel", "content": {}})
        talk.server_sees(id=9, result={"action": "cancel"})
        assert talk.engine.deadline == talk.now + 5.0
        talk.server_says(result(wire))
        talk.client_sees(id=7)


def test_with_two_calls_in_flight_the_question_belongs_to_none() -> None:
    with legacy(**SHELL) as talk:
        called(talk)
        second = called(talk, request(8, "tools/list"))
        talk.server_says(request(9, "roots/list"))
        assert talk.asks("roots/list").call is None
        talk.server_says(request(10, "roots/list"), leg=second)
        assert talk.asks("roots/list").call == CallInfo("tools/list", None)


def test_with_no_call_in_flight_the_question_is_served() -> None:
    with legacy(**SHELL) as talk:
        talk.server_says(request(9, "roots/list"))
        question = talk.asks("roots/list")
        assert question.call is None
        talk.answers(question, {"roots": []})
        talk.server_sees(id=9, result={"roots": []})


@pytest.mark.parametrize(
    ("reply", "refused"),
    [
        (result(0, {"isError": True, "content": []}), True),
        (error(0, -32603), True),
        (result(0, {"content": [], "isError": False}), False),
    ],
)
def test_a_refusal_becomes_the_outcome_unless_a_normal_result_arrived(
    reply: Any, refused: bool
) -> None:
    with legacy(**SHELL) as talk:
        wire = called(talk)
        talk.server_says(request(9, "elicitation/create", FORM["params"]))
        talk.refuses(
            talk.asks("elicitation/create"), NO, {"code": -32603, "message": "no text"}
        )
        assert talk.server_sees(id=9)["error"] == {"code": -32603, "message": "no text"}
        talk.server_says({**reply, "id": wire})
        if refused:
            assert talk.client_fails(7, "not today", -32050) is NO
        else:
            talk.client_sees(id=7, result={"content": []})


def test_a_refusal_without_words_for_the_server_tells_it_the_failure() -> None:
    with legacy(**SHELL) as talk:
        for failure, told in (
            (NO, {"code": -32050, "message": "not today", "data": {"why": "rain"}}),
            (Failure(Fault.CALLBACK, "oops"), {"code": -32603, "message": "oops"}),
        ):
            talk.server_says(request(9, "roots/list"))
            talk.refuses(talk.asks("roots/list"), failure)
            assert talk.server_sees(id=9)["error"] == told


def test_what_was_not_declared_is_refused_without_asking() -> None:
    with legacy({}, **SHELL) as talk:
        wire = called(talk)
        talk.server_says(request(9, "sampling/createMessage", SAMPLE["params"]))
        talk.notices(Refused)
        text = "Sampling not supported: the server sent sampling/createMessage, and sampling_callback= is not set"
        talk.server_sees(id=9, error={"code": -32600, "message": text})
        talk.server_says(result(wire, {"isError": True}))
        talk.client_fails(7, text, -32600)


def test_direct_questions_of_a_call_have_a_limit() -> None:
    with legacy(max_questions=1, **SHELL) as talk:
        called(talk)
        talk.server_says(request(1, "roots/list"))
        talk.answers(talk.asks("roots/list"), {"roots": []})
        talk.server_sees(id=1)
        talk.server_says(request(2, "roots/list"))
        talk.notices(Refused)
        talk.server_sees(
            id=2,
            error={
                "message": "tools/call 't' still asks after 1 questions (max_questions); raise the limit if it may"
            },
        )


def test_what_is_no_question_is_unknown_to_the_shell() -> None:
    with legacy(**SHELL) as talk:
        talk.server_says(request(1, "tasks/list"))
        talk.server_sees(id=1, error={"code": -32601, "data": "tasks/list"})


def test_a_question_is_withdrawn_when_its_call_ends() -> None:
    with legacy(**SHELL) as talk:
        wire = called(talk)
        talk.server_says(request(9, "roots/list"))
        question = talk.asks("roots/list")
        talk.server_says(result(wire, {"content": []}))
        talk.withdraws(question)
        talk.server_sees(
            id=9,
            error={
                "code": -32603,
                "message": "The question is withdrawn: its call has ended",
            },
        )
        talk.client_sees(id=7)
        talk.answers(question, {"roots": []})
        talk.notices(Dropped)


def test_ending_one_call_leaves_the_questions_of_others_alone() -> None:
    with legacy(**SHELL) as talk:
        first, second = (
            called(talk),
            called(talk, request(8, "tools/call", {"name": "u"})),
        )
        talk.server_says(request(1, "roots/list"), leg=first)
        mine = talk.asks("roots/list")
        talk.server_says(request(2, "roots/list"), leg=second)
        other = talk.asks("roots/list")
        talk.server_says(result(first))
        talk.withdraws(mine)
        talk.server_sees(id=1, error={})
        talk.client_sees(id=7)
        talk.answers(other, {"roots": []})
        talk.server_sees(id=2)


def test_a_question_is_withdrawn_when_its_call_is_cancelled_or_the_server_withdraws_it() -> (
    None
):
    with legacy(**SHELL) as talk:
        wire = called(talk)
        talk.server_says(request(1, "roots/list"))
        first = talk.asks("roots/list")
        talk.server_says(notification("notifications/cancelled", {"requestId": 1}))
        talk.withdraws(first)
        talk.server_says(request(2, "roots/list"))
        second = talk.asks("roots/list")
        talk.client_says(notification("notifications/cancelled", {"requestId": 7}))
        talk.server_sees(method="notifications/cancelled", params={"requestId": wire})
        talk.withdraws(second)
        talk.server_sees(id=2, error={})


def test_a_client_side_that_leaves_withdraws_everything() -> None:
    with legacy(**SHELL) as talk:
        talk.server_says(request(1, "roots/list"))
        question = talk.asks("roots/list")
        talk.client_leaves()
        talk.withdraws(question)
        talk.server_sees(
            id=1,
            error={"message": "The question is withdrawn: the client side is closed"},
        )
    with modern(**SHELL) as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(inputRequests={"a": ROOTS})))
        talk.notices(RoundBegun)
        question = talk.asks("roots/list")
        talk.client_leaves()
        talk.withdraws(question)


def test_an_answer_under_a_strange_id_is_dropped() -> None:
    with modern() as talk:
        for id_ in (5, "5", None, [1]):
            talk.client_says(result(id_))
            talk.notices(Dropped)


# -- a no is a no -----------------------------------------------------------------------


def test_a_declined_question_that_comes_again_is_answered_as_before_once() -> None:
    with modern(**SHELL) as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(inputRequests={"a": FORM, "b": ROOTS})))
        talk.notices(RoundBegun)
        form, roots = talk.asks("elicitation/create"), talk.asks("roots/list")
        talk.answers(form, {"action": "decline"})
        talk.answers(roots, {"roots": []})
        wire = talk.server_sees()["id"]
        talk.server_says(result(wire, rounds(inputRequests={"x": FORM})))
        talk.notices(RoundBegun)
        talk.notices(Refused)
        retry = talk.server_sees(method="tools/call")
        assert retry["params"]["inputResponses"] == {"x": {"action": "decline"}}
        talk.server_says(result(retry["id"], rounds(inputRequests={"a": FORM})))
        talk.notices(RoundBegun)
        talk.notices(Refused)
        failure = talk.client_fails(
            7, "the server asks again what was answered with 'decline' twice", -32603
        )
        assert failure.fault is Fault.DECLINED


def test_only_the_identical_question_is_answered_as_before() -> None:
    other = {**FORM, "params": {**FORM["params"], "message": "really?"}}
    with modern() as talk:
        wire = called(talk)
        talk.server_says(result(wire, rounds(inputRequests={"a": FORM})))
        talk.notices(RoundBegun)
        talk.client_says(result(talk.client_sees()["id"], {"action": "cancel"}))
        wire = talk.server_sees()["id"]
        talk.server_says(result(wire, rounds(inputRequests={"a": FORM, "b": other})))
        talk.notices(RoundBegun)
        talk.notices(Refused)
        question = talk.client_sees(params={"message": "really?"})["id"]
        talk.client_says(result(question, {"action": "accept", "content": {}}))
        talk.server_sees(
            params={
                "inputResponses": {
                    "a": {"action": "cancel"},
                    "b": {"action": "accept", "content": {}},
                }
            }
        )


def test_a_url_that_was_declined_is_the_same_url_under_another_id() -> None:
    with modern(**SHELL) as talk:
        wire = called(talk)
        for turn in range(2):
            talk.server_says(result(wire, rounds(inputRequests={"a": URL})))
            talk.notices(RoundBegun)
            if turn == 0:
                question = talk.asks("elicitation/create")
                talk.answers(question, {"action": "decline"})
            else:
                talk.notices(Refused)
            wire = talk.server_sees()["id"]


def test_a_legacy_server_that_insists_hears_the_same_once_and_then_an_error() -> None:
    with legacy(**SHELL) as talk:
        wire = called(talk)
        talk.server_says(request(1, "elicitation/create", FORM["params"]))
        talk.answers(talk.asks("elicitation/create"), {"action": "decline"})
        talk.server_sees(id=1, result={"action": "decline"})
        talk.server_says(request(2, "elicitation/create", FORM["params"]))
        talk.notices(Refused)
        talk.server_sees(id=2, result={"action": "decline"})
        talk.server_says(request(3, "elicitation/create", FORM["params"]))
        talk.notices(Refused)
        talk.server_sees(id=3, error={"code": -32603})
        talk.server_says(error(wire, -32000))
        failure = talk.client_fails(
            7, "the server asks again what was answered with 'decline' twice"
        )
        assert failure.fault is Fault.DECLINED


def test_a_question_of_no_call_is_asked_every_time() -> None:
    with legacy(**SHELL) as talk:
        for id_ in (1, 2):
            talk.server_says(request(id_, "elicitation/create", FORM["params"]))
            talk.answers(talk.asks("elicitation/create"), {"action": "decline"})
            talk.server_sees(id=id_)
