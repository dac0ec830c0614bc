"""The error that asks for a visit to a web page (-32042), as rounds."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine import Dialect, Fault, Questions, Refused, RoundBegun
from tests.engine.conversation import (
    Json,
    Talk,
    error,
    legacy,
    modern,
    notification,
    request,
    result,
    rounds,
)

SHELL: dict[str, Any] = {"questions": Questions.SHELL}


def page(url: str = "https://a.b/1", name: str = "e1") -> Json:
    return {"mode": "url", "message": "Go", "url": url, "elicitationId": name}


def required(id_: Any, *pages: Any) -> Json:
    return error(id_, -32042, "visit", {"elicitations": list(pages)})


def called(talk: Talk, **options: Any) -> int:
    params = {"name": "t", "arguments": {"a": 1}}
    talk.client_says(request(1, "tools/call", params), **options)
    return talk.server_sees(method="tools/call")["id"]


def test_each_page_is_a_question_and_the_call_is_sent_again_as_it_was() -> None:
    with legacy(**SHELL) as talk:
        wire = called(talk)
        talk.server_says(required(wire, page(), page("https://a.b/2", "e2")))
        assert talk.notices(RoundBegun).number == 1
        first = talk.asks("elicitation/create")
        second = talk.asks("elicitation/create")
        assert first.dialect is Dialect.URL_REQUIRED
        assert first.call is not None
        assert (first.call.name, first.params["elicitationId"]) == ("t", "e1")
        talk.answers(first, {"action": "accept"})
        talk.answers(second, {"action": "accept"})
        again = talk.server_sees(method="tools/call")
        assert again["params"] == {"name": "t", "arguments": {"a": 1}}
        talk.server_says({"jsonrpc": "2.0", "id": again["id"], "result": {"a": 1}})
        talk.client_sees(id=1, result={"a": 1})


def test_a_page_that_was_agreed_to_is_not_shown_again_while_the_server_waits() -> None:
    with legacy(**SHELL) as talk:
        talk.server_says(required(called(talk), page()))
        talk.notices(RoundBegun)
        talk.answers(talk.asks("elicitation/create"), {"action": "accept"})
        wire = talk.server_sees(method="tools/call")["id"]
        talk.server_says(required(wire, page()))
        talk.notices(RoundBegun)
        wire = talk.server_sees(method="tools/call")["id"]
        talk.server_says(required(wire, page()))
        talk.notices(RoundBegun)
        assert talk.engine.deadline == pytest.approx(talk.now + 0.05)
        talk.server_says(
            notification("notifications/elicitation/complete", {"elicitationId": "x"})
        )
        talk.client_sees(method="notifications/elicitation/complete")
        done = notification(
            "notifications/elicitation/complete", {"elicitationId": "e1"}
        )
        talk.server_says(done)
        wire = talk.server_sees(method="tools/call")["id"]
        talk.client_sees(method="notifications/elicitation/complete")
        talk.server_says(done)
        talk.client_sees(method="notifications/elicitation/complete")
        talk.server_says(required(wire, page(), page("https://a.b/2", "e2")))
        talk.notices(RoundBegun)
        assert talk.asks("elicitation/create").params["url"] == "https://a.b/2"


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_no_fails_the_call_with_the_servers_error_as_its_cause(action: str) -> None:
    with legacy(**SHELL) as talk:
        said = required(called(talk), page())
        talk.server_says(said)
        talk.notices(RoundBegun)
        talk.answers(talk.asks("elicitation/create"), {"action": action})
        text = "tools/call 't' needs a visit to a web page, and the user said no"
        failure = talk.client_fails(1, text)
        assert failure.fault is Fault.DECLINED
        assert failure.cause == said["error"]


def test_the_rounds_are_counted() -> None:
    with legacy(max_rounds=1, **SHELL) as talk:
        talk.server_says(required(called(talk), page()))
        talk.notices(RoundBegun)
        talk.answers(talk.asks("elicitation/create"), {"action": "accept"})
        wire = talk.server_sees(method="tools/call")["id"]
        talk.server_says(required(wire, page("https://a.b/2")))
        assert talk.client_failure(1).fault is Fault.ROUNDS


def test_a_page_that_must_not_be_shown_is_refused() -> None:
    with legacy(**SHELL) as talk:
        talk.server_says(required(called(talk), page("javascript:x")))
        talk.notices(RoundBegun)
        talk.notices(Refused)
        assert talk.client_failure(1).code == -32602


@pytest.mark.parametrize(
    "data",
    [
        None,
        {"elicitations": []},
        {"elicitations": "page"},
        {"elicitations": [7]},
        {"elicitations": [{"mode": "form"}]},
    ],
)
def test_an_error_that_names_no_page_is_the_callers(data: Any) -> None:
    with legacy(**SHELL) as talk:
        talk.server_says(error(called(talk), -32042, "visit", data))
        talk.client_sees(id=1, error={"code": -32042})


def test_a_session_of_its_own_and_a_modern_server_are_left_alone() -> None:
    for talk in (legacy(), modern(**SHELL)):
        talk.server_says(required(called(talk), page()))
        talk.client_sees(id=1, error={"code": -32042})
        talk.nothing_more()


def test_a_modern_server_that_waits_for_a_visit_is_asked_again_and_nobody_else() -> (
    None
):
    page = {
        "method": "elicitation/create",
        "params": {"mode": "url", "message": "?", "url": "https://example.com/"},
    }
    with modern(questions=Questions.SHELL, max_rounds=1) as talk:
        talk.client_says(request(7, "tools/call", {"name": "t"}))
        wire = talk.server_sees(method="tools/call")["id"]
        talk.server_says(result(wire, rounds(inputRequests={"a": page})))
        talk.notices(RoundBegun)
        talk.answers(talk.asks("elicitation/create"), {"action": "accept"})
        for _ in range(3):
            wire = talk.server_sees(method="tools/call")["id"]
            talk.server_says(
                result(wire, rounds(inputRequests={"b": page}, requestState="s"))
            )
            talk.notices(RoundBegun)
            if talk.engine.deadline is not None:
                talk.time_passes(talk.engine.deadline - talk.now)
        sent = talk.server_sees(method="tools/call")
        assert sent["params"]["inputResponses"] == {"b": {"action": "accept"}}
        assert sent["params"]["requestState"] == "s"
        talk.server_says(result(sent["id"], {"content": []}))
        talk.client_sees(id=7)


def test_a_page_is_shown_beside_one_that_was_agreed_to() -> None:
    def page(host: str) -> dict[str, Any]:
        params = {"mode": "url", "message": "?", "url": f"https://{host}/"}
        return {"method": "elicitation/create", "params": params}

    with modern(questions=Questions.SHELL) as talk:
        talk.client_says(request(7, "tools/call", {"name": "t"}))
        wire = talk.server_sees(method="tools/call")["id"]
        talk.server_says(result(wire, rounds(inputRequests={"a": page("a.example")})))
        talk.notices(RoundBegun)
        talk.answers(talk.asks("elicitation/create"), {"action": "accept"})
        wire = talk.server_sees(method="tools/call")["id"]
        both = {"a": page("a.example"), "b": page("b.example")}
        talk.server_says(result(wire, rounds(inputRequests=both)))
        talk.notices(RoundBegun)
        question = talk.asks("elicitation/create")
        assert question.key == "b"
        talk.answers(question, {"action": "decline"})
        sent = talk.server_sees(method="tools/call")["params"]["inputResponses"]
        assert sent == {"a": {"action": "accept"}, "b": {"action": "decline"}}
