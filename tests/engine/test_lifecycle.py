from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine import Connected, Dropped, EngineConfig, Restarted, Step
from mcp_anyera.eras import Era
from tests.engine.conversation import (
    CLIENT_INFO,
    DISCOVER,
    INITIALIZED,
    Talk,
    error,
    initialize,
    legacy,
    modern,
    notification,
    request,
    result,
)

K = "io.modelcontextprotocol/"
UNSUPPORTED = -32022


def probed(**config: Any) -> tuple[Talk, int]:
    talk = Talk(**config)
    talk.client_says(initialize())
    return talk, talk.server_sees(method="server/discover")["id"]


def test_a_modern_server_is_found_by_the_probe_and_never_sees_a_handshake() -> None:
    with Talk() as talk:
        talk.client_says(initialize())
        probe = talk.server_sees(method="server/discover")
        assert probe["params"]["_meta"] == {
            K + "protocolVersion": "2026-07-28",
            K + "clientInfo": CLIENT_INFO,
            K + "clientCapabilities": {
                "elicitation": {"form": {}, "url": {}},
                "sampling": {"tools": {}},
                "roots": {},
            },
        }
        talk.now += 0.25
        talk.server_says(result(probe["id"], DISCOVER))
        verdict = talk.notices(Connected).verdict
        assert (verdict.era, verdict.revision) == (Era.MODERN, "2026-07-28")
        assert verdict.discover is DISCOVER
        assert verdict.evidence == (
            Step("server/discover at 2026-07-28", "offers 2026-07-28", 0.25),
        )
        assert (
            str(verdict.evidence[0])
            == "server/discover at 2026-07-28: offers 2026-07-28"
        )
        talk.client_sees(
            id="init",
            result={
                "protocolVersion": "2025-11-25",
                "capabilities": DISCOVER["capabilities"],
                "serverInfo": {"name": "s", "version": "2"},
                "instructions": "be kind",
            },
        )
    assert (talk.engine.era, talk.engine.revision) == (Era.MODERN, "2026-07-28")
    assert talk.engine.deadline is None
    assert talk.engine.in_flight == 0


def test_any_other_answer_leads_to_the_handshake() -> None:
    talk, probe = probed()
    with talk:
        talk.server_says(error(probe, -32601))
        wire = talk.server_sees(method="initialize")
        assert wire["params"] == initialize()["params"]
        assert wire["id"] != probe
        talk.server_says(result(wire["id"], INITIALIZED))
        verdict = talk.notices(Connected).verdict
        assert (verdict.era, verdict.revision) == (Era.LEGACY, "2025-11-25")
        assert verdict.initialize is INITIALIZED
        assert [str(step) for step in verdict.evidence] == [
            "server/discover: it answered with error -32601",
            "initialize: agreed on 2025-11-25",
        ]
        assert talk.client_sees(id="init")["result"] is INITIALIZED


def test_a_malformed_answer_leads_to_the_handshake() -> None:
    talk, probe = probed()
    with talk:
        talk.server_says({"jsonrpc": "2.0", "id": probe, "result": [1]})
        talk.server_sees(method="initialize")


def test_silence_leads_to_the_handshake_on_the_same_pipe() -> None:
    talk, probe = probed(probe_timeout=0.9)
    with talk:
        assert talk.engine.deadline == 100.9
        talk.time_passes(0.9)
        wire = talk.server_sees(method="initialize")["id"]
        talk.server_says(result(wire, INITIALIZED))
        steps = talk.notices(Connected).verdict.evidence
        assert steps[0].outcome == "no answer within 0.9 s"
        talk.client_sees(id="init")
        talk.server_says(error(probe))
        talk.notices(Dropped)


def test_a_late_discover_answer_does_not_undo_a_handshake_that_succeeds() -> None:
    talk, probe = probed()
    with talk:
        talk.time_passes(1)
        wire = talk.server_sees(method="initialize")["id"]
        talk.server_says(result(probe, DISCOVER))
        talk.server_says(result(wire, INITIALIZED))
        assert talk.notices(Connected).verdict.era is Era.LEGACY
        talk.client_sees(id="init")


