from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine import results
from mcp_anyera.engine.results import ResultKind

K = "io.modelcontextprotocol/"


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ({}, ResultKind.COMPLETE),
        ({"resultType": "complete"}, ResultKind.COMPLETE),
        ({"resultType": "input_required"}, ResultKind.INPUT_REQUIRED),
        ({"resultType": "task"}, None),
        ({"resultType": None}, None),
        ({"resultType": ["complete"]}, None),
    ],
)
def test_an_absent_result_type_means_complete_and_an_unknown_one_nothing(
    result: dict[str, Any], kind: ResultKind | None
) -> None:
    assert results.kind_of(result) is kind


def test_a_native_face_always_gets_a_result_type() -> None:
    said: dict[str, Any] = {"resultType": "complete", "x": 1}
    assert results.for_native_face("tools/call", said) is said
    assert results.for_native_face("tools/call", {"x": 1}) == said


def test_a_native_face_always_gets_the_cache_hints_of_a_list() -> None:
    said: dict[str, Any] = {
        "resultType": "complete",
        "tools": [],
        "ttlMs": 5,
        "cacheScope": "public",
    }
    assert results.for_native_face("tools/list", said) is said
    assert results.for_native_face("tools/list", {"tools": [], "ttlMs": 5}) == {
        "resultType": "complete",
        "tools": [],
        "ttlMs": 5,
        "cacheScope": "private",
    }


def test_a_legacy_face_gets_nothing_that_only_modern_revisions_know() -> None:
    content: list[Any] = []
    modern: dict[str, Any] = {
        "resultType": "complete",
        "ttlMs": 5,
        "cacheScope": "public",
        "content": content,
        "_meta": {K + "serverInfo": {}, "vendor/x": 1},
        "future": True,
    }
    plain = results.for_legacy_face("prompts/list", modern)
    assert plain == {"content": [], "_meta": {"vendor/x": 1}, "future": True}
    assert plain["content"] is content
    assert "ttlMs" in modern


def test_meta_that_held_only_modern_members_goes() -> None:
    assert results.for_legacy_face("x", {"_meta": {K + "serverInfo": {}}}) == {}
    assert results.for_legacy_face("x", {"_meta": {"a": 1}}) == {"_meta": {"a": 1}}


def test_output_schemas_that_allow_more_than_objects_are_hidden() -> None:
    schema = {"type": "object"}
    tools = [
        {"name": "a", "outputSchema": schema},
        {"name": "b", "outputSchema": {"type": "array"}},
        {"name": "c", "outputSchema": True},
        {"name": "d"},
        "odd",
    ]
    listed = results.for_legacy_face("tools/list", {"tools": tools})["tools"]
    assert listed == [
        {"name": "a", "outputSchema": schema},
        {"name": "b"},
        {"name": "c"},
        {"name": "d"},
        "odd",
    ]
    assert results.for_legacy_face("tools/list", {"tools": 3}) == {"tools": 3}


@pytest.mark.parametrize("value", [None, [1], "text", 3])
def test_structured_content_that_is_no_object_is_hidden(value: Any) -> None:
    shown = results.for_legacy_face(
        "tools/call", {"content": [], "structuredContent": value}
    )
    assert shown == {"content": []}


def test_structured_content_that_is_an_object_stays() -> None:
    shown: list[dict[str, Any]] = [{"structuredContent": {"a": 1}}, {"content": []}]
    for result in shown:
        assert results.for_legacy_face("tools/call", result) == result


@pytest.mark.parametrize(
    ("method", "error", "code"),
    [
        (
            "resources/read",
            {"code": -32602, "message": "m", "data": {"uri": "u"}},
            -32002,
        ),
        (
            "resources/read",
            {"code": -32602, "message": "m", "data": {"uri": "v"}},
            -32602,
        ),
        ("resources/read", {"code": -32602, "message": "m"}, -32602),
        (
            "resources/read",
            {"code": -32603, "message": "m", "data": {"uri": "u"}},
            -32603,
        ),
        ("tools/call", {"code": -32602, "message": "m", "data": {"uri": "u"}}, -32602),
    ],
)
def test_only_a_missing_resource_has_another_number(
    method: str, error: dict[str, Any], code: int
) -> None:
    assert results.legacy_error(method, {"uri": "u"}, error) == {**error, "code": code}
