from __future__ import annotations

from typing import Any

import pytest

from mcp_anyera.engine import Fault, Questions, Refused, RoundBegun, older
from tests.engine.conversation import (
    FORM,
    INITIALIZED,
    SAMPLE,
    Json,
    Talk,
    legacy,
    modern,
    request,
    result,
    rounds,
)

NEWEST, LINKS, AUDIO, OLDEST = "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"
TEXT = {"type": "text", "text": "a"}
SOUND = {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}
USE: Json = {"type": "tool_use", "id": "1", "name": "clock", "input": {}}
LINK = {"type": "resource_link", "uri": "note://1", "name": "one", "title": "First"}
CALL = request(7, "tools/call", {"name": "t"})


def messages(*contents: Any) -> dict[str, Any]:
    said = [{"role": "user", "content": content} for content in contents]
    return {"messages": said, "maxTokens": 1}


def form(**properties: Any) -> dict[str, Any]:
    return {"message": "?", "requestedSchema": {"properties": properties}}


# -- questions for a session -----------------------------------------------------------


@pytest.mark.parametrize(
    ("revision", "given", "said"),
    [
        (NEWEST, messages([TEXT, SOUND]), messages([TEXT, SOUND])),
        (LINKS, messages([TEXT, SOUND], TEXT), messages(TEXT, SOUND, TEXT)),
        (OLDEST, messages([TEXT]), messages(TEXT)),
        (AUDIO, messages(SOUND), messages(SOUND)),
        (OLDEST, messages(SOUND), "audio in sampling"),
        (LINKS, messages([TEXT, USE]), "the use of tools in sampling"),
        (LINKS, {"messages": 7}, {"messages": 7}),
        (LINKS, {"messages": [7]}, {"messages": []}),
    ],
)
def test_blocks_become_messages_of_the_same_speaker(
    revision: str, given: Any, said: Any
) -> None:
    assert older.question(revision, "sampling/createMessage", given) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mode": "form", "message": "?"}, {"message": "?"}),
        (form(a={"type": "string"}), form(a={"type": "string"})),
        (form(a={"type": "array"}), "a choice of several"),
        (form(a=7), form(a=7)),
        (
            form(a={"type": "string", "oneOf": [{"const": "r", "title": "Red"}]}),
            form(a={"type": "string", "enum": ["r"], "enumNames": ["Red"]}),
        ),
        (
            form(a={"oneOf": [{"const": "r"}, 7]}),
            form(a={"enum": ["r"], "enumNames": ["r"]}),
        ),
    ],
)
def test_forms_are_written_in_older_words(given: Any, said: Any) -> None:
    assert older.question(LINKS, "elicitation/create", given) == said
    assert older.question(NEWEST, "elicitation/create", given) is given


def test_roots_were_always_asked_for_in_the_same_words() -> None:
    params: dict[str, Any] = {}
    assert older.question(OLDEST, "roots/list", params) is params


# -- answers for a server --------------------------------------------------------------


@pytest.mark.parametrize(
    ("revision", "content", "said"),
    [
        (NEWEST, [TEXT, TEXT], [TEXT, TEXT]),
        (LINKS, [TEXT], TEXT),
        (LINKS, TEXT, TEXT),
        (LINKS, [TEXT, TEXT], "a sample of 2 content blocks"),
        (LINKS, [], "a sample of 0 content blocks"),
        (LINKS, [USE], "the use of tools in sampling"),
        (AUDIO, SOUND, SOUND),
        (OLDEST, SOUND, "audio in sampling"),
    ],
)
def test_a_sample_of_one_block_can_be_said_everywhere(
    revision: str, content: Any, said: Any
) -> None:
    sample = {"role": "assistant", "model": "m", "content": content}
    expected = said if isinstance(said, str) else {**sample, "content": said}
    assert older.answer(revision, "sampling/createMessage", sample) == expected


def test_a_choice_of_several_is_no_answer_for_an_older_server() -> None:
    several = {"action": "accept", "content": {"colours": ["red"]}}
    assert older.answer(LINKS, "elicitation/create", several) == "a choice of several"
    assert older.answer(NEWEST, "elicitation/create", several) is several
    no = {"action": "decline"}
    assert older.answer(LINKS, "elicitation/create", no) is no