@pytest.mark.parametrize("code", [UNSUPPORTED, -32601, -32600])
def test_a_late_discover_answer_counts_when_the_handshake_is_refused(code: int) -> None:
    talk, probe = probed()
    with talk:
        talk.time_passes(1)
        wire = talk.server_sees(method="initialize")["id"]
        talk.server_says(result(probe, DISCOVER))
        talk.server_says(error(wire, code))
        assert talk.notices(Connected).verdict.era is Era.MODERN
        talk.client_sees(id="init")


def test_a_late_answer_that_says_legacy_changes_nothing() -> None:
    talk, probe = probed()
    with talk:
        talk.time_passes(1)
        wire = talk.server_sees(method="initialize")["id"]
        talk.server_says(error(probe, -32601))
        talk.notices(Dropped)
        talk.server_says(error(wire, -32601, "never"))
        talk.client_fails(
            "init",
            "could not connect to the server: the server accepts neither opening (tried: "
            "server/discover: no answer within 0.9 s; initialize: refused with error -32601: never)",
            -32603,
        )


def test_a_refused_handshake_is_followed_by_one_more_probe() -> None:
    talk, _ = probed()
    with talk:
        talk.time_passes(1)
        wire = talk.server_sees(method="initialize")["id"]
        talk.server_says(error(wire, UNSUPPORTED, "no", {"supported": ["2026-07-28"]}))
        again = talk.server_sees(method="server/discover")["id"]
        talk.server_says(result(again, DISCOVER))
        assert talk.notices(Connected).verdict.era is Era.MODERN
        talk.client_sees(id="init")


def test_a_server_that_refuses_both_twice_is_given_up() -> None:
    talk, _ = probed()
    with talk:
        talk.time_passes(1)
        wire = talk.server_sees(method="initialize")["id"]
        talk.server_says(error(wire, UNSUPPORTED))
        again = talk.server_sees(method="server/discover")["id"]
        talk.server_says(error(again, -32601))
        failure = talk.client_fails(
            "init",
            "could not connect to the server: the server accepts neither opening (tried: "
            "server/discover: no answer within 0.9 s; initialize: refused with error -32022: no; "
            "server/discover: it answered with error -32601)",
        )
        assert failure.fault.value == "connect"


def test_a_server_that_offers_only_what_it_refuses_is_tried_with_a_handshake() -> None:
    talk, probe = probed()
    supported = {"supported": ["2026-07-28"]}
    with talk:
        talk.server_says(error(probe, UNSUPPORTED, data=supported))
        again = talk.server_sees(method="server/discover")["id"]
        talk.server_says(error(again, UNSUPPORTED, data=supported))
        wire = talk.server_sees(method="initialize")["id"]
        talk.server_says(error(wire, UNSUPPORTED, data=supported))
        talk.client_fails(
            "init",
            "could not connect to the server: the server accepts neither opening (tried: "
            "server/discover: asked for 2026-07-28; server/discover: refused, and offers again, 2026-07-28; "
            "initialize: refused with error -32022: no)",
        )


def test_no_common_revision_is_an_error_and_no_handshake() -> None:
    talk, probe = probed(target="'node server.js'")
    with talk:
        talk.server_says(error(probe, -32021, "need roots"))
        talk.client_fails(
            "init",
            "could not connect to 'node server.js': it is modern but refused the probe: "
            "error -32021 (tried: nothing was tried before)",
        )


def test_mode_modern_excludes_a_handshake() -> None:
    talk, probe = probed(mode="modern")
    with talk:
        assert talk.engine.deadline == 190.0
        talk.server_says(error(probe, -32601))
        talk.client_fails(
            "init",
            "could not connect to the server: the server is legacy and mode='modern' excludes that; "
            "use mode='auto' (tried: server/discover: it answered with error -32601)",
        )


def test_mode_legacy_never_probes() -> None:
    with legacy() as talk:
        assert talk.engine.era is Era.LEGACY


