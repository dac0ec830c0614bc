from __future__ import annotations

from typing import Any

from mcp_anyera.engine import Dropped, Face, Questions
from tests.engine.conversation import (
    FORM,
    ROOTS,
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

K = "io.modelcontextprotocol/"
LOGS: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"logging": {}},
    "serverInfo": {"name": "s", "version": "1"},
}


def progress(token: Any, value: Any, **more: Any) -> dict[str, Any]:
    return notification(
        "notifications/progress", {"progressToken": token, "progress": value, **more}
    )


def log(level: Any) -> dict[str, Any]:
    return notification("notifications/message", {"level": level, "data": "x"})


def called(talk: Talk, token: Any) -> Any:
    params = {"name": "t", "_meta": {"progressToken": token}}
    talk.client_says(request(7, "tools/call", params))
    return talk.server_sees(
        method="tools/call", params={"_meta": {"progressToken": token}}
    )["id"]


def test_progress_is_one_rising_series_over_all_rounds() -> None:
    with modern() as talk:
        wire = called(talk, "p")
        first = progress("p", 1, total=2, message="m")
        talk.server_says(first)
        assert talk.client_sees() is first
        talk.server_says(progress("p", 2))
        talk.client_sees()
        for base in (2, 4):
            talk.server_says(result(wire, rounds(inputRequests={"a": ROOTS})))
            talk.notices(object)
            talk.client_says(result(talk.client_sees()["id"], {"roots": []}))
            wire = talk.server_sees(params={"_meta": {"progressToken": "p"}})["id"]
            talk.server_says(progress("p", 1, total=2))
            talk.client_sees(params={"progress": base + 1, "total": base + 2})
            talk.server_says(progress("p", 2, total="odd"))
            talk.client_sees(params={"progress": base + 2, "total": "odd"})


def test_progress_that_goes_on_where_it_was_is_left_alone() -> None:
    with modern() as talk:
        wire = called(talk, 0)
        talk.server_says(progress(0, 1.5))
        talk.client_sees(params={"progress": 1.5})
        talk.server_says(result(wire, rounds(requestState="s")))
        talk.notices(object)
        talk.server_sees()
        talk.server_says(progress(0, 2))
        talk.client_sees(params={"progress": 2})


def test_progress_of_no_open_call_is_dropped_on_a_modern_wire_only() -> None:
    with modern() as talk:
        wire = called(talk, "p")
        for bad in (
            progress("q", 1),
            progress([1], 1),
            progress("p", "1"),
            progress("p", True),
        ):
            talk.server_says(bad)
            talk.notices(Dropped)
        talk.server_says(result(wire))
        talk.client_sees()
        talk.server_says(progress("p", 2))
        talk.notices(Dropped)
    with legacy() as talk:
        talk.server_says(progress("task", 1))
        talk.client_sees(params={"progressToken": "task"})


def test_a_token_that_a_later_call_has_taken_over_stays_with_it() -> None:
    with legacy() as talk:
        first = called(talk, "p")
        talk.client_says(
            request(8, "tools/call", {"name": "u", "_meta": {"progressToken": "p"}})
        )
        talk.server_sees()
        talk.server_says(result(first))
        talk.client_sees(id=7)
        talk.server_says(progress("p", 1))
        talk.client_sees()


def test_a_session_hears_every_log_message_when_it_asked_for_no_level() -> None:
    for talk in (modern(), legacy()):
        with talk:
            talk.server_says(log("debug"))
            talk.client_sees(params={"level": "debug"})


def test_the_shell_hears_no_modern_log_message_that_nobody_asked_for() -> None:
    with modern(questions=Questions.SHELL) as talk:
        talk.server_says(log("error"))
        assert talk.notices(Dropped).reason == "no log_level asked for it"
        meta = {K + "logLevel": "debug"}
        talk.client_says(request(1, "tools/call", {"name": "t", "_meta": meta}))
        talk.server_sees(params={"_meta": meta})
        talk.server_says(log("error"))
        talk.client_sees()
    with legacy(questions=Questions.SHELL) as talk:
        talk.server_says(log("debug"))
        talk.client_sees()