# -- results for a session -------------------------------------------------------------

TOLD = {"type": "text", "text": "First: one: note://1"}
ENCLOSED = {
    "type": "resource",
    "resource": {"uri": "attachment://audio", "mimeType": "audio/wav", "blob": "AA=="},
}


@pytest.mark.parametrize(
    ("revision", "block", "said"),
    [
        (LINKS, LINK, LINK),
        (AUDIO, LINK, TOLD),
        (
            AUDIO,
            {**LINK, "annotations": {"priority": 1}},
            {**TOLD, "annotations": {"priority": 1}},
        ),
        (AUDIO, SOUND, SOUND),
        (OLDEST, SOUND, ENCLOSED),
        (OLDEST, TEXT, TEXT),
        (OLDEST, 7, 7),
    ],
)
def test_results_keep_their_meaning(revision: str, block: Any, said: Any) -> None:
    assert older.result(revision, "tools/call", {"content": [block]}) == {
        "content": [said]
    }
    prompt = {"messages": [{"role": "user", "content": block}]}
    assert older.result(revision, "prompts/get", prompt) == {
        "messages": [{"role": "user", "content": said}]
    }


@pytest.mark.parametrize(
    ("method", "value"),
    [
        ("tools/call", {"content": 7}),
        ("prompts/get", {"messages": 7}),
        ("prompts/get", {"messages": [7]}),
        ("tools/list", {"tools": []}),
    ],
)
def test_what_has_no_blocks_is_left_alone(method: str, value: Any) -> None:
    assert older.result(OLDEST, method, value) == value


# -- in a conversation -----------------------------------------------------------------


def asked(talk: Talk, params: Any, method: str = "sampling/createMessage") -> None:
    talk.client_says(CALL)
    wire = talk.server_sees(method="tools/call")["id"]
    question = {"method": method, "params": params}
    talk.server_says(result(wire, rounds(inputRequests={"q": question})))
    talk.notices(RoundBegun)


def test_an_older_session_is_asked_in_its_own_words_and_gets_its_own_results() -> None:
    with modern(version=OLDEST) as talk:
        asked(talk, messages([TEXT, TEXT]))
        name = talk.client_sees(params=messages(TEXT, TEXT))["id"]
        talk.client_says(result(name, {"role": "assistant", "content": TEXT}))
        wire = talk.server_sees(method="tools/call")["id"]
        talk.server_says(result(wire, {"content": [LINK]}))
        talk.client_sees(id=7, result={"content": [TOLD]})


def test_a_question_that_an_older_session_cannot_hear_fails_its_call() -> None:
    with modern({"elicitation": {}}, version=LINKS) as talk:
        asked(talk, form(a={"type": "array"}), "elicitation/create")
        talk.notices(Refused)
        text = (
            "the server's elicitation/create has a choice of several, which a session "
            "at 2025-06-18 cannot be asked; let the session start with a newer revision"
        )
        assert talk.client_fails(7, text, -32602).fault is Fault.REFUSED


def test_an_answer_that_an_older_server_cannot_hear_is_refused_and_fails_the_call() -> (
    None
):
    answer = {**INITIALIZED, "protocolVersion": LINKS}
    with legacy(answer=answer, questions=Questions.SHELL) as talk:
        talk.client_says(CALL)
        wire = talk.server_sees(method="tools/call")["id"]
        talk.server_says(request(9, "sampling/createMessage", SAMPLE["params"]))
        sample = {"role": "assistant", "model": "m", "content": [TEXT, TEXT]}
        talk.answers(talk.asks("sampling/createMessage"), sample)
        refused = talk.server_sees(id=9)["error"]
        assert refused["code"] == -32603
        talk.server_says(result(wire, {"isError": True, "content": []}))
        text = (
            "the answer to sampling/createMessage has a sample of 2 content blocks, "
            "which the server's revision 2025-06-18 cannot carry; answer with less"
        )
        assert talk.client_fails(7, text).fault is Fault.REFUSED
        assert refused["message"] == text


def test_the_newest_handshake_needs_no_older_words() -> None:
    with modern() as talk:
        asked(talk, FORM["params"], "elicitation/create")
        assert talk.client_sees(params=FORM["params"])["params"] is FORM["params"]
