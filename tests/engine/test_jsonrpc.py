from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine import jsonrpc
from mcp_anyera.engine.jsonrpc import Shape, classify


@pytest.mark.parametrize(
    ("message", "shape"),
    [
        ({"id": 1, "method": "m"}, Shape.REQUEST),
        ({"id": "a", "method": "m", "params": {}}, Shape.REQUEST),
        ({"id": "a", "method": "m", "params": None}, Shape.REQUEST),
        ({"method": "m"}, Shape.NOTIFICATION),
        ({"id": 1, "result": {}}, Shape.RESPONSE),
        ({"id": None, "result": {}}, Shape.RESPONSE),
        ({"id": 1, "error": {"code": 1, "message": "m"}}, Shape.ERROR),
    ],
)
def test_well_formed_messages_have_a_shape(message: Any, shape: Shape) -> None:
    assert classify(message) is shape


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ([], "it is not a JSON object"),
        (None, "it is not a JSON object"),
        ({}, "it has neither a method nor an id"),
        ({"method": 1}, "its method is not a string"),
        ({"method": "m", "params": []}, "its params are not an object"),
        ({"method": "m", "id": None}, "its id is no string or integer"),
        ({"method": "m", "id": True}, "its id is no string or integer"),
        ({"method": "m", "id": 1.0}, "its id is no string or integer"),
        ({"id": 1}, "it must have exactly one of result and error"),
        (
            {"id": 1, "result": {}, "error": {}},
            "it must have exactly one of result and error",
        ),
        ({"id": 1, "result": []}, "its result is not an object"),
        ({"id": 1, "error": "x"}, "its error is malformed"),
        ({"id": 1, "error": {"code": "1", "message": "m"}}, "its error is malformed"),
        ({"id": 1, "error": {"code": True, "message": "m"}}, "its error is malformed"),
        ({"id": 1, "error": {"code": 1}}, "its error is malformed"),
    ],
)
def test_malformed_messages_have_a_reason(message: Any, problem: str) -> None:
    assert classify(message) == problem


def test_messages_are_built_without_members_that_are_absent() -> None:
    assert jsonrpc.request(1, "m", None) == {"jsonrpc": "2.0", "id": 1, "method": "m"}
    assert jsonrpc.request(1, "m", {})["params"] == {}
    assert jsonrpc.notification("m") == {"jsonrpc": "2.0", "method": "m"}
    assert jsonrpc.notification("m", {"a": 1})["params"] == {"a": 1}
    assert jsonrpc.response("a", {}) == {"jsonrpc": "2.0", "id": "a", "result": {}}
    assert jsonrpc.error(None, {})["id"] is None


@pytest.mark.parametrize("params", [{}, {"_meta": None}, {"_meta": 3}, {"_meta": [1]}])
def test_meta_that_is_no_object_counts_as_absent(params: dict[str, Any]) -> None:
    assert jsonrpc.meta_of(params) == {}