def test_a_legacy_pin_is_what_the_handshake_offers() -> None:
    with Talk(mode="2025-03-26") as talk:
        talk.client_says(initialize())
        wire = talk.server_sees(method="initialize")
        assert wire["params"]["protocolVersion"] == "2025-03-26"


def test_a_modern_pin_asks_the_server_nothing() -> None:
    with Talk(mode="2026-07-28") as talk:
        talk.client_says(initialize())
        assert (
            talk.notices(Connected).verdict.evidence[0].outcome
            == "pinned; nothing was asked"
        )
        talk.client_sees(id="init", result={"capabilities": {}})


def test_a_modern_pin_takes_what_was_discovered_before() -> None:
    with Talk(mode="2026-07-28", prior_discover=DISCOVER) as talk:
        talk.client_says(initialize())
        assert talk.notices(Connected).verdict.discover is DISCOVER
        talk.client_sees(id="init", result={"instructions": "be kind"})


def test_capabilities_that_are_no_object_count_as_none() -> None:
    with modern(discover={**DISCOVER, "capabilities": 3}):
        pass
    with legacy(answer={**INITIALIZED, "capabilities": 3}):
        pass


def test_a_handshake_that_ends_in_a_modern_revision_is_probed_once() -> None:
    with Talk() as talk:
        talk.client_says(initialize())
        probe = talk.server_sees(method="server/discover")["id"]
        talk.server_says(error(probe))
        wire = talk.server_sees(method="initialize")["id"]
        talk.server_says(result(wire, {**INITIALIZED, "protocolVersion": "2026-07-28"}))
        again = talk.server_sees(method="server/discover")["id"]
        talk.server_says(result(again, DISCOVER))
        assert talk.notices(Connected).verdict.era is Era.MODERN
        talk.client_sees(id="init")


@pytest.mark.parametrize(
    ("version", "shown"), [("2099-01-01", "'2099-01-01'"), (7, "'7'")]
)
def test_a_handshake_that_ends_in_an_unknown_revision_is_an_error(
    version: Any, shown: str
) -> None:
    with Talk(mode="legacy") as talk:
        talk.client_says(initialize())
        wire = talk.server_sees(method="initialize")["id"]
        talk.server_says(result(wire, {**INITIALIZED, "protocolVersion": version}))
        talk.client_fails(
            "init",
            "could not connect to the server: a handshake can end in 2025-11-25, 2025-06-18, "
            f"2025-03-26, 2024-11-05 only (tried: initialize: answered with version {shown})",
        )


def test_a_server_that_ends_on_the_probe_is_started_again_for_a_plain_handshake() -> (
    None
):
    talk, _ = probed(restartable=True)
    with talk:
        talk.server_ends("exit status 1")
        talk.notices(Restarted)
        talk.restarts()
        talk.server_starts()
        wire = talk.server_sees(method="initialize")["id"]
        talk.server_says(result(wire, INITIALIZED))
        steps = talk.notices(Connected).verdict.evidence
        assert steps[0].outcome == "ended (exit status 1)"
        talk.client_sees(id="init")


def test_a_server_that_reads_the_probe_late_and_ends_is_started_again_too() -> None:
    talk, _ = probed(restartable=True)
    with talk:
        talk.time_passes(1)
        talk.server_sees(method="initialize")
        talk.server_ends()
        talk.notices(Restarted)
        talk.restarts()
        talk.server_starts()
        talk.server_sees(method="initialize")


def test_a_server_that_ends_twice_is_given_up() -> None:
    talk, _ = probed(restartable=True)
    with talk:
        talk.server_ends("exit status 1")
        talk.notices(Restarted)
        talk.restarts()
        talk.server_starts()
        talk.server_sees(method="initialize")
        talk.server_ends("exit status 2; stderr ends with: no module")
        talk.client_fails(
            "init",
            "could not connect to the server: the server ended before the handshake was over "
            "(tried: the server: ended (exit status 1); "
            "the server: ended (exit status 2; stderr ends with: no module))",
        )
        talk.client_says(initialize())
        talk.client_fails(
            "init", "initialize was not sent: the connection is closed", -32000
        )


