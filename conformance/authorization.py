"""The user of the OAuth scenarios, and the SDK's own provider set up for them."""

from __future__ import annotations

from collections.abc import Mapping
from http.client import HTTPConnection
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import anyio.to_thread
from mcp.client.auth import OAuthClientProvider
from mcp.shared import auth
from pydantic import AnyUrl

CALLBACK: Final = AnyUrl("http://localhost:3000/callback")
CLIENT_DOCUMENT: Final = "https://conformance-test.local/client-metadata.json"
"""The one address that the suite takes as the name of a client."""


def provider(url: str, context: Mapping[str, Any]) -> OAuthClientProvider:
    """Return the SDK's OAuth for a server.

    Args:
        url: The server.
        context: May name a client that the authorization server knows already.
    """
    user = User()
    return OAuthClientProvider(
        server_url=url,
        client_metadata=auth.OAuthClientMetadata(
            client_name="mcp-anyera conformance",
            redirect_uris=[CALLBACK],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
        ),
        storage=Storage(_registered(context)),
        redirect_handler=user.visit,
        callback_handler=user.come_back,
        client_metadata_url=CLIENT_DOCUMENT,
    )


class Storage:
    """Keeps tokens and the registration in memory."""

    def __init__(self, client: auth.OAuthClientInformationFull | None) -> None:
        self._client = client
        self._tokens: auth.OAuthToken | None = None

    async def get_tokens(self) -> auth.OAuthToken | None:
        """Return the tokens, if there are any."""
        return self._tokens

    async def set_tokens(self, tokens: auth.OAuthToken) -> None:
        """Keep the tokens."""
        self._tokens = tokens

    async def get_client_info(self) -> auth.OAuthClientInformationFull | None:
        """Return the registration, if there is one."""
        return self._client

    async def set_client_info(
        self, client_info: auth.OAuthClientInformationFull
    ) -> None:
        """Keep the registration."""
        self._client = client_info


class User:
    """Opens the page of the authorization server, which sends them back at once."""

    def __init__(self) -> None:
        self._returned: dict[str, str] = {}

    async def visit(self, url: str) -> None:
        """Open the page and note where it leads."""
        target = await anyio.to_thread.run_sync(_redirect, url)
        query = parse_qs(urlsplit(target).query)
        self._returned = {name: values[0] for name, values in query.items()}

    async def come_back(self) -> Any:
        """Return what the page has sent along, as the installed SDK wants it."""
        code, state = self._returned["code"], self._returned.get("state")
        if not hasattr(auth, "AuthorizationCodeResult"):
            return code, state  # SDK 1.x has no place for the issuer
        issuer = self._returned.get("iss")
        return auth.AuthorizationCodeResult(code=code, state=state, iss=issuer)


def _redirect(url: str) -> str:
    # The standard library, as the SDK lines have different HTTP clients.
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc, timeout=10)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}")
        return connection.getresponse().headers["Location"]
    finally:
        connection.close()


def _registered(context: Mapping[str, Any]) -> auth.OAuthClientInformationFull | None:
    if "client_id" not in context:
        return None
    return auth.OAuthClientInformationFull(
        client_id=context["client_id"],
        client_secret=context["client_secret"],
        issuer=context["issuer"],
        redirect_uris=[CALLBACK],
        token_endpoint_auth_method="client_secret_basic",
    )
