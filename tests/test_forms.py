"""Forms as people draw them, and answers held against them."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera import accept, cancel, decline, refuse
from mcp_anyera._sdk import ErrorData, dump, parse_question
from mcp_anyera.forms import Choice, Field, complete, fields, problem_with

COLOURS = (Choice("r", "Red"), Choice("g", "Green"))
PLAIN = (Choice("r", "r"), Choice("g", "g"))


def form(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def only(schema: dict[str, Any], **more: Any) -> Field:
    (field,) = fields({**form(x=schema), **more})
    return field


@pytest.mark.parametrize(
    ("schema", "choices", "several"),
    [
        ({"type": "string", "enum": ["r", "g"]}, PLAIN, False),
        (
            {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
            COLOURS,
            False,
        ),
        (
            {"type": "string", "enum": ["r", "g"], "enumNames": ["Red"]},
            (Choice("r", "Red"), Choice("g", "g")),
            False,
        ),
        (
            {
                "type": "string",
                "oneOf": [
                    {"const": "r", "title": "Red"},
                    {"const": "g", "title": "Green"},
                ],
            },
            COLOURS,
            False,
        ),
        (
            {"type": "array", "items": {"type": "string", "enum": ["r", "g"]}},
            PLAIN,
            True,
        ),
        (
            {
                "type": "array",
                "items": {
                    "anyOf": [
                        {"const": "r", "title": "Red"},
                        {"const": "g", "title": "Green"},
                    ]
                },
            },
            COLOURS,
            True,
        ),
        ({"type": "string"}, (), False),
        ({"type": "string", "enum": "r"}, (), False),
    ],
)
def test_every_way_to_write_a_choice_down_reads_the_same(
    schema: dict[str, Any], choices: tuple[Choice, ...], several: bool
) -> None:
    field = only(schema)
    assert (field.choices, field.several) == (choices, several)


def test_a_field_says_what_is_needed_to_draw_it() -> None:
    schema = {
        "type": "integer",
        "title": "Age",
        "description": "in years",
        "default": 18,
        "minimum": 0,
        "maximum": 120,
    }
    assert only(schema, required=["x"]) == Field(
        "x",
        "integer",
        "Age",
        "in years",
        True,
        18,
        (),
        False,
        {"minimum": 0, "maximum": 120},
    )
    assert only({}) == Field("x", "string", "x", None, False, None, (), False, {})


@pytest.mark.parametrize("wrapped", [False, True])
def test_what_a_callback_gets_is_read_on_both_lines(wrapped: bool) -> None:
    params: Any = {"message": "?", "requestedSchema": form(name={"type": "string"})}
    if wrapped:
        params = parse_question("elicitation/create", params)
    assert [field.name for field in fields(params)] == ["name"]
    url = {"mode": "url", "message": "?", "url": "https://a.b", "elicitationId": "1"}
    asked = parse_question("elicitation/create", url) if wrapped else url
    assert fields(asked) == ()


def test_defaults_fill_what_the_answer_leaves_out() -> None:
    schema = form(a={"default": 1}, b={"default": False}, c={}, d=True)
    assert complete(schema, {"b": True, "z": 0}) == {"a": 1, "b": True, "z": 0}
    assert complete({}, None) == {}


@pytest.mark.parametrize(
    ("schema", "content", "problem"),
    [
        ({"type": "integer"}, {"x": 42}, None),
        ({"type": "integer"}, {"x": "42xyz"}, "x: '42xyz' is not of type 'integer'"),
        ({"type": "integer"}, {}, "'x' is a required property"),
        ({"type": "string", "minLength": 2}, {"x": "a"}, "x: 'a' is too short"),
        ({"type": "string", "enum": ["a"]}, {"x": "b"}, "x: 'b' is not one of ['a']"),
        ({"type": "string", "format": "email"}, {"x": "b"}, "x: 'b' is not a 'email'"),
        ({"type": "string", "pattern": "(a+)+$"}, {"x": "a" * 40 + "!"}, None),
        ({"type": "nonsense"}, {"x": "b"}, None),
        ({"$ref": "https://example.com/schema"}, {"x": "b"}, None),
        (
            {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1},
            {"x": ["c"]},
            "x.0: 'c' is not one of ['a', 'b']",
        ),
    ],
)
def test_an_answer_is_held_against_the_form(
    schema: dict[str, Any], content: dict[str, Any], problem: str | None
) -> None:
    whole = {**form(x=schema), "required": ["x"]}
    assert problem_with(whole, content) == problem


def test_answers_are_the_sdks_own() -> None:
    assert dump(accept({"name": "Ada"})) == {
        "action": "accept",
        "content": {"name": "Ada"},
    }
    assert dump(accept()) == {"action": "accept"}
    assert (dump(decline()), dump(cancel())) == (
        {"action": "decline"},
        {"action": "cancel"},
    )
    refused = refuse("not today", code=-32050, data={"why": "rain"})
    assert isinstance(refused, ErrorData)
    assert dump(refused) == {
        "code": -32050,
        "message": "not today",
        "data": {"why": "rain"},
    }
    assert refuse("no").code == -32600
