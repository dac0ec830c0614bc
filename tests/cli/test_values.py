"""What is typed, as values, targets and answers; without a server."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from mcp_anyera.cli import answers_file, target, values
from mcp_anyera.cli.answers_file import Asked
from mcp_anyera.cli.clean import clean, clean_line
from mcp_anyera.cli.trouble import WRONG_COMMAND_LINE, Trouble

ROOT: dict[str, Any] = {
    "$defs": {"N": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}}
}


@pytest.mark.parametrize(
    ("text", "schema", "expected"),
    [
        ("5", {"type": "integer"}, 5),
        ("5", {"type": "number"}, 5),
        ("5.5", {"type": "integer"}, "5.5"),
        ("5", {"type": "string"}, "5"),
        ("5", {"type": ["string", "null"]}, "5"),
        ("null", {"type": ["integer", "null"]}, None),
        ("true", {"type": "boolean"}, True),
        ("true", {"type": "integer"}, "true"),
        ("yes", {"type": "boolean"}, "yes"),
        ("[1]", {"type": "array"}, [1]),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        ("5", {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/N"}]}, 5),
        ("5", {"$ref": "#/$defs/loop"}, 5),
        ("2", {"enum": [1, 2]}, 2),
        ("2", {"enum": ["1", "2"]}, "2"),
        ("5", {}, 5),
        ("five", {}, "five"),
        ('"5"', {}, "5"),
        ("5", {"$ref": "https://elsewhere.example/schema"}, 5),
    ],
)
def test_a_value_is_what_its_schema_wants(
    text: str, schema: dict[str, Any], expected: object
) -> None:
    found = values.value(text, schema, ROOT)
    assert found == expected
    assert type(found) is type(expected)


def test_a_list_is_made_of_its_parts() -> None:
    items = {"type": "array", "items": {"type": "integer"}}
    schema = {"type": "object", "properties": {"n": items}}
    typed = [("n", "1"), ("n", "2"), ("other", "x")]
    assert values.arguments(typed, schema) == {"n": [1, 2], "other": "x"}
    with pytest.raises(Trouble) as told:
        values.arguments(typed, {"properties": {"n": {"type": "integer"}}})
    assert told.value.status == WRONG_COMMAND_LINE


# -- the server --------------------------------------------------------------------


def given(**more: Any) -> argparse.Namespace:
    plain: dict[str, Any] = {"command": None, "env": [], "cwd": None}
    urls: dict[str, Any] = {"header": [], "header_env": []}
    return argparse.Namespace(**{**plain, **urls, **more})


def test_a_command_stands_behind_the_mark_or_in_quotes() -> None:
    assert target.read(given(command=["a", "b c"]), []).command == ("a", "b c")
    assert target.read(given(), ["a 'b c'"]).command == ("a", "b c")
    assert target.read(given(), ["HTTPS://a.example"]).url == "HTTPS://a.example"


def test_headers_and_variables_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "s3cret:1\n")
    written = ["X-A:1", "Authorization: Bearer ${TOKEN}"]
    read = target.read(given(header=written, header_env=["X-B=TOKEN"]), ["http://a"])
    authorization = {"Authorization": "Bearer s3cret:1"}
    assert read.headers == {"X-A": "1", **authorization, "X-B": "s3cret:1"}
    assert "s3cret" not in repr(read)
    typed = ["A=1=2", "TOKEN"]
    read = target.read(given(env=typed, cwd="/tmp", command=["x"]), [])
    assert (read.env, read.cwd) == ({"A": "1=2", "TOKEN": "s3cret:1\n"}, "/tmp")
    assert read.server.env == read.env


# -- answers -----------------------------------------------------------------------


def asked(**more: Any) -> Asked:
    plain: dict[str, Any] = {
        "kind": "form",
        "message": "m",
        "key": "k",
        "caller": "t",
        "params": {},
    }
    return Asked(**{**plain, **more})


def read(folder: Path, content: object) -> answers_file.Answers:
    file = folder / "answers.json"
    file.write_text(json.dumps(content))
    return answers_file.read(str(file))


@pytest.mark.parametrize(
    ("entry", "fits"),
    [
        ({}, True),
        ({"message": "m"}, True),
        ({"message": "M"}, False),
        ({"message": "?"}, True),
        ({"key": "k", "tool": "t*"}, True),
        ({"key": "k", "tool": "u"}, False),
        ({"host": "*"}, True),
    ],
)
def test_an_entry_answers_what_it_matches(
    entry: dict[str, Any], fits: bool, tmp_path: Path
) -> None:
    answers = read(tmp_path, [{"kind": "form", **entry}])
    assert (answers.find(asked()) is not None) is fits


def test_an_entry_for_once_is_used_once(tmp_path: Path) -> None:
    once = {"kind": "form", "once": True, "content": {"n": 1}}
    answers = read(tmp_path, {"answers": [once, {"kind": "form", "content": {"n": 2}}]})
    found = [answers.find(asked()) for _ in range(3)]
    assert [one.given["content"]["n"] for one in found if one] == [1, 2, 2]


def test_hosts_are_matched_and_kinds_are_apart(tmp_path: Path) -> None:
    answers = read(tmp_path, [{"kind": "url", "host": "*.example.com"}])
    page = asked(kind="url", params={"url": "https://a.example.com:8443/x"})
    assert answers.find(page) is not None
    assert answers.find(asked(kind="url", params={"url": "https://evil.org/"})) is None
    assert answers.find(asked()) is None


WRONG: list[tuple[Any, str]] = [
    ("text", 'must hold {"answers": [...]} or a list'),
    ([1], "answer 1: kind must be one of"),
    ([{"kind": "roots"}], "answer 1: kind must be one of"),
    ([{"kind": "form"}, {"kind": "form", "text": "x"}], "answer 2: form has no"),
    ([{"kind": "form", "action": "yes"}], "action must be one of"),
    ([{"kind": "form", "content": []}], "content must be an object"),
    ([{"kind": "sampling"}], "text must be there, or another action"),
]


@pytest.mark.parametrize(("content", "said"), WRONG)
def test_a_wrong_file_is_explained(content: object, said: str, tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="--answers") as told:
        read(tmp_path, content)
    assert said in str(told.value)
    assert told.value.status == WRONG_COMMAND_LINE


# -- text --------------------------------------------------------------------------


def test_nothing_that_a_terminal_acts_on_gets_through() -> None:
    assert clean("a\tb\r\nc") == "a\tb\nc"
    assert clean("\x1b[2J\x07\x9b\u202e\u2066x") == "�[2J����x"
    assert clean("Grüße 日本 🎉") == "Grüße 日本 🎉"
    assert clean_line(" a\n b\x1b ") == "a b�"
