"""A login through the bridge: a real flow against a small authorization server."""

from __future__ import annotations

import json
import stat
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.bridge.raw import raw, stderr

BROWSER = f'{sys.executable} -c "import sys, urllib.request; urllib.request.urlopen(sys.argv[1])" %s'
TOKEN, CODE = "the-access-token", "the-code"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Guarded(BaseHTTPRequestHandler):
    """A modern server that wants a token, and the authorization server for it."""

    protocol_version = "HTTP/1.1"
    logins: ClassVar[list[str]] = []
    refreshes: ClassVar[list[str]] = []

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    @property
    def base(self) -> str:
        return f"http://{self.headers['host']}"

    def say(self, status: int, body: Any, **headers: str) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        where = urlsplit(self.path)
        if where.path.startswith("/.well-known/oauth-protected-resource"):
            body = {"resource": f"{self.base}/mcp"}
            self.say(200, {**body, "authorization_servers": [self.base]})
        elif where.path.startswith("/.well-known/oauth-authorization-server"):
            names = {"authorization": "authorize", "token": "token"}
            body = {f"{k}_endpoint": f"{self.base}/{v}" for k, v in names.items()}
            body["registration_endpoint"] = f"{self.base}/register"
            more = {"response_types_supported": ["code"], "issuer": self.base}
            methods = {"code_challenge_methods_supported": ["S256"]}
            self.say(200, {**body, **more, **methods})
        elif where.path == "/authorize":
            asked = {k: v[0] for k, v in parse_qs(where.query).items()}
            self.logins.append(asked["redirect_uri"])
            back = f"{asked['redirect_uri']}?code={CODE}&state={asked['state']}"
            self.say(302, {}, Location=back)
        else:
            self.say(404, {})

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/register":
            self.say(201, {**json.loads(data), "client_id": "the-client"})
        elif self.path == "/token":
            asked = parse_qs(data.decode())
            if asked["grant_type"] == ["refresh_token"]:
                self.refreshes.append(asked["refresh_token"][0])
            tokens = {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600}
            self.say(200, {**tokens, "refresh_token": "the-refresh-token"})
        elif self.headers.get("authorization") != f"Bearer {TOKEN}":
            where = f"{self.base}/.well-known/oauth-protected-resource/mcp"
            challenge = f'Bearer resource_metadata="{where}"'
            self.say(401, {}, WWW_Authenticate=challenge)
        else:
            self.answer(json.loads(data))

    def answer(self, message: Any) -> None:
        result: dict[str, Any] = {"resultType": "complete", "ttlMs": 0}
        result["cacheScope"] = "private"
        if message["method"] == "server/discover":
            result |= {"supportedVersions": ["2026-07-28"], "capabilities": {}}
        self.say(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})


@contextmanager
def guarded() -> Generator[str]:
    Guarded.logins.clear()
    Guarded.refreshes.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Guarded)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def test_a_login_happens_once_and_is_kept_where_nobody_else_reads(
    tmp_path: Path,
) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path), "BROWSER": BROWSER}
    with guarded() as url:
        async with raw("--oauth", url, env=env) as client:
            answer = await client.initialize()
            assert answer["result"]["protocolVersion"] == "2025-11-25"
            await client.end()
            log = await stderr(client)
        assert f"log in at {url.removesuffix('/mcp')}/authorize" in log
        assert TOKEN not in log
        assert len(Guarded.logins) == 1
        [kept] = (tmp_path / "mcp-anyera" / "oauth").iterdir()
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600

        async with raw("--oauth", url, env=env) as client:
            assert "result" in await client.initialize()
            await client.end()
        assert len(Guarded.logins) == 1

        expired = {**json.loads(kept.read_text()), "expires_at": time.time() - 10}
        kept.write_text(json.dumps(expired))
        async with raw("--oauth", url, env=env) as client:
            assert "result" in await client.initialize()
            await client.end()
        assert len(Guarded.logins) == 1
        assert Guarded.refreshes == ["the-refresh-token"]


async def test_without_the_option_the_refusal_says_what_is_wanted() -> None:
    with guarded() as url:
        async with raw(url) as client:
            answer = await client.initialize()
            assert "HTTP 401" in answer["error"]["message"]
            await client.end()
    assert Guarded.logins == []


@pytest.mark.parametrize("how", ["header", "header-env", "expanded"])
async def test_a_credential_can_come_from_the_environment(how: str) -> None:
    credential = f"Bearer {TOKEN}"
    options = {
        "header": ["--header", f"Authorization: {credential}"],
        "header-env": ["--header-env", "Authorization=AUTH"],
        "expanded": ["--header", "Authorization: ${AUTH}"],
    }
    with guarded() as url:
        async with raw(*options[how], url, env={"AUTH": credential}) as client:
            assert "result" in await client.initialize()
            await client.end()
            assert TOKEN not in await stderr(client)
