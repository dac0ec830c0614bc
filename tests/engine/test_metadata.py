from __future__ import annotations

from typing import Any

from mcp_anyera.engine import metadata
from tests.engine.conversation import ALL, CLIENT_INFO, DISCOVER

K = "io.modelcontextprotocol/"


def test_roots_lose_their_flag_and_legacy_tasks_go() -> None:
    declared: dict[str, Any] = {
        **ALL,
        "tasks": {"list": {}},
        "experimental": {"x": {}},
        "odd": {},
    }
    assert metadata.modern_capabilities(declared) == {
        "elicitation": {"form": {}, "url": {}},
        "sampling": {"tools": {}},
        "roots": {},
        "experimental": {"x": {}},
    }
    assert metadata.modern_capabilities({}) == {}


def test_the_stamp_says_revision_client_and_capabilities() -> None:
    params: dict[str, Any] = {"capabilities": {}, "clientInfo": CLIENT_INFO}
    assert metadata.stamp("2026-07-28", params, None) == {
        K + "protocolVersion": "2026-07-28",
        K + "clientInfo": CLIENT_INFO,
        K + "clientCapabilities": {},
    }


def test_the_stamp_says_the_log_level_only_when_there_is_one() -> None:
    members = metadata.stamp(
        "2026-07-28", {"capabilities": 3, "clientInfo": "x"}, "error"
    )
    assert members == {
        K + "protocolVersion": "2026-07-28",
        K + "clientCapabilities": {},
        K + "logLevel": "error",
    }


def test_our_members_win_but_the_log_level_of_one_request_is_its_own() -> None:
    params = {
        "name": "t",
        "_meta": {
            K + "protocolVersion": "x",
            K + "logLevel": "debug",
            "traceparent": "t",
        },
    }
    members = metadata.stamp("2026-07-28", {"capabilities": {}}, "error")
    assert metadata.stamped(params, members) == {
        "name": "t",
        "_meta": {
            K + "protocolVersion": "2026-07-28",
            K + "clientCapabilities": {},
            K + "logLevel": "debug",
            "traceparent": "t",
        },
    }


def test_a_session_is_answered_with_the_legacy_revision_that_it_asked_for() -> None:
    assert (
        metadata.legacy_revision_for({"protocolVersion": "2025-06-18"}) == "2025-06-18"
    )
    assert (
        metadata.legacy_revision_for({"protocolVersion": "2026-07-28"}) == "2025-11-25"
    )
    assert metadata.legacy_revision_for({"protocolVersion": 7}) == "2025-11-25"
    assert metadata.legacy_revision_for({}) == "2025-11-25"


def test_the_initialize_result_is_made_from_the_discover_result() -> None:
    assert metadata.synthesise_initialize_result(DISCOVER, {}) == {
        "protocolVersion": "2025-11-25",
        "capabilities": DISCOVER["capabilities"],
        "serverInfo": {"name": "s", "version": "2"},
        "instructions": "be kind",
    }


def test_a_server_that_does_not_say_who_it_is_gets_a_name() -> None:
    for info in (None, {"name": "only"}, "text"):
        made = metadata.synthesise_initialize_result(
            {"_meta": {K + "serverInfo": info}}, {}
        )
        assert made["serverInfo"] == {"name": "unknown", "version": "0"}
        assert made["capabilities"] == {}
        assert "instructions" not in made


def test_a_legacy_server_sees_nothing_of_a_modern_session() -> None:
    own = {"progressToken": 1, "io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    assert metadata.unstamped({"a": 1, "_meta": own}) == {
        "a": 1,
        "_meta": {"progressToken": 1},
    }
    del own["progressToken"]
    assert metadata.unstamped({"a": 1, "_meta": own}) == {"a": 1}
    assert metadata.unstamped({"a": 1}) == {"a": 1}
