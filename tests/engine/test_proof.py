"""Servers that say they are modern, and are not."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine import (
    Connected,
    Downgraded,
    Dropped,
    Exchange,
    Mistaken,
    Remembered,
)
from mcp_anyera.eras import Era
from tests.engine.conversation import (
    DISCOVER,
    INITIALIZED,
    Talk,
    error,
    initialize,
    modern,
    request,
    result,
)

KNOWN = Remembered(era=Era.MODERN, revision="2026-07-28", discover=DISCOVER)
LIST = request(1, "tools/list")
CALL = request(1, "tools/call", {"name": "t"})


def remembered(**config: Any) -> Talk:
    talk = Talk(remembered=KNOWN, **config)
    talk.client_says(initialize())
    talk.notices(Connected)
    talk.client_sees(id="init")
    return talk


def asked(talk: Talk, message: Any = CALL, **options: Any) -> Any:
    talk.client_says(message, **options)
    return talk.server_sees(method=message["method"])["id"]


def becomes_legacy(talk: Talk) -> None:
    talk.notices(Downgraded)
    wire = talk.server_sees(method="initialize")["id"]
    talk.server_says(result(wire, INITIALIZED))
    assert talk.notices(Connected).verdict.era is Era.LEGACY
    talk.server_sees(method="notifications/initialized")


@pytest.mark.parametrize("code", [-32600, -32601, -32602])
def test_a_memory_that_is_wrong_is_found_out_and_the_call_sent_again(code: int) -> None:
    with remembered() as talk:
        talk.server_says(error(asked(talk), code))
        probe = talk.server_sees(method="server/discover")["id"]
        talk.server_says(error(probe, -32601))
        assert "not modern any more" in talk.notices(Mistaken).reason
        becomes_legacy(talk)
        wire = talk.server_sees(method="tools/call", params={"name": "t"})["id"]
        talk.server_says(result(wire))
        talk.client_sees(id=1, result={})


def test_a_call_that_may_have_run_is_not_sent_again() -> None:
    with remembered() as talk:
        talk.server_says(error(asked(talk), -32603, "boom"))
        probe = talk.server_sees(method="server/discover")["id"]
        talk.server_says(error(probe, -32601))
        talk.notices(Mistaken)
        talk.client_sees(id=1, error={"code": -32603, "message": "boom"})
        becomes_legacy(talk)


@pytest.mark.parametrize("reply", [result(0, DISCOVER), error(0, -32020)])
def test_a_memory_that_is_right_costs_one_question_at_the_first_error(
    reply: Any,
) -> None:
    with remembered() as talk:
        talk.server_says(error(asked(talk), -32602))
        probe = talk.server_sees(method="server/discover")["id"]
        talk.server_says({**reply, "id": probe})
        talk.client_sees(id=1, error={"code": -32602})
        talk.server_says(error(asked(talk), -32602))
        talk.client_sees(id=1)


def test_a_first_success_ends_the_doubt() -> None:
    with remembered() as talk:
        talk.server_says(result(asked(talk)))
        talk.client_sees(id=1)
        talk.server_says(error(asked(talk), -32600))
        talk.client_sees(id=1)


def test_an_error_that_only_modern_servers_know_ends_it_too() -> None:
    with remembered() as talk:
        talk.server_says(error(asked(talk), -32021))
        talk.client_sees(id=1)
    with modern(proven=False) as talk:
        talk.server_says(error(asked(talk), -32603))
        talk.client_sees(id=1)


def test_a_server_that_offers_tools_and_refuses_to_list_them_is_legacy() -> None:
    with modern(proven=False) as talk:
        talk.server_says(error(asked(talk, LIST), -32602))
        check = talk.server_sees(method="tools/list")["id"]
        talk.server_says(error(check, -32602))
        becomes_legacy(talk)
        talk.server_says(result(talk.server_sees(method="tools/list")["id"]))
        talk.client_sees(id=1)


@pytest.mark.parametrize("reply", [result(0, {"tools": []}), error(0, -32603)])
def test_a_server_that_lists_its_tools_is_modern_and_its_errors_stand(
    reply: Any,
) -> None:
    with modern(proven=False) as talk:
        talk.server_says(error(asked(talk), -32600))
        check = talk.server_sees(method="tools/list")["id"]
        talk.client_says(request(2, "tools/call", {"name": "u"}))
        second = talk.server_sees(method="tools/call")["id"]
        talk.server_says(error(second, -32600))
        talk.server_says({**reply, "id": check})
        talk.client_sees(id=1, error={"code": -32600})
        talk.client_sees(id=2, error={"code": -32600})


def test_a_server_that_offers_nothing_cannot_be_asked() -> None:
    with modern(discover={**DISCOVER, "capabilities": {}}, proven=False) as talk:
        talk.server_says(error(asked(talk), -32600))
        talk.client_sees(id=1)


def test_a_server_that_answers_nothing_but_the_probe_is_legacy() -> None:
    with modern(proven=False) as talk:
        wire = asked(talk, read_timeout=1.0)
        talk.time_passes(1)
        talk.server_sees(method="notifications/cancelled")
        talk.client_failure(1)
        check = talk.server_sees(method="tools/list")["id"]
        talk.client_says(request(2, "tools/list"))
        talk.server_sees(method="tools/list")
        talk.time_passes(5)
        becomes_legacy(talk)
        talk.server_says(result(check))
        talk.notices(Dropped)
        talk.server_says(result(wire))
        talk.notices(Dropped)


def test_a_cancelled_call_is_not_sent_again() -> None:
    with modern(proven=False) as talk:
        talk.server_says(error(asked(talk), -32600))
        check = talk.server_sees(method="tools/list")["id"]
        talk.client_says(
            {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": 1},
            }
        )
        talk.server_says(error(check, -32600))
        becomes_legacy(talk)


HTTP: dict[str, Any] = {"exchange": Exchange.HTTP}


def test_over_http_a_status_is_cause_for_doubt_as_well() -> None:
    with modern(proven=False, **HTTP) as talk:
        talk.exchange_fails(asked(talk), 404)
        talk.exchange_fails(talk.server_sees(method="tools/list")["id"], 404)
        becomes_legacy(talk)
        talk.server_sees(method="tools/call")


@pytest.mark.parametrize("status", [503, None])
def test_over_http_a_server_that_is_unwell_proves_nothing(status: int | None) -> None:
    with modern(proven=False, **HTTP) as talk:
        talk.exchange_fails(asked(talk), 404)
        talk.exchange_fails(talk.server_sees(method="tools/list")["id"], status)
        assert talk.client_failure(1).http.status == 404
        talk.exchange_fails(asked(talk), status)
        talk.client_failure(1)


def test_over_http_a_modern_error_on_the_question_proves_it() -> None:
    with modern(proven=False, **HTTP) as talk:
        talk.exchange_fails(asked(talk), 404)
        check = talk.server_sees(method="tools/list")["id"]
        talk.exchange_fails(check, 400, error(check, -32021))
        talk.client_failure(1)
        talk.exchange_fails(asked(talk), 404)
        talk.client_failure(1)
