"""Other orders than the usual one: handshake first, memory, ladder, restarts."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine import (
    AnsweredLate,
    Connected,
    Downgraded,
    Dropped,
    EngineConfig,
    Exchange,
    FellBack,
    Mistaken,
    Remembered,
    Reopened,
    Restarted,
    RoundBegun,
    detection,
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
    modern,
    notification,
    request,
    result,
)

HTTP = Exchange.HTTP
LEGACY_FIRST: Json = {"probe": "legacy_first"}
KNOWN_LEGACY = Remembered(era=Era.LEGACY, revision="2025-11-25")
KNOWN_MODERN = Remembered(era=Era.MODERN, revision="2026-07-28", discover=DISCOVER)


def begun(**config: Any) -> Talk:
    talk = Talk(**config)
    talk.client_says(initialize())
    return talk


def shakes(talk: Talk, version: str = "2025-11-25") -> Any:
    return talk.server_sees(method="initialize", params={"protocolVersion": version})[
        "id"
    ]


def probes(talk: Talk) -> Any:
    return talk.server_sees(method="server/discover")["id"]


def is_open(talk: Talk, era: Era) -> None:
    assert talk.notices(Connected).verdict.era is era
    talk.client_sees(id="init")


# -- handshake first -------------------------------------------------------------------


def test_the_handshake_may_come_first() -> None:
    with begun(**LEGACY_FIRST) as talk:
        talk.server_says(result(shakes(talk), INITIALIZED))
        is_open(talk, Era.LEGACY)


@pytest.mark.parametrize("code", [-32601, -32022, -32020])
def test_a_refused_handshake_leads_forward_to_the_probe(code: int) -> None:
    with begun(**LEGACY_FIRST) as talk:
        talk.server_says(error(shakes(talk), code))
        talk.server_says(result(probes(talk), DISCOVER))
        is_open(talk, Era.MODERN)


def test_other_refusals_of_the_handshake_stand() -> None:
    with begun(**LEGACY_FIRST) as talk:
        talk.server_says(error(shakes(talk), -32603))
        talk.client_failure("init")


@pytest.mark.parametrize("config", [{}, {"exchange": HTTP}])
def test_a_server_that_refuses_both_openings_is_given_up(config: Json) -> None:
    with begun(**config, **LEGACY_FIRST) as talk:
        talk.server_says(error(shakes(talk), -32601))
        probe = probes(talk)
        if config:
            talk.time_passes(1)
            talk.aborts(probe)
        else:
            talk.time_passes(60)  # a cold start; there is nothing else to try
            talk.server_says(error(probe, -32601))
        assert "accepts neither opening" in talk.client_failure("init").message


@pytest.mark.parametrize("mode", ["legacy", "2025-11-25"])
def test_a_pin_that_keeps_a_modern_server_out_is_named(mode: str) -> None:
    with begun(mode=mode) as talk:
        talk.server_says(error(shakes(talk), -32022, "Unsupported protocol version"))
        assert (
            f"the server refused the handshake, and mode='{mode}' allows nothing else; "
            "use mode='auto' (tried: initialize: refused with error -32022"
        ) in talk.client_failure("init").message


@pytest.mark.parametrize("body", [None, error(1, -32000)])
def test_over_http_a_bad_request_leads_forward_too(body: Json | None) -> None:
    with begun(exchange=HTTP, sse_fallback=True, **LEGACY_FIRST) as talk:
        talk.exchange_fails(shakes(talk), 400, body)
        talk.server_says(result(probe := probes(talk), DISCOVER), probe)
        is_open(talk, Era.MODERN)


def test_over_http_the_old_transport_comes_last() -> None:
    with begun(exchange=HTTP, sse_fallback=True, **LEGACY_FIRST) as talk:
        talk.exchange_fails(shakes(talk), 400)
        talk.exchange_fails(probes(talk), 400)
        talk.notices(FellBack)
        talk.falls_back()
        talk.server_starts()
        talk.server_says(result(shakes(talk), INITIALIZED))
        is_open(talk, Era.LEGACY)


def test_a_server_that_ends_on_the_handshake_is_started_again_and_probed() -> None:
    with begun(restartable=True, **LEGACY_FIRST) as talk:
        shakes(talk)
        talk.server_ends()
        assert talk.notices(Restarted).reason.endswith("asked for initialize")
        talk.restarts()
        talk.server_starts()
        talk.server_says(result(probes(talk), DISCOVER))
        is_open(talk, Era.MODERN)


def test_a_server_that_locks_with_its_refusal_is_started_again_and_probed() -> None:
    with begun(restartable=True, **LEGACY_FIRST) as talk:
        talk.server_says(error(shakes(talk), -32022))
        talk.server_says(error(probes(talk), -32600))
        talk.notices(Restarted)
        talk.restarts()
        talk.server_starts()
        talk.server_says(result(probes(talk), DISCOVER))
        is_open(talk, Era.MODERN)


@pytest.mark.parametrize("name", ["probe", "no_back_channel"])
def test_a_rule_that_does_not_exist_is_refused(name: str) -> None:
    rule: Any = {name: "sideways"}
    with pytest.raises(
        ValueError, match=f"{name} must be '.*' or '.*'; got 'sideways'"
    ):
        EngineConfig(**rule)


# -- memory ----------------------------------------------------------------------------


def test_a_remembered_modern_server_is_not_asked() -> None:
    with begun(remembered=KNOWN_MODERN) as talk:
        is_open(talk, Era.MODERN)


def test_a_remembered_legacy_server_gets_its_handshake_at_once() -> None:
    with begun(remembered=KNOWN_LEGACY) as talk:
        talk.server_says(result(shakes(talk), INITIALIZED))
        is_open(talk, Era.LEGACY)


def test_a_memory_of_a_modern_server_without_its_answer_is_none() -> None:
    known = Remembered(era=Era.MODERN, revision="2026-07-28")
    with begun(remembered=known) as talk:
        probes(talk)


@pytest.mark.parametrize("code", [-32603, -32601])
def test_a_server_that_is_not_legacy_any_more_is_probed_in_the_same_connect(
    code: int,
) -> None:
    with begun(remembered=KNOWN_LEGACY) as talk:
        talk.server_says(error(shakes(talk), code))
        assert talk.notices(Mistaken).reason == "it is not legacy any more"
        talk.server_says(result(probes(talk), DISCOVER))
        is_open(talk, Era.MODERN)


@pytest.mark.parametrize("status", [None, 401, 503])
def test_a_remembered_server_that_is_unwell_has_not_changed(status: int | None) -> None:
    with begun(exchange=HTTP, remembered=KNOWN_LEGACY) as talk:
        talk.exchange_fails(shakes(talk), status)
        assert talk.client_failure("init").http.status == status


def test_a_mode_does_not_ask_the_memory() -> None:
    with begun(remembered=KNOWN_MODERN, mode="legacy") as talk:
        shakes(talk)


def test_a_slow_server_is_remembered_and_gets_more_patience() -> None:
    with begun() as talk:
        probe = probes(talk)
        talk.time_passes(1)
        talk.server_says(result(shakes(talk), INITIALIZED))
        is_open(talk, Era.LEGACY)
        talk.now += 2
        talk.server_says(result(probe, DISCOVER))
        assert talk.notices(AnsweredLate).seconds == 3.0
    known = Remembered(era=Era.LEGACY, revision="2025-11-25", patience=6.0)
    with begun(remembered=known) as talk:
        probe = probes(talk)
        talk.time_passes(5)
        talk.server_says(result(probe, DISCOVER))
        is_open(talk, Era.MODERN)


# -- the ladder ------------------------------------------------------------------------


def test_an_older_revision_is_tried_where_the_newest_is_refused() -> None:
    with begun(mode="legacy", handshake_ladder=True) as talk:
        for version in ("2025-11-25", "2025-06-18", "2025-03-26"):
            talk.server_says(error(shakes(talk, version), -32602))
        answer = {**INITIALIZED, "protocolVersion": "2024-11-05"}
        talk.server_says(result(shakes(talk, "2024-11-05"), answer))
        is_open(talk, Era.LEGACY)


def test_an_older_revision_is_tried_where_the_newest_is_not_answered() -> None:
    with begun(mode="legacy", handshake_ladder=True) as talk:
        first = shakes(talk)
        talk.time_passes(5)
        second = shakes(talk, "2025-06-18")
        talk.server_says(error(first, -32602))
        talk.notices(Dropped)
        talk.server_says(
            result(second, {**INITIALIZED, "protocolVersion": "2025-06-18"})
        )
        is_open(talk, Era.LEGACY)


def test_the_last_rung_waits_as_long_as_the_connect_may_take() -> None:
    with begun(mode="legacy", handshake_ladder=True, connect_timeout=60.0) as talk:
        for version in ("2025-11-25", "2025-06-18", "2025-03-26"):
            shakes(talk, version)
            talk.time_passes(5)
        shakes(talk, "2024-11-05")
        talk.time_passes(5)
        talk.time_passes(40)
        assert "no answer at 2025-03-26" in talk.client_failure("init").message


# -- a process that the probe has harmed -----------------------------------------------


def test_a_server_that_the_probe_blocks_is_started_again() -> None:
    with begun(restartable=True) as talk:
        probes(talk)
        talk.time_passes(1)
        shakes(talk)
        talk.time_passes(15)
        assert "nothing since" in talk.notices(Restarted).reason
        talk.restarts()
        talk.server_starts()
        talk.server_says(result(shakes(talk), INITIALIZED))
        verdict = talk.notices(Connected).verdict
        assert "the probe may have blocked it" in str(verdict.evidence[1])
        talk.client_sees(id="init")


def test_a_server_that_the_probe_poisons_is_started_again() -> None:
    with begun(restartable=True) as talk:
        talk.server_says(error(probes(talk), -32700))
        talk.server_says(error(shakes(talk), -32603))
        talk.notices(Restarted)
        talk.restarts()
        talk.server_starts()
        talk.server_says(result(shakes(talk), INITIALIZED))
        is_open(talk, Era.LEGACY)


def test_a_revision_that_is_offered_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(detection, "MODERN_REVISIONS", ("2027-01-01", "2026-07-28"))
    with begun() as talk:
        probe = probes(talk)
        talk.server_says(error(probe, -32022, data={"supported": ["2027-01-01"]}))
        again = talk.server_sees(method="server/discover")
        key = "io.modelcontextprotocol/protocolVersion"
        assert again["params"]["_meta"][key] == "2027-01-01"


# -- a process that has ended ----------------------------------------------------------


@pytest.mark.parametrize("make", [modern, legacy])
def test_a_call_starts_a_server_again_where_that_is_wanted(make: Any) -> None:
    with make(restartable=True, restart=True) as talk:
        talk.server_ends()
        talk.client_says(request(1, "tools/list"))
        talk.notices(Reopened)
        talk.restarts()
        talk.client_says(request(2, "tools/list"))
        talk.server_starts()
        if make is modern:
            talk.server_says(result(probes(talk), DISCOVER))
        else:
            talk.server_says(result(shakes(talk), INITIALIZED))
        talk.notices(Connected)
        if make is legacy:
            talk.server_sees(method="notifications/initialized")
        else:
            talk.server_sees(method="subscriptions/listen")
        talk.server_sees(method="tools/list")
        talk.server_sees(method="tools/list")


def test_a_server_that_cannot_be_started_again_fails_the_call_and_is_tried_again() -> (
    None
):
    with legacy(restartable=True, restart=True) as talk:
        talk.server_ends()
        for number in (1, 2):
            talk.client_says(request(number, "tools/list"))
            talk.notices(Reopened)
            talk.restarts()
            talk.server_ends("no such file")
            assert "no such file" in talk.client_failure(number).message


# -- a tool that calls back ------------------------------------------------------------

NO_WAY: Json = {
    "code": -32600,
    "message": "Cannot send 'elicitation/create': this transport context has no "
    "back-channel for server-initiated requests.",
}
CALL = request(7, "tools/call", {"name": "t"})


def refuses(talk: Talk, wire: Any) -> None:
    talk.server_says({"jsonrpc": "2.0", "id": wire, "error": NO_WAY})


def test_two_calls_that_want_it_at_once_get_it_once() -> None:
    with modern(restartable=True) as talk:
        wires: list[Any] = []
        for number in (1, 2):
            talk.client_says({**CALL, "id": number})
            wires.append(talk.server_sees(method="tools/call")["id"])
        for wire in wires:
            refuses(talk, wire)
        talk.time_passes(0)
        talk.notices(Downgraded)
        talk.restarts()


def test_a_tool_that_calls_back_gets_a_legacy_server_and_its_call_again() -> None:
    with modern(restartable=True) as talk:
        talk.client_says(CALL)
        refuses(talk, talk.server_sees(method="tools/call")["id"])
        talk.time_passes(0)
        assert talk.notices(Downgraded).tool == "t"
        talk.restarts()
        talk.server_starts()
        hello = talk.server_sees(method="initialize")
        assert hello["params"] == initialize()["params"]
        talk.server_says(result(hello["id"], INITIALIZED))
        talk.notices(Connected)
        talk.server_sees(method="notifications/initialized")
        wire = talk.server_sees(method="tools/call", params={"name": "t"})["id"]
        talk.server_says(result(wire, {"content": []}))
        talk.client_sees(id=7, result={"content": []})


def test_a_process_is_not_ended_while_another_call_is_at_work() -> None:
    with modern(restartable=True) as talk:
        talk.client_says(request(1, "tools/call", {"name": "long"}))
        long = talk.server_sees(method="tools/call")["id"]
        talk.client_says(CALL)
        refuses(talk, talk.server_sees(method="tools/call")["id"])
        talk.client_says(request(2, "tools/list"))
        talk.client_says(request(3, "tools/call", {"name": "t"}))
        talk.server_says(result(long, {"content": []}))
        talk.client_sees(id=1)
        talk.time_passes(0)
        talk.notices(Downgraded)
        talk.restarts()
        talk.server_starts()
        talk.server_says(result(shakes(talk), INITIALIZED))
        talk.notices(Connected)
        talk.server_sees(method="notifications/initialized")
        for method in ("tools/call", "tools/list", "tools/call"):
            talk.server_sees(method=method)


def test_a_call_in_the_middle_of_its_rounds_is_at_work_too() -> None:
    with modern(restartable=True) as talk:
        talk.client_says(request(1, "tools/call", {"name": "asks"}))
        asks = talk.server_sees(method="tools/call")["id"]
        waits = {"resultType": "input_required", "requestState": "s"}
        talk.server_says(result(asks, waits))
        talk.notices(RoundBegun)
        asks = talk.server_sees(method="tools/call")["id"]
        talk.client_says(CALL)
        refuses(talk, talk.server_sees(method="tools/call")["id"])
        talk.server_says(result(asks, waits))
        talk.notices(RoundBegun)
        talk.time_passes(1)
        asks = talk.server_sees(method="tools/call")["id"]
        talk.server_says(result(asks, {"content": []}))
        talk.client_sees(id=1)
        talk.time_passes(0)
        talk.notices(Downgraded)
        talk.restarts()


@pytest.mark.parametrize(
    "reply", [{"error": NO_WAY}, {"result": {"isError": True, "content": []}}]
)
def test_where_no_handshake_is_to_be_had_the_error_stands(reply: Json) -> None:
    if "result" in reply:
        text = "sampling via server-initiated requests is unavailable on 2026-07-28 connections."
        reply["result"]["content"] = [{"type": "text", "text": text}]
    with modern(restartable=True) as talk:
        talk.client_says(CALL)
        wire = talk.server_sees(method="tools/call")["id"]
        talk.server_says({"jsonrpc": "2.0", "id": wire, **reply})
        talk.time_passes(0)
        talk.notices(Downgraded)
        talk.restarts()
        talk.server_starts()
        talk.server_says(error(shakes(talk), -32022))
        talk.client_sees(id=7, **reply)
        talk.client_says({**CALL, "id": 8})
        talk.notices(Reopened)
        talk.restarts()
        talk.server_starts()
        talk.server_says(result(probes(talk), DISCOVER))
        talk.notices(Connected)
        talk.server_sees(method="subscriptions/listen")
        wire = talk.server_sees(method="tools/call")["id"]
        talk.server_says({"jsonrpc": "2.0", "id": wire, **reply})
        talk.client_sees(id=8, **reply)


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"restartable": True, "no_back_channel": "raise"},
        {"restartable": True, "mode": "modern"},
    ],
)
def test_whoever_does_not_want_that_gets_the_error(config: Json) -> None:
    with modern(**config) as talk:
        talk.client_says(CALL)
        refuses(talk, talk.server_sees(method="tools/call")["id"])
        talk.client_sees(id=7, error=NO_WAY)


def test_a_legacy_server_in_two_minds_is_started_again_once() -> None:
    with legacy(restartable=True, mode="auto", remembered=KNOWN_LEGACY) as talk:
        talk.client_says(CALL)
        refuses(talk, talk.server_sees(method="tools/call")["id"])
        talk.time_passes(0)
        talk.notices(Downgraded)
        talk.restarts()
        talk.server_starts()
        talk.server_says(result(shakes(talk), INITIALIZED))
        talk.notices(Connected)
        talk.server_sees(method="notifications/initialized")
        refuses(talk, talk.server_sees(method="tools/call")["id"])
        talk.client_sees(id=7, error=NO_WAY)


def test_a_tool_that_is_known_to_call_back_gets_its_legacy_server_at_once() -> None:
    with modern(restartable=True, legacy_tools=frozenset({"t"})) as talk:
        talk.client_says(request(1, "tools/call", {"name": "other"}))
        talk.server_says(result(talk.server_sees()["id"], {"content": []}))
        talk.client_sees(id=1)
        talk.client_says(CALL)
        talk.time_passes(0)
        talk.notices(Downgraded)
        talk.restarts()
    with modern(legacy_tools=frozenset({"t"})) as talk:
        talk.client_says(CALL)
        talk.server_sees(method="tools/call")


def test_subscriptions_go_along() -> None:
    with modern(restartable=True) as talk:
        talk.client_says(request(1, "resources/subscribe", {"uri": "note://1"}))
        name = talk.server_sees(method="subscriptions/listen")["id"]
        meta = {"io.modelcontextprotocol/subscriptionId": name}
        wanted = {"resourceSubscriptions": ["note://1"]}
        params = {"notifications": wanted, "_meta": meta}
        talk.server_says(
            notification("notifications/subscriptions/acknowledged", params)
        )
        talk.client_sees(id=1)
        talk.client_says(CALL)
        refuses(talk, talk.server_sees(method="tools/call")["id"])
        talk.time_passes(0)
        talk.notices(Downgraded)
        talk.server_sees(method="notifications/cancelled")
        talk.restarts()
        talk.server_starts()
        talk.server_says(result(shakes(talk), INITIALIZED))
        talk.notices(Connected)
        talk.server_sees(method="notifications/initialized")
        talk.server_sees(method="resources/subscribe", params={"uri": "note://1"})
        talk.server_sees(method="tools/call")
