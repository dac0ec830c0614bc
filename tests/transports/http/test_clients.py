from __future__ import annotations

import os
import ssl
from pathlib import Path

import pytest

from mcp_anyera.transports.http.channel import Channel
from mcp_anyera.transports.http.clients import HttpOptions, bare_url, new_client
from mcp_anyera.transports.http.library import httpx


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com/mcp", "https://example.com/mcp"),
        ("https://user:secret@example.com:8/mcp?key=1#x", "https://example.com:8/mcp"),
        ("https://example.com?key=a/b@c", "https://example.com"),
        ("https://example.com?mail=me@home", "https://example.com"),
        ("https://example.com#secret", "https://example.com"),
        ("https://[::1]:8/mcp?a@b", "https://[::1]:8/mcp"),
        ("https://u@v:secret@example.com/@b", "https://example.com/@b"),
    ],
)
def test_a_url_is_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    assert bare_url(url) == shown


def test_the_trusted_certificates_are_loaded_once_for_all_connections(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    loaded: list[str] = []

    def load() -> ssl.SSLContext:
        loaded.append(os.environ["SSL_CERT_FILE"])
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    monkeypatch.setattr(httpx, "create_ssl_context", load, raising=False)
    for name in ("one", "one", "other", "one"):
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / name))
        new_client()
    assert loaded == [str(tmp_path / "one"), str(tmp_path / "other")]


@pytest.mark.parametrize("given", [{}, {"User-Agent": "me", "X-Key": "k"}])
async def test_a_request_is_what_the_library_would_have_built(
    given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[httpx.Request] = []

    async def send(request: httpx.Request, **_options: object) -> httpx.Response:
        sent.append(request)
        return httpx.Response(202)

    async with new_client() as client:
        monkeypatch.setattr(client, "send", send)
        client.cookies.set("sticky", "a")
        url, body = "https://example.com:8/mcp?x=1", b"{}"
        channel = Channel(url, HttpOptions(headers=given), client)
        await channel.send("POST", {"accept": "text/event-stream"}, body)
        await channel.send("DELETE", {})
        plain = {**given, "accept": "text/event-stream"}
        wanted = client.build_request("POST", url, headers=plain, content=body)
        bare = client.build_request("DELETE", url, headers=given)
    assert [described(one) for one in sent] == [described(wanted), described(bare)]
    assert [await one.aread() for one in sent] == [body, b""]


def described(request: httpx.Request) -> object:
    headers = sorted(request.headers.multi_items())
    return request.method, request.url, headers, request.extensions
