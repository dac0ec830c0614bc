from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine.questions import CallInfo, clean_answer, refusal, url_problem

FORM: dict[str, Any] = {"message": "?", "requestedSchema": {}}
URL: dict[str, Any] = {"mode": "url", "message": "?", "url": "https://example.com/x"}


@pytest.mark.parametrize(
    ("method", "params", "declared"),
    [
        ("elicitation/create", FORM, {"elicitation": {}}),
        ("elicitation/create", FORM, {"elicitation": {"form": {}}}),
        ("elicitation/create", {**FORM, "mode": "form"}, {"elicitation": {"form": {}}}),
        ("elicitation/create", URL, {"elicitation": {"url": {}}}),
        ("sampling/createMessage", {}, {"sampling": {}}),
        ("sampling/createMessage", {"tools": []}, {"sampling": {"tools": {}}}),
        ("roots/list", {}, {"roots": {}}),
    ],
)
def test_what_was_declared_may_be_asked(
    method: str, params: dict[str, Any], declared: dict[str, Any]
) -> None:
    assert refusal(method, params, declared) is None


@pytest.mark.parametrize(
    ("method", "text"),
    [
        (
            "elicitation/create",
            "Elicitation not supported: the server sent elicitation/create, and elicitation_callback= is not set",
        ),
        (
            "sampling/createMessage",
            "Sampling not supported: the server sent sampling/createMessage, and sampling_callback= is not set",
        ),
        (
            "roots/list",
            "List roots not supported: the server sent roots/list, and list_roots_callback= is not set",
        ),
    ],
)
def test_a_capability_that_was_not_declared_is_refused_as_both_sdk_lines_do(
    method: str, text: str
) -> None:
    failure = refusal(method, {}, {})
    assert failure is not None
    assert failure.message == text
    assert failure.as_error()["code"] == -32600


@pytest.mark.parametrize(
    ("method", "params", "declared", "text"),
    [
        (
            "elicitation/create",
            URL,
            {"elicitation": {"form": {}}},
            "elicitation mode 'url' was not declared (declared: ['form']); the server must not use it",
        ),
        (
            "elicitation/create",
            URL,
            {"elicitation": {}},
            "elicitation mode 'url' was not declared (declared: ['form']); the server must not use it",
        ),
        (
            "elicitation/create",
            {"mode": "voice"},
            {"elicitation": {"form": {}, "voice": {}}},
            "elicitation mode 'voice' was not declared (declared: ['form', 'voice']); the server must not use it",
        ),
        (
            "elicitation/create",
            {"mode": ["form"]},
            {"elicitation": {}},
            "elicitation mode ['form'] was not declared (declared: ['form']); the server must not use it",
        ),
        (
            "sampling/createMessage",
            {"toolChoice": {}},
            {"sampling": {}},
            "sampling with tools was not declared; pass sampling_capabilities with tools to allow it",
        ),
        (
            "elicitation/create",
            {**URL, "url": "javascript:alert(1)"},
            {"elicitation": {"url": {}}},
            "the server sent a URL question without a usable URL",
        ),
    ],
)
def test_a_mode_that_was_not_declared_is_invalid(
    method: str, params: dict[str, Any], declared: dict[str, Any], text: str
) -> None:
    failure = refusal(method, params, declared)
    assert failure is not None
    assert (failure.message, failure.as_error()["code"]) == (text, -32602)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "HTTPS://example.com/a?b#c",
        "http://localhost:3/x",
        "http://127.0.0.1",
        "http://[::1]:8/",
    ],
)
def test_https_and_plain_http_on_loopback_may_be_shown(url: str) -> None:
    assert url_problem({"url": url}) is None


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        (
            "http://169.254.169.254/",
            "the server sent a URL with scheme 'http'; https is expected",
        ),
        (
            "http://localhost.evil.com/",
            "the server sent a URL with scheme 'http'; https is expected",
        ),
        (
            "ftp://example.com/",
            "the server sent a URL with scheme 'ftp'; https is expected",
        ),
        ("file:///etc/passwd", "the server sent a URL question without a usable URL"),
        ("data:text/html,x", "the server sent a URL question without a usable URL"),
        ("https://", "the server sent a URL question without a usable URL"),
        ("", "the server sent a URL question without a usable URL"),
        (7, "the server sent a URL question without a usable URL"),
        (
            "https://me:pw@example.com/",
            "the server sent a URL with user name or password in it",
        ),
        (
            "https://:pw@example.com/",
            "the server sent a URL with user name or password in it",
        ),
        ("https://[::1/", "the server sent a URL that cannot be parsed"),
    ],
)
def test_other_urls_are_never_shown(url: Any, problem: str) -> None:
    assert url_problem({"url": url}) == problem


@pytest.mark.parametrize(
    ("method", "given", "sent"),
    [
        (
            "elicitation/create",
            {"action": "accept", "content": {"a": 1}},
            {"action": "accept", "content": {"a": 1}},
        ),
        (
            "elicitation/create",
            {"action": "decline", "content": {"a": 1}},
            {"action": "decline"},
        ),
        (
            "elicitation/create",
            {"action": "cancel", "content": None, "_meta": {}},
            {"action": "cancel"},
        ),
        ("roots/list", {"roots": [], "_meta": {}}, {"roots": []}),
        (
            "sampling/createMessage",
            {"role": "user", "_meta": {"a": 1}},
            {"role": "user", "_meta": {"a": 1}},
        ),
    ],
)
def test_an_answer_carries_only_what_its_kind_allows(
    method: str, given: dict[str, Any], sent: dict[str, Any]
) -> None:
    assert clean_answer(method, given) == sent


def test_a_call_is_described_by_its_name_or_its_uri() -> None:
    assert CallInfo.of("tools/call", {"name": "t", "arguments": {"a": 1}}) == CallInfo(
        "tools/call", "t", {"a": 1}
    )
    assert CallInfo.of("resources/read", {"uri": "u"}).name == "u"
    assert CallInfo.of("tools/call", {"name": 3}).name is None