def test_a_server_that_cannot_be_started_again_is_given_up() -> None:
    talk, _ = probed(restartable=True)
    with talk:
        talk.server_ends("exit status 1")
        talk.notices(Restarted)
        talk.restarts()
        talk.server_ends("no such file")
        talk.client_fails(
            "init",
            "could not connect to the server: the server ended before the handshake was over "
            "(tried: the server: ended (exit status 1); the server: ended (no such file))",
        )


@pytest.mark.parametrize(
    "config", [{"restartable": False}, {"restartable": True, "mode": "modern"}]
)
def test_where_no_restart_can_help_the_end_is_an_error(config: dict[str, Any]) -> None:
    talk, _ = probed(**config)
    with talk:
        talk.server_ends("closed")
        talk.client_fails(
            "init",
            "could not connect to the server: the server ended before the handshake was over "
            "(tried: the server: ended (closed))",
        )


def test_the_whole_opening_has_a_limit() -> None:
    talk, _ = probed(connect_timeout=5.0)
    with talk:
        talk.time_passes(1)
        talk.server_sees(method="initialize")
        talk.time_passes(4)
        talk.client_fails(
            "init",
            "could not connect to the server: no answer within 5 s (connect_timeout_seconds) "
            "(tried: server/discover: no answer within 0.9 s)",
        )
        assert talk.engine.deadline is None


def test_without_a_limit_the_opening_may_take_for_ever() -> None:
    talk, _ = probed(connect_timeout=None, mode="modern")
    with talk:
        assert talk.engine.deadline is None


def test_a_failed_opening_may_be_tried_again() -> None:
    talk, probe = probed()
    with talk:
        talk.server_says(error(probe, -32020))
        talk.client_fails(
            "init",
            "could not connect to the server: it is modern but refused the probe: error -32020 (tried: nothing was tried before)",
        )
        talk.client_says(initialize())
        talk.server_sees(method="server/discover")


def test_initialize_comes_once() -> None:
    talk, _ = probed()
    with talk:
        again = {**initialize(), "id": 2}
        talk.client_says(again)
        talk.client_fails(
            2,
            "initialize came when the handshake is running or impossible; send it once",
            -32600,
        )
    with modern() as talk:
        talk.client_says(again)
        talk.client_fails(
            2, "initialize came when the handshake is over; send it once", -32600
        )


def test_a_session_that_gives_up_initialize_leaves_no_trace_on_the_wire() -> None:
    talk, probe = probed()
    with talk:
        talk.client_says(notification("notifications/cancelled", {"requestId": "init"}))
        assert talk.engine.deadline is None
        assert talk.engine.in_flight == 0
        talk.server_says(result(probe, DISCOVER))
        talk.notices(Dropped)
        talk.client_says(initialize())
        talk.server_sees(method="server/discover")


def test_a_start_that_nobody_asked_for_does_nothing() -> None:
    with Talk() as talk:
        talk.server_starts()


def test_a_server_that_ends_before_anything_was_asked_is_closed() -> None:
    with Talk() as talk:
        talk.server_ends()
        talk.client_says(request(1, "tools/list"))
        talk.client_fails(1, "tools/list was not sent: the connection is closed")


def test_a_mode_that_names_nothing_is_refused() -> None:
    with pytest.raises(
        ValueError,
        match="mode must be 'auto', 'legacy', 'modern' or a protocol revision such as '2026-07-28' or '2025-11-25'; got 'new'",
    ):
        EngineConfig(mode="new")
    with pytest.raises(
        ValueError,
        match="log_level must be one of debug, info, notice, warning, error, critical, alert, emergency; got 'loud'",
    ):
        EngineConfig(log_level="loud")


def test_an_older_session_keeps_its_revision_in_front_of_a_modern_server() -> None:
    with Talk() as talk:
        talk.client_says(initialize(version="2025-06-18"))
        probe = talk.server_sees(method="server/discover")["id"]
        talk.server_says(result(probe, DISCOVER))
        talk.notices(Connected)
        talk.client_sees(id="init", result={"protocolVersion": "2025-06-18"})
