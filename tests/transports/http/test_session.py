"""The session of a legacy server over HTTP: its stream, its loss, its end."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest

from mcp_anyera import CallTimeout, Client, ConnectionLost, Era
from mcp_anyera._sdk import SDKError, types
from mcp_anyera.engine import Reopened
from mcp_anyera.transports.http import session as sessions
from mcp_anyera.transports.http import wire as wires
from tests.interop.faces import EVERYTHING, elicit, text
from tests.transports.http.stage import (
    DONE,
    HELLO,
    Asked,
    Json,
    Say,
    Script,
    legacy,
    modern,
    staged,
)

FORM: Json = {
    "message": "Name?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}


def question(id_: Any, method: str = "elicitation/create") -> Json:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": FORM}


def note(method: str) -> Json:
    return {"jsonrpc": "2.0", "method": method}


# -- the stream of a call ----------------------------------------------------------


async def test_an_answer_is_posted_while_the_call_still_streams() -> None:
    answered = anyio.Event()

    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "tools/call":
            await say.events(question("q"), end=False)
            await answered.wait()
            await say.event(asked.result(DONE))
            say.closing = True
        elif asked.answers:
            await say.reply(202)
            answered.set()
        else:
            await legacy(asked, say)

    async with staged(script) as stage:
        async with Client(stage.url, elicitation_callback=elicit) as client:
            with anyio.fail_after(5):
                assert text(await client.call_tool("t")) == "done"
    answer = next(a for a in stage.asked if a.answers)
    assert answer.body["result"]["content"] == {"name": "Ada"}
    assert answer.headers["mcp-session-id"] == "s1"


async def test_a_question_names_the_call_on_whose_stream_it_came() -> None:
    names: list[str | None] = []
    both, answered = anyio.Event(), {"a": anyio.Event(), "b": anyio.Event()}

    async def ask(context: Any, params: Any) -> types.ElicitResult:
        names.append(context.call and context.call.name)
        return types.ElicitResult(action="decline")

    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "tools/call":
            name = asked.body["params"]["name"]
            if name == "b":
                both.set()
            await both.wait()
            await say.events(question(name), end=False)
            await answered[name].wait()
            await say.event(asked.result(DONE))
            say.closing = True
        elif asked.answers:
            await say.reply(202)
            answered[asked.body["id"]].set()
        else:
            await legacy(asked, say)

    async with staged(script) as stage:
        async with Client(stage.url, elicitation_callback=ask) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(client.call_tool, "a"))
                tasks.start_soon(partial(client.call_tool, "b"))
    assert sorted(map(str, names)) == ["a", "b"]


async def test_a_stream_that_breaks_off_is_read_on_from_where_it_was() -> None:
    times: list[float] = []

    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "tools/call":
            times.append(anyio.current_time())
            await say.events("id: 7\nretry: 200\ndata:\n\n")
        elif asked.method == "GET" and "last-event-id" in asked.headers:
            times.append(anyio.current_time())
            result = {"jsonrpc": "2.0", "id": called(), "result": DONE}
            await say.events(result)
        else:
            await legacy(asked, say)

    def called() -> Any:
        return stage.of("tools/call")[0].body["id"]

    async with staged(script) as stage, Client(stage.url) as client:
        assert text(await client.call_tool("t")) == "done"
    resumed = next(a for a in stage.asked if "last-event-id" in a.headers)
    assert resumed.headers["last-event-id"] == "7"
    assert resumed.headers["mcp-session-id"] == "s1"
    assert times[1] - times[0] >= 0.2
    assert len(stage.of("tools/call")) == 1


async def test_a_stream_that_cannot_be_read_on_fails_its_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "FIRST_PAUSE", 0.01)

    async def script(asked: Asked, say: Say) -> None:
        name = asked.body.get("params", {}).get("name")
        if name in {"with", "empty"}:
            await say.events("id: 7\ndata:\n\n")
        elif name == "without":
            await say.events(": nothing\n\n")
        elif asked.method == "GET" and asked.headers.get("last-event-id"):
            await say.reply(503 if len(stage.of("GET")) < 4 else 405)
        else:
            await legacy(asked, say)

    async with staged(script) as stage, Client(stage.url) as client:
        for name in ("with", "without"):
            with pytest.raises(ConnectionLost, match="ended without an answer"):
                await client.call_tool(name)
        assert text(await client.call_tool("good")) == "done"


# -- its own stream ----------------------------------------------------------------


async def test_what_comes_outside_of_every_call_is_heard() -> None:
    heard: list[str] = []
    enough = anyio.Event()

    async def handle(message: Any) -> None:
        heard.append(type(message).__name__)
        if len(heard) == 2:
            enough.set()

    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "GET" and "last-event-id" not in asked.headers:
            change = note("notifications/tools/list_changed")
            await say.events("id: 1\nretry: 10\ndata:\n\n", change)
        elif asked.method == "GET":
            await say.events(note("notifications/prompts/list_changed"), end=False)
            await anyio.sleep(60)
        else:
            await legacy(asked, say)

    async with staged(script) as stage:
        async with Client(stage.url, message_handler=handle):
            with anyio.fail_after(5):
                await enough.wait()
    assert heard == ["ToolListChangedNotification", "PromptListChangedNotification"]
    assert stage.of("GET")[1].headers["last-event-id"] == "1"


@pytest.mark.parametrize("silent", [False, True])
async def test_calls_wait_for_the_stream_of_the_session_but_not_for_ever(
    silent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wires, "LISTEN_TIMEOUT", 0.2 if silent else 5)
    order: list[str] = []

    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "GET":
            await anyio.sleep(60 if silent else 0.1)
            order.append("stream")
            await say.events(end=False)
            await anyio.sleep(60)
        if asked.method == "tools/call":
            order.append("call")
        await legacy(asked, say)

    async with staged(script) as stage, Client(stage.url) as client:
        with anyio.fail_after(5):
            await client.call_tool("t")
    assert order == (["call"] if silent else ["stream", "call"])


async def test_a_question_outside_of_every_call_is_answered() -> None:
    answered = anyio.Event()

    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "GET":
            await say.events(question("q", "roots/list"), end=False)
            await anyio.sleep(60)
        elif asked.answers:
            answered.set()
            await say.reply(202)
        else:
            await legacy(asked, say)

    async with staged(script) as stage, Client(stage.url, **EVERYTHING):
        with anyio.fail_after(5):
            await answered.wait()


async def test_a_stream_that_always_ends_is_given_up_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(sessions, "MAX_FAILURES", 4)
    last = anyio.Event()

    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "GET":
            await say.events()
            if len(stage.of("GET")) == 4:
                last.set()
        else:
            await legacy(asked, say)

    async with staged(script) as stage, Client(stage.url) as client:
        with anyio.fail_after(5):
            await last.wait()
        for _ in range(5):
            await client.call_tool("t")
    assert len(stage.of("GET")) == 4


async def test_a_server_without_sessions_is_not_listened_to() -> None:
    async with staged(partial(legacy, session=None)) as stage:
        async with Client(stage.url, mode="legacy") as client:
            await client.call_tool("t")
    assert {asked.verb for asked in stage.asked} == {"POST"}


# -- its loss ----------------------------------------------------------------------


def forgetful(refusal: Any, times: int = 1) -> Any:
    """A legacy server that loses its session so many times."""
    left = [times]

    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "tools/call" and left[0]:
            left[0] -= 1
            await refusal(asked, say)
        else:
            await legacy(asked, say, f"s{times - left[0]}")

    return script


async def gone(asked: Asked, say: Say) -> None:
    await say.reply(404)


async def gone_with_a_body(asked: Asked, say: Say) -> None:
    await say.json(asked.error(-32001, message="Session not found"), 404)


async def unknown(asked: Asked, say: Say) -> None:
    error = {"code": -32000, "message": "Bad Request: No valid session ID provided"}
    await say.json({"jsonrpc": "2.0", "id": None, "error": error}, 400)


@pytest.mark.parametrize("refusal", [gone, gone_with_a_body, unknown])
async def test_a_lost_session_is_opened_again_and_nobody_hears_of_it(
    refusal: Any,
) -> None:
    events: list[Any] = []
    async with staged(forgetful(refusal)) as stage:
        async with Client(
            stage.url, log_level="info", on_event=events.append
        ) as client:
            await client.subscribe_resource("note://a")
            assert text(await client.call_tool("t")) == "done"
    first, second = stage.of("tools/call")
    assert first.headers["mcp-session-id"] == "s0"
    assert second.headers["mcp-session-id"] == "s1"
    assert "mcp-session-id" not in stage.of("initialize")[1].headers
    assert len(stage.of("notifications/initialized")) == 2
    levels = stage.of("logging/setLevel")
    assert [a.headers["mcp-session-id"] for a in levels] == ["s0", "s1"]
    assert len(stage.of("resources/subscribe")) == 2
    assert len([e for e in events if isinstance(e, Reopened)]) == 1


async def test_calls_that_lose_the_session_together_open_it_once() -> None:
    async with staged(forgetful(gone, times=5)) as stage:
        async with Client(stage.url) as client:
            async with anyio.create_task_group() as tasks:
                for _ in range(5):
                    tasks.start_soon(partial(client.call_tool, "t"))
    assert len(stage.of("initialize")) == 2
    assert len(stage.of("tools/call")) == 10


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [(404, -32601, "no such method"), (400, -32600, "bad"), (400, -32602, "session")],
)
async def test_other_refusals_are_no_loss(status: int, code: int, message: str) -> None:
    async def refuse(asked: Asked, say: Say) -> None:
        await say.json(asked.error(code, message=message), status)

    async with staged(forgetful(refuse)) as stage, Client(stage.url) as client:
        with pytest.raises(SDKError) as caught:
            await client.call_tool("t")
        assert caught.value.error.code == code
    assert len(stage.of("initialize")) == 1


async def test_a_session_that_cannot_be_had_again_fails_the_call_and_is_tried_again() -> (
    None
):
    broken = [False]

    async def script(asked: Asked, say: Say) -> None:
        if broken[0] and asked.verb == "POST":
            await say.reply(503 if asked.method == "server/discover" else 404)
        else:
            await legacy(asked, say)

    async with staged(script) as stage, Client(stage.url) as client:
        broken[0] = True
        with pytest.raises(ConnectionError, match="HTTP 503"):
            await client.call_tool("t")
        broken[0] = False
        assert text(await client.call_tool("t")) == "done"


async def test_a_server_that_answers_404_to_everything_may_come_back() -> None:
    acts: list[Script] = [legacy]

    async def nothing(asked: Asked, say: Say) -> None:
        await say.reply(404)

    async def script(asked: Asked, say: Say) -> None:
        await acts[0](asked, say)

    async with staged(script) as stage, Client(stage.url) as client:
        acts[0] = nothing
        for _ in range(2):
            with pytest.raises(ConnectionError, match="HTTP 404"):
                await client.call_tool("t")
        acts[0] = legacy
        assert text(await client.call_tool("t")) == "done"


async def test_a_server_that_was_upgraded_in_place_is_met_in_its_new_era() -> None:
    acts: list[Script] = [legacy]

    async def script(asked: Asked, say: Say) -> None:
        await acts[0](asked, say)

    async with staged(script) as stage, Client(stage.url) as client:
        assert client.era is Era.LEGACY
        assert text(await client.call_tool("t")) == "done"
        acts[0] = modern
        assert text(await client.call_tool("t")) == "done"
        assert client.era is Era.MODERN
        assert (await client.list_tools()).tools == []
        await client.send_ping()
    assert stage.of("tools/list")[-1].headers["mcp-protocol-version"] == "2026-07-28"
    assert "DELETE" not in stage.methods


# -- its end, and its silence ------------------------------------------------------


async def test_an_end_that_is_not_answered_does_not_hang(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "DELETE_TIMEOUT", 0.1)

    async def script(asked: Asked, say: Say) -> None:
        if asked.verb == "DELETE":
            await anyio.sleep(60)
        await legacy(asked, say)

    with anyio.fail_after(5):
        async with staged(script) as stage, Client(stage.url) as client:
            await client.call_tool("t")
    assert stage.methods[-1] == "DELETE"


async def test_a_cancelled_call_is_posted_as_such_and_its_stream_is_closed() -> None:
    begun, cancelled = anyio.Event(), anyio.Event()

    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "tools/call":
            await say.events(end=False)
            begun.set()
            await anyio.sleep(60)
        if asked.method == "notifications/cancelled":
            cancelled.set()
        await legacy(asked, say)

    async with staged(script) as stage, Client(stage.url) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(client.call_tool, "t"))
            await begun.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(5):
            await cancelled.wait()
    named = stage.of("notifications/cancelled")[0].body["params"]["requestId"]
    assert named == stage.of("tools/call")[0].body["id"]


@pytest.mark.parametrize("sessions_too", [True, False])
async def test_a_call_that_takes_too_long_says_why_no_question_may_come(
    sessions_too: bool,
) -> None:
    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "tools/call":
            await anyio.sleep(60)
        elif asked.method == "initialize" and not sessions_too:
            await say.events(asked.result(HELLO))
        else:
            await legacy(asked, say)

    async with staged(script) as stage:
        async with Client(stage.url, mode="legacy", **EVERYTHING) as client:
            with pytest.raises(CallTimeout) as caught:
                await client.call_tool("t", read_timeout_seconds=0.1)
    said = "replies with JSON" if sessions_too else "handed out no session"
    assert said in str(caught.value)