def test_the_wanted_level_filters_here_in_both_eras() -> None:
    for make in (modern, legacy):
        with make(log_level="warning") as talk:
            talk.server_says(log("info"))
            assert talk.notices(Dropped).reason == "it is below warning"
            for level in ("warning", "emergency", "vendor", 7, ["error"]):
                talk.server_says(log(level))
                talk.client_sees(params={"level": level})


def test_the_wanted_level_is_stamped_on_every_modern_request() -> None:
    with modern(log_level="warning") as talk:
        talk.client_says(request(1, "tools/list"))
        talk.server_sees(params={"_meta": {K + "logLevel": "warning"}})
        talk.client_says(request(2, "logging/setLevel", {"level": "debug"}))
        talk.client_sees(id=2, result={})
        talk.client_says(request(3, "tools/list"))
        talk.server_sees(params={"_meta": {K + "logLevel": "debug"}})


def test_a_legacy_server_that_logs_is_told_the_level_once_after_the_handshake() -> None:
    with legacy(answer=LOGS, log_level="error") as talk:
        talk.client_says(notification("notifications/initialized"))
        talk.server_sees(method="notifications/initialized")
        wire = talk.server_sees(method="logging/setLevel", params={"level": "error"})[
            "id"
        ]
        talk.server_says(result(wire))
    silent: dict[str, Any] = {**LOGS, "capabilities": {}}
    for answer, level in ((silent, "error"), (LOGS, None)):
        with legacy(answer=answer, log_level=level) as talk:
            talk.client_says(notification("notifications/initialized"))
            talk.server_sees(method="notifications/initialized")


def test_a_later_level_goes_to_a_legacy_server_and_filters_once_it_agrees() -> None:
    with legacy(answer=LOGS, log_level="error") as talk:
        talk.client_says(request(1, "logging/setLevel", {"level": "debug"}))
        wire = talk.server_sees(method="logging/setLevel")["id"]
        talk.server_says(log("debug"))
        talk.notices(Dropped)
        talk.server_says(result(wire))
        talk.client_sees(id=1)
        talk.server_says(log("debug"))
        talk.client_sees()
    with legacy(answer=LOGS, log_level="error") as talk:
        talk.client_says(request(1, "logging/setLevel", {"level": "debug"}))
        talk.server_says(error(talk.server_sees()["id"], -32601))
        talk.client_sees(id=1)
        talk.server_says(log("debug"))
        talk.notices(Dropped)


def test_a_level_that_does_not_exist_is_refused_here() -> None:
    for make in (modern, legacy):
        with make() as talk:
            talk.client_says(request(1, "logging/setLevel", {"level": "loud"}))
            talk.client_fails(
                1,
                "log level 'loud' is unknown; use one of debug, info, notice, warning, error, "
                "critical, alert, emergency",
                -32602,
            )


def test_vendor_notifications_pass_both_ways_in_both_eras() -> None:
    for make in (modern, legacy):
        with make(face=Face.NATIVE) as talk:
            message = notification("notifications/vendor/x", {"a": [1]})
            talk.server_says(message)
            assert talk.client_sees() is message
            talk.client_says(message)
            assert talk.server_sees() is message


def test_what_modern_servers_have_no_use_for_stays_here() -> None:
    with modern() as talk:
        for method in ("notifications/progress", "notifications/roots/list_changed"):
            talk.client_says(notification(method))
            assert talk.notices(Dropped).reason == "a modern server has no use for it"
    with legacy() as talk:
        for method in ("notifications/progress", "notifications/roots/list_changed"):
            talk.client_says(notification(method))
            talk.server_sees(method=method)


def test_before_the_handshake_is_over_only_log_messages_and_pings_pass() -> None:
    with Talk() as talk:
        talk.client_says(initialize())
        talk.server_sees()
        talk.server_says(log("info"))
        talk.client_sees(method="notifications/message")
        talk.server_says(request(5, "ping"))
        talk.server_sees(id=5, result={})
        for message in (
            request(6, "roots/list"),
            notification("notifications/tools/list_changed"),
            FORM,
        ):
            talk.server_says(message)
            talk.notices(Dropped)
        talk.client_says(notification("notifications/initialized"))
        talk.notices(Dropped)
