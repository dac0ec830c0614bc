"""A login in the user's browser: the SDK's OAuth client, and what it leaves to us.

The redirect comes back to a server on loopback that lives as long as the login.
Tokens are kept in one file for each server, which nobody else may read.

Spec: 2025-11-25 and 2026-07-28 ``basic/authorization``; RFC 8252 § 7.3.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import socket
import sys
import time
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import anyio

from mcp_anyera._sdk.login import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthClientProvider,
    OAuthToken,
    code_result,
)
from mcp_anyera.places import state_folder

LOGIN_TIMEOUT: Final = 300.0
"""Seconds that a human may take; the SDK's own figure."""
_PAGE: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%s"
)
_DONE: Final = b"You are logged in. This window can be closed.\n"
_FAILED: Final = b"The login has failed; the log of the bridge says why.\n"


def login(url: str, folder: Path | None = None) -> OAuthClientProvider:
    """Return the authentication for one server.

    Args:
        url: The server.
        folder: Where tokens are kept; the user's own folder for state when omitted.
    """
    store = TokenFile(_file(url, folder or state_folder() / "oauth"))
    redirect = Redirect(store.port)
    metadata = OAuthClientMetadata.model_validate(
        {
            "client_name": "mcp-anyera bridge",
            "redirect_uris": [redirect.uri],
            "token_endpoint_auth_method": "none",
        }
    )
    provider = OAuthClientProvider(
        url,
        metadata,
        store,
        redirect_handler=redirect.show,
        callback_handler=redirect.wait,
    )
    # The SDK does not keep when a token expires, and would show the browser again
    # where a refresh is enough.
    store.context = provider.context
    return provider


class TokenFile:
    """One server's tokens and the registration of this client, in a file."""

    def __init__(self, path: Path) -> None:
        """Use a file, which need not exist yet."""
        self._path = path
        self.context: Any = None

    @property
    def port(self) -> int | None:
        """The port of the redirect that was registered, or ``None``."""
        uris: list[str] = self._read().get("client", {}).get("redirect_uris") or []
        return urlsplit(uris[0]).port if uris else None

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens, and tell the SDK when they expire."""
        kept = self._read()
        if "tokens" not in kept:
            return None
        if self.context is not None:
            self.context.token_expiry_time = kept.get("expires_at")
        return OAuthToken.model_validate(kept["tokens"])

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep the tokens."""
        lasts = tokens.expires_in
        self._write(
            tokens=tokens.model_dump(mode="json", exclude_none=True),
            expires_at=None if lasts is None else time.time() + int(lasts),
        )

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the registration of this client."""
        kept = self._read().get("client")
        return None if kept is None else OAuthClientInformationFull.model_validate(kept)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep the registration of this client."""
        self._write(client=client_info.model_dump(mode="json", exclude_none=True))

    def _read(self) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            return dict(json.loads(self._path.read_text()))
        return {}

    def _write(self, **members: Any) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = self._path.with_suffix(f".{os.getpid()}")
        text = json.dumps({**self._read(), **members})
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        fresh.replace(self._path)


class Redirect:
    """The page on loopback that the browser comes back to."""

    def __init__(self, port: int | None) -> None:
        """Choose a port: the one that was registered, or a free one."""
        self._port = port or _free_port()
        self.uri: str = f"http://127.0.0.1:{self._port}/callback"
        self._came: asyncio.Future[dict[str, str]] | None = None
        self._server: asyncio.Server | None = None

    async def show(self, url: str) -> None:
        """Listen, and show the login page to the user."""
        self._came = asyncio.get_running_loop().create_future()
        self._server = await asyncio.start_server(
            self._visited, "127.0.0.1", self._port
        )
        # In every case on stderr too: a bridge may run where there is no browser.
        print(f"anyera: log in at {url}", file=sys.stderr, flush=True)  # noqa: T201
        await asyncio.to_thread(webbrowser.open, url)

    async def wait(self) -> Any:
        """Wait for the browser to come back.

        Raises:
            TimeoutError: Nobody has logged in.
            PermissionError: The login was refused.
        """
        assert self._came is not None
        assert self._server is not None
        try:
            with anyio.fail_after(LOGIN_TIMEOUT):
                said = await self._came
        except TimeoutError:
            raise TimeoutError(
                f"nobody has logged in within {LOGIN_TIMEOUT:g} s"
            ) from None
        finally:
            self._server.close()
        if "code" not in said:
            reason = said.get("error_description") or said.get("error", "no reason")
            raise PermissionError(f"the login was refused: {reason}")
        return code_result(said["code"], said.get("state"), said.get("iss"))

    async def _visited(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError, ValueError, IndexError):
            line = await reader.readline()
            said = _said(line.decode("ascii").split()[1])
            page = _DONE if said and "code" in said else _FAILED
            writer.write(_PAGE % (len(page), page))
            await writer.drain()
            if said and self._came is not None and not self._came.done():
                self._came.set_result(said)
        writer.close()


def _said(path: str) -> dict[str, str]:
    parts = urlsplit(path)
    if parts.path != "/callback":
        return {}
    return {name: values[0] for name, values in parse_qs(parts.query).items()}


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def _file(url: str, folder: Path) -> Path:
    return folder / f"{hashlib.sha256(url.encode()).hexdigest()[:24]}.json"
