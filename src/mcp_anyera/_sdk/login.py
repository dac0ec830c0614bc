"""OAuth of both lines, which nothing but a login needs."""

from __future__ import annotations

from typing import Any

from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)

from mcp_anyera._sdk import SDK1

if not SDK1:
    from mcp.shared.auth import AuthorizationCodeResult

__all__ = [
    "OAuthClientInformationFull",
    "OAuthClientMetadata",
    "OAuthClientProvider",
    "OAuthToken",
    "TokenStorage",
    "code_result",
]


def code_result(code: str, state: str | None, issuer: str | None) -> Any:
    """Return what a callback handler returns on the installed line."""
    if SDK1:
        return code, state
    return AuthorizationCodeResult(code=code, state=state, iss=issuer)
