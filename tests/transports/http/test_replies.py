"""Replies over HTTP that are none, or are strange: each hits its own call alone."""

from __future__ import annotations

import gzip
import json
from functools import partial
from typing import Any

import anyio
import pytest

from mcp_anyera import (
    AnyEraError,
    Client,
    ConnectionLost,
    HttpStatusError,
    ProtocolViolation,
)
from mcp_anyera._sdk import SDKError
from tests.interop.faces import text
from tests.transports.http.stage import DONE, Asked, Json, Say, modern, staged

BAD: Json = {"name": "bad"}


def plays(reply: Any) -> Any:
    """A modern server whose tool ``bad`` gives this reply."""

    async def script(asked: Asked, say: Say) -> None:
        if asked.body.get("params", {}).get("name") == "bad":
            await reply(asked, say)
        else:
            await modern(asked, say)

    return script


async def accepted(asked: Asked, say: Say) -> None:
    await say.reply(202)


async def html(asked: Asked, say: Say) -> None:
    await say.reply(200, b"<html>", {"content-type": "text/html; charset=utf-8"})


async def not_json(asked: Asked, say: Say) -> None:
    await say.reply(200, b"{", {"content-type": "application/json"})


async def a_list(asked: Asked, say: Say) -> None:
    await say.json([1, 2])


async def no_end(asked: Asked, say: Say) -> None:
    await say.events(": hello\n\n", "event: ping\ndata: {}\n\n", "id: 1\ndata:\n\n")


async def cut_off(asked: Asked, say: Say) -> None:
    await say.raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
    await say.raw(b"content-length: 100\r\n\r\n{")
    say.closing = True


async def nothing(asked: Asked, say: Say) -> None:
    say.closing = True


async def elsewhere(asked: Asked, say: Say) -> None:
    await say.reply(307, headers={"location": "http://user:pw@127.0.0.1:1/x?secret=1"})


async def as_get(asked: Asked, say: Say) -> None:
    await say.reply(302, headers={"location": "/other"})


async def forbidden(asked: Asked, say: Say) -> None:
    challenge = {"www-authenticate": 'Bearer scope="x"', "retry-after": "7"}
    await say.reply(403, b"no", challenge)


async def unwell(asked: Asked, say: Say) -> None:
    await say.reply(503, b"<html>", {"retry-after": "120"})


async def someone_elses(asked: Asked, say: Say) -> None:
    await say.json({"jsonrpc": "2.0", "id": 1, "result": DONE})


async def no_object(asked: Asked, say: Say) -> None:
    await say.json({"jsonrpc": "2.0", "id": asked.body["id"], "result": [1]})


@pytest.mark.parametrize(
    ("reply", "kind", "status", "sentence"),
    [
        (accepted, ProtocolViolation, 202, "HTTP 202 with no content"),
        (html, ProtocolViolation, 200, "HTTP 200 with text/html where a JSON-RPC"),
        (not_json, ProtocolViolation, 200, "the body is no JSON"),
        (a_list, ConnectionLost, 200, "the response ended without an answer"),
        (no_end, ConnectionLost, 200, "the response ended without an answer"),
        (cut_off, ConnectionLost, None, "RemoteProtocolError"),
        (nothing, ConnectionLost, None, "RemoteProtocolError"),
        (elsewhere, HttpStatusError, 307, "HTTP 307 leads to http://127.0.0.1:1/x, "),
        (as_get, HttpStatusError, 302, "which was not followed"),
        (forbidden, HttpStatusError, 403, "check the credentials"),
        (unwell, HttpStatusError, 503, "HTTP 503"),
        (someone_elses, ProtocolViolation, None, "with the id of another request"),
        (no_object, ProtocolViolation, None, "its result is not an object"),
    ],
)
async def test_a_reply_that_is_none_fails_its_call_at_once(
    reply: Any, kind: type[Any], status: int | None, sentence: str
) -> None:
    async with staged(plays(reply)) as stage:
        with anyio.fail_after(5):
            async with Client(stage.url) as client:
                caught: Any
                with pytest.raises(AnyEraError) as caught:
                    await client.call_tool("bad")
                assert isinstance(caught.value, (kind, SDKError))
                assert type(caught.value) is kind
                assert caught.value.status == status
                assert sentence in str(caught.value)
                assert "secret" not in str(caught.value)
                assert text(await client.call_tool("good")) == "done"
    assert "/other" not in [asked.path for asked in stage.asked]


