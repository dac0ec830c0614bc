"""Opening a connection over HTTP, against servers that answer as they like."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest

from mcp_anyera import Client, ConnectError, Era
from mcp_anyera._sdk import httpx
from tests.interop.faces import text
from tests.transports.http.stage import (
    HELLO,
    Asked,
    Json,
    Say,
    Script,
    legacy,
    modern,
    staged,
)

NO_METHOD: Json = {
    "jsonrpc": "2.0",
    "id": None,
    "error": {"code": -32601, "message": ""},
}


def probe_gets(
    status: int, body: Any = None, headers: dict[str, str] | None = None
) -> Script:
    """A legacy server that answers the probe like this."""

    async def script(asked: Asked, say: Say) -> None:
        if asked.method != "server/discover":
            await legacy(asked, say)
        elif isinstance(body, (bytes, type(None))):
            await say.reply(status, body or b"", headers)
        else:
            await say.json({**body, "id": body["id"]}, status, headers)

    return script


@pytest.mark.parametrize("status", [400, 404, 405, 406, 415])
@pytest.mark.parametrize("body", [None, b"no", NO_METHOD])
async def test_any_4xx_on_the_probe_leads_to_a_plain_handshake(
    status: int, body: Any
) -> None:
    async with staged(probe_gets(status, body)) as stage:
        async with Client(stage.url) as client:
            assert client.era is Era.LEGACY
            assert text(await client.call_tool("t")) == "done"
    # No stream of another transport was looked for on the way.
    assert stage.methods[:2] == ["server/discover", "initialize"]
    assert "mcp-protocol-version" not in stage.of("initialize")[0].headers
    assert stage.of("tools/call")[0].headers["mcp-protocol-version"] == "2025-11-25"
    assert stage.of("tools/call")[0].headers["mcp-session-id"] == "s1"
    assert stage.methods[-1] == "DELETE"


@pytest.mark.parametrize("body", [{}, {"hello": 1}, {"supportedVersions": []}])
@pytest.mark.parametrize("status", [200])
async def test_an_answer_that_says_nothing_leads_to_a_plain_handshake(
    body: Json, status: int
) -> None:
    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "server/discover":
            await say.json(asked.result(body), status)
        else:
            await legacy(asked, say)

    async with staged(script) as stage, Client(stage.url) as client:
        assert client.era is Era.LEGACY


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503])
async def test_a_server_that_is_unwell_has_no_era(status: int) -> None:
    script = probe_gets(status, b"<html>", {"retry-after": "3"})
    async with staged(script) as stage:
        with pytest.raises(ConnectError) as caught:
            async with Client(stage.url):
                pass
    assert (caught.value.status, caught.value.retry_after) == (status, "3")
    assert isinstance(caught.value, ConnectionError)
    assert stage.methods == ["server/discover"]


async def test_a_server_that_is_not_there_has_no_era() -> None:
    async with staged(modern) as stage:
        url = stage.url
    with pytest.raises(ConnectError, match="could not be asked for its era") as caught:
        async with Client(url):
            pass
    assert isinstance(caught.value.__cause__, httpx.ConnectError)
    assert caught.value.status is None


@pytest.mark.parametrize("status", [401, 403])
async def test_who_may_come_in_is_no_verdict_and_the_challenge_is_kept(
    status: int,
) -> None:
    script = probe_gets(status, NO_METHOD, {"www-authenticate": "Bearer realm=x"})
    async with staged(script) as stage:
        with pytest.raises(ConnectError) as caught:
            async with Client(stage.url):
                pass
    assert (caught.value.status, caught.value.challenge) == (status, "Bearer realm=x")
    assert stage.methods == ["server/discover"]


async def test_a_gateway_that_refuses_the_probe_alone_does_not_keep_anyone_out() -> (
    None
):
    async with staged(probe_gets(401, NO_METHOD)) as stage:
        token = {"authorization": "Bearer t"}
        async with Client(stage.url, headers=token) as client:
            assert client.era is Era.LEGACY
            await client.call_tool("t")
    assert {asked.headers.get("authorization") for asked in stage.asked} == {"Bearer t"}


async def test_a_credential_that_is_refused_twice_is_an_error_about_it() -> None:
    async def script(asked: Asked, say: Say) -> None:
        await say.reply(401, headers={"www-authenticate": f"Bearer {asked.method}"})

    async with staged(script) as stage:
        with pytest.raises(ConnectError) as caught:
            async with Client(stage.url, auth=("user", "secret")):
                pass
    assert caught.value.challenge == "Bearer server/discover"
    assert stage.methods == ["server/discover", "initialize"]
    assert "secret" not in str(caught.value)


async def test_a_session_that_comes_with_the_refusal_of_the_probe_is_deleted() -> None:
    deleted = anyio.Event()

    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "server/discover":
            await say.json(asked.error(-32600), 400, {"mcp-session-id": "stray"})
        else:
            await legacy(asked, say)
        if asked.method == "DELETE" and asked.headers["mcp-session-id"] == "stray":
            deleted.set()

    async with staged(script) as stage, Client(stage.url) as client:
        with anyio.fail_after(5):
            await deleted.wait()
        await client.call_tool("t")
    assert stage.of("tools/call")[0].headers["mcp-session-id"] == "s1"


async def test_a_probe_that_hangs_costs_the_patience_and_not_the_connection() -> None:
    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "server/discover":
            await anyio.sleep(60)
        else:
            await legacy(asked, say)

    async with staged(script) as stage:
        async with Client(stage.url, probe_timeout_seconds=0.1) as client:
            assert client.era is Era.LEGACY


async def test_a_modern_server_that_is_slow_is_modern_all_the_same() -> None:
    handshake = anyio.Event()

    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "initialize":
            handshake.set()
            await anyio.sleep(60)
        if asked.method == "server/discover":
            await handshake.wait()
        await modern(asked, say)

    async with staged(script) as stage:
        async with Client(stage.url, probe_timeout_seconds=0.05) as client:
            assert client.era is Era.MODERN
            await client.call_tool("t")


async def test_a_server_that_answers_nothing_ends_the_attempt_with_both_steps() -> None:
    async def script(asked: Asked, say: Say) -> None:
        await anyio.sleep(60)

    async with staged(script) as stage:
        with anyio.fail_after(5), pytest.raises(ConnectError) as caught:
            async with Client(
                stage.url, probe_timeout_seconds=0.1, connect_timeout_seconds=0.3
            ):
                pass
    assert "no answer within 0.3 s" in str(caught.value)
    assert "server/discover: no answer within 0.1 s" in str(caught.value)


async def test_whoever_connects_may_give_up() -> None:
    async def script(asked: Asked, say: Say) -> None:
        await anyio.sleep(60)

    async with staged(script) as stage:
        with anyio.fail_after(5), anyio.move_on_after(0.1) as scope:
            async with Client(stage.url):
                pass
        assert scope.cancelled_caught


@pytest.mark.parametrize("version", ["2026-07-28", "2099-01-01", 7])
async def test_a_handshake_that_ends_in_no_handshake_version_is_an_error(
    version: Any,
) -> None:
    async def script(asked: Asked, say: Say) -> None:
        if asked.method == "initialize":
            await say.json(asked.result({**HELLO, "protocolVersion": version}))
        else:
            await say.reply(404)

    async with staged(script) as stage:
        with pytest.raises(ConnectError, match="answered with version"):
            async with Client(stage.url):
                pass


async def test_every_known_handshake_version_is_accepted() -> None:
    for version in ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"):
        async with staged(partial(legacy, version=version)) as stage:
            async with Client(stage.url, mode="legacy") as client:
                assert client.protocol_version == version
                await client.call_tool("t")
        named = stage.of("tools/call")[0].headers.get("mcp-protocol-version")
        assert named == (version if version >= "2025-06-18" else None)


@pytest.mark.parametrize("status", [400, 404, 405])
async def test_the_first_refusal_is_raised_and_the_old_transport_is_its_cause(
    status: int,
) -> None:
    async def script(asked: Asked, say: Say) -> None:
        await say.reply(status if asked.verb == "POST" else 405)

    async with staged(script) as stage:
        with pytest.raises(ConnectError) as caught:
            async with Client(stage.url):
                pass
    assert caught.value.status == status
    assert f"initialize: HTTP {status}" in str(caught.value)
    assert isinstance(caught.value.__cause__, ConnectError)
    assert stage.methods == ["server/discover", "initialize", "GET"]


@pytest.mark.parametrize("status", [401, 403, 406, 411, 415, 500])
async def test_other_refusals_of_the_handshake_lead_nowhere(status: int) -> None:
    async def script(asked: Asked, say: Say) -> None:
        await say.reply(404 if asked.method == "server/discover" else status)

    async with staged(script) as stage:
        with pytest.raises(ConnectError) as caught:
            async with Client(stage.url):
                pass
    assert caught.value.status == status
    assert stage.methods == ["server/discover", "initialize"]


async def test_one_set_of_callbacks_serves_two_eras_side_by_side() -> None:
    async with staged(modern) as new, staged(partial(legacy, session="s")) as old:
        async with Client(new.url) as first, Client(old.url) as second:
            assert (first.era, second.era) == (Era.MODERN, Era.LEGACY)
            assert text(await first.call_tool("t")) == "done"
            assert text(await second.call_tool("t")) == "done"


async def test_the_callers_own_client_is_used_as_it_is_and_left_open() -> None:
    seen: list[str] = []

    async def hook(request: Any) -> None:
        seen.append(request.headers["x-own"])

    own = httpx.AsyncClient(
        headers={"x-own": "client"}, event_hooks={"request": [hook]}, auth=("a", "b")
    )
    async with staged(modern) as stage, own:
        async with Client(
            stage.url, http_client=own, headers={"x-more": "1"}
        ) as client:
            await client.call_tool("t")
        assert not own.is_closed
    assert set(seen) == {"client"}
    assert {asked.headers["x-more"] for asked in stage.asked} == {"1"}
    assert {asked.headers["authorization"] for asked in stage.asked} == {"Basic YTpi"}


async def test_a_mode_that_excludes_what_is_there_says_so() -> None:
    async with staged(probe_gets(400)) as stage:
        with pytest.raises(ConnectError, match="mode='modern' excludes that"):
            async with Client(stage.url, mode="modern"):
                pass
    async with staged(modern) as stage:
        with pytest.raises(ConnectError, match="allows nothing else"):
            async with Client(stage.url, mode="legacy"):
                pass
