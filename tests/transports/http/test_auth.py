"""Authentication that happens in the middle of a request."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from mcp_anyera import Client, ConnectError, ConnectionLost, Era
from mcp_anyera._sdk import httpx
from tests.interop.faces import text
from tests.transports.http.stage import Asked, Say, Script, legacy, modern, staged

NEEDED = {"www-authenticate": "Bearer"}


class Login(httpx.Auth):
    """Asks a human when the server wants a token, and takes as long as they do."""

    def __init__(self, seconds: float = 0.0, error: Exception | None = None) -> None:
        self.token: str | None = None
        self.logins = 0
        self._seconds = seconds
        self.error = error
        self._lock = anyio.Lock()

    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        async with self._lock:
            if self.token is not None:
                request.headers["authorization"] = self.token
            response = yield request
            if response.status_code == 401:
                await anyio.sleep(self._seconds)
                if self.error is not None:
                    raise self.error
                self.logins += 1
                self.token = request.headers["authorization"] = f"Bearer {self.logins}"
                yield request


def guarded(script: Script, tokens: list[str]) -> Script:
    async def guard(asked: Asked, say: Say) -> None:
        if asked.headers.get("authorization") in tokens:
            await script(asked, say)
        else:
            await say.reply(401, headers=NEEDED)

    return guard


@pytest.mark.parametrize("script", [modern, legacy])
@pytest.mark.parametrize("own", [False, True])
async def test_a_login_on_the_probe_takes_no_time_of_the_machine(
    script: Script, own: bool
) -> None:
    auth: Any = Login(seconds=0.4)
    limits = {"probe_timeout_seconds": 0.1, "connect_timeout_seconds": 0.3}
    async with staged(guarded(script, ["Bearer 1"])) as stage:
        async with httpx.AsyncClient(auth=auth) as mine:
            how: dict[str, Any] = {"http_client": mine} if own else {"auth": auth}
            async with Client(stage.url, **limits, **how) as client:
                assert client.era is (Era.MODERN if script is modern else Era.LEGACY)
                assert text(await client.call_tool("t")) == "done"
    assert auth.logins == 1


async def test_a_login_in_the_middle_of_a_call_takes_none_either() -> None:
    auth: Any = Login(seconds=0.4)
    tokens = ["Bearer 1"]
    async with staged(guarded(modern, tokens)) as stage:
        async with Client(stage.url, auth=auth, read_timeout_seconds=0.3) as client:
            tokens[:] = ["Bearer 2"]
            assert text(await client.call_tool("t")) == "done"
    assert auth.logins == 2


async def test_a_login_that_fails_is_the_cause_of_the_error() -> None:
    refused = RuntimeError("the user went away")
    async with staged(guarded(modern, [])) as stage:
        with pytest.raises(ConnectError, match="the user went away") as caught:
            async with Client(stage.url, auth=Login(error=refused)):
                pass
    assert caught.value.__cause__ is refused
    tokens, auth = ["Bearer 1"], Login()
    async with staged(guarded(modern, tokens)) as stage:
        async with Client(stage.url, auth=auth) as client:
            tokens.clear()
            auth.error = refused
            with pytest.raises(ConnectionLost) as lost:
                await client.call_tool("t")
            assert lost.value.__cause__ is refused


async def test_credentials_in_the_url_are_sent_and_not_shown() -> None:
    async with staged(modern) as stage:
        url = stage.url.replace("http://", "http://user:secret@")
        async with Client(url) as client:
            await client.call_tool("t")
    sent = {asked.headers["authorization"] for asked in stage.asked}
    assert sent == {"Basic dXNlcjpzZWNyZXQ="}