async def test_an_error_keeps_the_challenge_and_the_time_to_wait() -> None:
    async with staged(plays(forbidden)) as stage, Client(stage.url) as client:
        with pytest.raises(HttpStatusError) as caught:
            await client.call_tool("bad")
        assert caught.value.challenge == 'Bearer scope="x"'
        assert caught.value.retry_after == "7"


@pytest.mark.parametrize("status", [200, 400, 404, 500])
@pytest.mark.parametrize("nameless", [False, True])
async def test_a_json_rpc_error_is_the_servers_whatever_the_status(
    status: int, nameless: bool
) -> None:
    async def refuse(asked: Asked, say: Say) -> None:
        error = asked.error(-32050, data={"why": "rain"})
        await say.json({**error, "id": None} if nameless else error, status)

    async with staged(plays(refuse)) as stage, Client(stage.url) as client:
        with pytest.raises(SDKError) as caught:
            await client.call_tool("bad")
        assert not isinstance(caught.value, AnyEraError)
        assert (caught.value.error.code, caught.value.error.data) == (
            -32050,
            {"why": "rain"},
        )


@pytest.mark.parametrize(
    "prefix",
    [
        ": comment\n\n",
        "\ufeff",
        "event: ping\ndata: {}\n\n",
        "id: 7\nretry: 1\ndata:\n\n",
        "data: not json\n\n",
        "data: [1]\n\n",
        "data: {}\n\n".replace("{}", json.dumps({"jsonrpc": "2.0"})[:-1] + "}"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
async def test_noise_before_a_result_does_not_harm_it(
    prefix: str, newline: str
) -> None:
    async def reply(asked: Asked, say: Say) -> None:
        result = f"data: {json.dumps(asked.result(DONE))}\n\n"
        await say.events((prefix + result).replace("\n", newline))

    async with staged(plays(reply)) as stage, Client(stage.url) as client:
        if prefix.startswith('data: {"jsonrpc"'):
            # It has no method, so it is taken for the answer.
            with pytest.raises(ProtocolViolation):
                await client.call_tool("bad")
        else:
            assert text(await client.call_tool("bad")) == "done"


async def test_a_body_that_is_compressed_is_read() -> None:
    async def reply(asked: Asked, say: Say) -> None:
        body = gzip.compress(json.dumps(asked.result(DONE)).encode())
        kind = {"content-type": "application/json", "content-encoding": "gzip"}
        await say.reply(200, body, kind)

    async with staged(plays(reply)) as stage, Client(stage.url) as client:
        assert text(await client.call_tool("bad")) == "done"


async def test_a_body_with_a_message_a_line_is_read_line_by_line() -> None:
    async def reply(asked: Asked, say: Say) -> None:
        note: Json = {"jsonrpc": "2.0", "method": "notifications/acme"}
        lines = [json.dumps(note), json.dumps(asked.result(DONE)), ""]
        body = "\r\n".join(lines).encode()
        await say.reply(200, body, {"content-type": "application/json"})

    heard: list[Any] = []

    async def handle(message: Any) -> None:
        heard.append(message)

    async with staged(plays(reply)) as stage:
        async with Client(stage.url, message_handler=handle) as client:
            assert text(await client.call_tool("bad")) == "done"
    assert [message.method for message in heard] == ["notifications/acme"]


async def test_a_result_without_the_final_newline_is_a_result() -> None:
    async def reply(asked: Asked, say: Say) -> None:
        await say.events(f"data: {json.dumps(asked.result(DONE))}")

    async with staged(plays(reply)) as stage, Client(stage.url) as client:
        assert text(await client.call_tool("bad")) == "done"


async def test_text_that_is_cut_within_a_character_arrives_whole() -> None:
    async def reply(asked: Asked, say: Say) -> None:
        result = asked.result(
            {"content": [{"type": "text", "text": "é\u2028\U0001f600"}]}
        )
        data = f"data: {json.dumps(result, ensure_ascii=False)}\n\n".encode()
        await say.events()
        for byte in data:
            await say.raw(bytes([byte]))
            await anyio.lowlevel.checkpoint()

    async with staged(plays(reply)) as stage, Client(stage.url) as client:
        assert text(await client.call_tool("bad")) == "é\u2028\U0001f600"


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_message_over_the_limit_is_refused(streamed: bool) -> None:
    async def reply(asked: Asked, say: Say) -> None:
        result = asked.result({"content": [], "pad": "x" * 5000})
        await (say.events(result) if streamed else say.json(result))

    script = plays(reply)
    async with staged(script) as stage, Client(stage.url, max_message_size=4000) as one:
        with pytest.raises(ProtocolViolation, match="longer than 4000 bytes"):
            await one.call_tool("bad")
    async with staged(script) as stage, Client(stage.url, max_message_size=None) as one:
        await one.call_tool("bad")


async def test_a_redirect_that_stays_at_home_is_followed() -> None:
    async def script(asked: Asked, say: Say) -> None:
        if asked.path == "/mcp":
            await say.reply(308, headers={"location": "/mcp/"})
        else:
            await modern(asked, say)

    async with staged(script) as stage, Client(stage.url) as client:
        assert text(await client.call_tool("good")) == "done"


async def test_a_redirect_without_end_is_an_error() -> None:
    async def script(asked: Asked, say: Say) -> None:
        await say.reply(307, headers={"location": "/mcp"})

    async with staged(script) as stage:
        with pytest.raises(AnyEraError, match="HTTP 307 leads to"):
            async with Client(stage.url):
                pass


async def test_a_cancelled_call_closes_its_response_and_nothing_is_posted() -> None:
    begun, closed = anyio.Event(), anyio.Event()

    async def reply(asked: Asked, say: Say) -> None:
        await say.events(": here\n\n", end=False)
        begun.set()
        try:
            while True:
                await say.event(": still here\n\n")
                await anyio.sleep(0.01)
        finally:
            closed.set()

    async with staged(plays(reply)) as stage, Client(stage.url) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(client.call_tool, "bad"))
            await begun.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(5):
            await closed.wait()
        assert text(await client.call_tool("good")) == "done"
    assert "notifications/cancelled" not in stage.methods
    assert {asked.verb for asked in stage.asked} == {"POST"}


async def test_a_modern_server_hears_of_no_session_and_no_event_id() -> None:
    async def reply(asked: Asked, say: Say) -> None:
        session = {"mcp-session-id": "s"}
        await say.events("id: 9\ndata:\n\n", asked.result(DONE), headers=session)

    async with staged(plays(reply)) as stage, Client(stage.url) as client:
        for name in ("bad", "bad", "good"):
            await client.call_tool(name)
    for asked in stage.asked:
        assert asked.verb == "POST"
        assert not {"mcp-session-id", "last-event-id"} & asked.headers.keys()
        assert asked.headers["mcp-protocol-version"] == "2026-07-28"
        assert asked.headers["mcp-method"] == asked.method


async def test_hostile_arguments_stay_in_their_header() -> None:
    schema = {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    }

    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "tools/list":
            tools = [{"name": "t\r\nX: 1", "inputSchema": schema}]
            await say.json(asked.result({"tools": tools}))
        else:
            await modern(asked, say)

    async with staged(script) as stage, Client(stage.url) as client:
        await client.list_tools()
        await client.call_tool("t\r\nX: 1", {"region": "eu\r\nEvil: 1\x00é"})
    headers = stage.of("tools/call")[0].headers
    assert not {"x", "evil"} & headers.keys()
    assert headers["mcp-name"] == "=?base64?dA0KWDogMQ==?="
    assert headers["mcp-param-region"].startswith("=?base64?")


async def test_a_slow_stream_delays_nobody_else() -> None:
    release = anyio.Event()

    async def reply(asked: Asked, say: Say) -> None:
        await say.events(end=False)
        await release.wait()
        await say.event(asked.result(DONE))
        say.closing = True

    async with staged(plays(reply)) as stage, Client(stage.url) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(client.call_tool, "bad"))
            assert text(await client.call_tool("good")) == "done"
            release.set()
