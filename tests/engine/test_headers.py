"""What a request wears over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine import Exchange, ToolHidden
from mcp_anyera.engine.headers import Headers, encode, mirrors
from tests.engine.conversation import Json, error, legacy, modern, request, result

HTTP: dict[str, Any] = {"exchange": Exchange.HTTP}
VERSION = {"MCP-Protocol-Version": "2026-07-28"}


def tool(schema: Any, name: str = "t") -> Json:
    return {"tools": [{"name": name, "inputSchema": schema}]}


def annotated(kind: Any = "string", header: Any = "Region") -> Json:
    return {"type": kind, "x-mcp-header": header}


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("us west 1", "us west 1"),
        ("", ""),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("a\tb", "=?base64?YQli?="),
        ("a\r\nInjected: 1", "=?base64?YQ0KSW5qZWN0ZWQ6IDE=?="),
        ("é", "=?base64?w6k=?="),
        ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ("=?base64?", "=?base64?"),
        ("=?BASE64?YQ==?=", "=?BASE64?YQ==?="),
        ("\x7f", "=?base64?fw==?="),
        ("\ud800", "=?base64?7aCA?="),
    ],
)
def test_a_value_is_wrapped_when_it_would_not_survive_as_it_is(
    value: str, header: str
) -> None:
    assert encode(value) == header


def test_every_modern_request_names_its_revision_and_its_method() -> None:
    with modern(**HTTP) as talk:
        for method, params, name in (
            ("tools/call", {"name": "t"}, {"Mcp-Name": "t"}),
            ("prompts/get", {"name": "ü"}, {"Mcp-Name": "=?base64?w7w=?="}),
            ("resources/read", {"uri": "note://x"}, {"Mcp-Name": "note://x"}),
            ("resources/list", {"name": "t"}, {}),
            ("tools/call", {"name": 7}, {}),
        ):
            talk.client_says(request(f"{method} {params}", method, params))
            assert talk.headers() == {**VERSION, "Mcp-Method": method, **name}
            talk.server_sees(method=method)


def test_a_legacy_request_names_its_revision_after_the_handshake_alone() -> None:
    with legacy(**HTTP) as talk:
        talk.client_says(request(1, "tools/list"))
        assert talk.headers() == {"MCP-Protocol-Version": "2025-11-25"}
        talk.server_sees(method="tools/list")
    old: Json = {"protocolVersion": "2025-03-26", "capabilities": {}}
    with legacy(answer=old, **HTTP) as talk:
        talk.client_says(request(1, "tools/list"))
        assert talk.headers() == {}
        talk.server_sees(method="tools/list")


def test_annotated_arguments_are_repeated_in_headers() -> None:
    schema = {
        "properties": {
            "region": annotated(),
            "count": annotated("integer", "Count"),
            "dry": annotated("boolean", "Dry"),
            "deep": {"properties": {"er": annotated("string", "Deeper")}},
            "left": annotated("string", "Left"),
        }
    }
    found = mirrors(schema)
    assert not isinstance(found, str)
    by_header = {mirror.header: mirror for mirror in found}
    for header, argument, value in (
        ("Mcp-Param-Region", {"region": "eu\n1"}, "=?base64?ZXUKMQ==?="),
        ("Mcp-Param-Region", {"region": ""}, ""),
        ("Mcp-Param-Region", {"region": None}, None),
        ("Mcp-Param-Region", {"region": 7}, None),
        ("Mcp-Param-Region", ["region"], None),
        ("Mcp-Param-Count", {"count": 7}, "7"),
        ("Mcp-Param-Count", {"count": 42.0}, "42"),
        ("Mcp-Param-Count", {"count": 4.5}, None),
        ("Mcp-Param-Count", {"count": True}, None),
        ("Mcp-Param-Count", {"count": 2**53 - 1}, "9007199254740991"),
        ("Mcp-Param-Count", {"count": -(2**53)}, None),
        ("Mcp-Param-Count", {"count": float("nan")}, None),
        ("Mcp-Param-Dry", {"dry": False}, "false"),
        ("Mcp-Param-Dry", {"dry": "false"}, None),
        ("Mcp-Param-Deeper", {"deep": {"er": "x"}}, "x"),
        ("Mcp-Param-Deeper", {"deep": "er"}, None),
    ):
        assert by_header[header].value_in(argument) == value, (header, argument)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (annotated(), "at a place that properties alone do not lead to"),
        ({"items": {"properties": {"a": annotated()}}}, "properties alone"),
        ({"anyOf": [{"properties": {"a": annotated()}}]}, "properties alone"),
        ({"$defs": {"d": {"properties": {"a": annotated()}}}}, "properties alone"),
        ({"properties": {"a": annotated(header="")}}, "not the name of a header"),
        ({"properties": {"a": annotated(header="a b")}}, "not the name of a header"),
        ({"properties": {"a": annotated(header="a\n")}}, "not the name of a header"),
        ({"properties": {"a": annotated(header=7)}}, "not the name of a header"),
        ({"properties": {"a": annotated("number")}}, "no string, integer or boolean"),
        ({"properties": {"a": annotated(["string"])}}, "no string, integer or boolean"),
        (
            {"properties": {"a": annotated(), "b": annotated(header="REGION")}},
            "two properties",
        ),
    ],
)
def test_an_invalid_annotation_says_what_is_wrong_with_it(
    schema: Json, reason: str
) -> None:
    found = mirrors(schema)
    assert isinstance(found, str)
    assert reason in found


@pytest.mark.parametrize(
    "schema",
    [
        None,
        [],
        {"default": annotated(), "enum": [annotated()], "properties": []},
        {"$defs": [], "anyOf": {}, "items": True},
        {"properties": {"a": {"examples": [annotated()]}}},
    ],
)
def test_what_only_looks_like_an_annotation_is_data(schema: Any) -> None:
    assert mirrors(schema) == ()


def test_a_deep_schema_is_read_without_recursion() -> None:
    schema: Json = {}
    for _ in range(20_000):
        schema = {"not": schema}
    assert mirrors(schema) == ()


def test_a_tool_with_an_invalid_annotation_is_left_out_with_a_notice() -> None:
    listed = {"tools": [{"name": "good"}, 7, *tool(annotated(), "bad")["tools"]]}
    with modern(**HTTP) as talk:
        talk.client_says(request(1, "tools/list"))
        wire = talk.server_sees(method="tools/list")["id"]
        talk.server_says(result(wire, listed))
        hidden = talk.notices(ToolHidden)
        assert hidden.name == "bad"
        assert "properties alone" in hidden.reason
        talk.client_sees(id=1, result={"tools": [{"name": "good"}, 7]})
    with modern() as talk:
        talk.client_says(request(1, "tools/list"))
        wire = talk.server_sees(method="tools/list")["id"]
        talk.server_says(result(wire, listed))
        talk.client_sees(id=1, result=listed)


def test_a_list_that_is_none_teaches_nothing() -> None:
    assert Headers().learn({"tools": "none"}) == ({"tools": "none"}, {})


def test_a_call_refused_for_its_headers_is_sent_once_more_after_a_list() -> None:
    listed = tool({"properties": {"region": annotated()}})
    with modern(**HTTP) as talk:
        call = {"name": "t", "arguments": {"region": "eu"}}
        talk.client_says(request(1, "tools/call", call))
        assert "Mcp-Param-Region" not in talk.headers()
        wire = talk.server_sees(method="tools/call")["id"]
        talk.exchange_fails(wire, 400, error(wire, -32020))
        first = talk.server_sees(method="tools/list")["id"]
        talk.server_says(result(first, {"tools": [], "nextCursor": "2"}), first)
        second = talk.server_sees(method="tools/list", params={"cursor": "2"})["id"]
        talk.server_says(result(second, listed), second)
        assert talk.headers()["Mcp-Param-Region"] == "eu"
        again = talk.server_sees(method="tools/call")["id"]
        talk.server_says(error(again, -32020, "still"), again)
        talk.client_sees(id=1, error={"code": -32020, "message": "still"})


def test_a_list_that_fails_leaves_the_first_error() -> None:
    with modern(**HTTP) as talk:
        talk.client_says(request(1, "tools/call", {"name": "t"}))
        wire = talk.server_sees(method="tools/call")["id"]
        talk.server_says(error(wire, -32020, "first"), wire)
        listing = talk.server_sees(method="tools/list")["id"]
        talk.exchange_fails(listing, 503)
        talk.client_sees(id=1, error={"code": -32020, "message": "first"})


def test_a_list_for_a_call_that_is_over_is_of_no_use() -> None:
    with modern(**HTTP) as talk:
        talk.client_says(request(1, "tools/call", {"name": "t"}), read_timeout=5.0)
        wire = talk.server_sees(method="tools/call")["id"]
        talk.server_says(error(wire, -32020), wire)
        listing = talk.server_sees(method="tools/list")["id"]
        talk.time_passes(5)
        talk.client_fails(
            1,
            "tools/call 't' took longer than 5 s (the server had not answered); "
            "raise read_timeout_seconds if it may take longer",
        )
        talk.server_says(result(listing, {"tools": []}), listing)


def test_other_methods_bear_a_refusal_of_their_headers() -> None:
    with modern(**HTTP) as talk:
        talk.client_says(request(1, "prompts/get", {"name": "p"}))
        wire = talk.server_sees(method="prompts/get")["id"]
        talk.server_says(error(wire, -32020), wire)
        talk.client_sees(id=1, error={"code": -32020})


def test_a_server_that_lists_without_end_is_not_followed_for_ever() -> None:
    with modern(**HTTP) as talk:
        talk.client_says(request(1, "tools/call", {"name": "t"}))
        wire = talk.server_sees(method="tools/call")["id"]
        talk.server_says(error(wire, -32020), wire)
        for page in range(50):
            listing = talk.server_sees(method="tools/list")["id"]
            talk.server_says(result(listing, {"tools": [], "nextCursor": str(page)}))
        talk.server_sees(method="tools/call")
