"""Per-request metadata, and the two handshakes told in terms of each other.

A modern request says in ``_meta`` what a legacy session said once: revision,
who the client is, what it can do, which log messages it wants. A legacy session
wants an ``InitializeResult``, which a modern server's ``DiscoverResult`` gives.

Spec: 2026-07-28 ``basic`` § _meta, ``server/discover``; 2025-11-25
``basic/lifecycle``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from mcp_anyera.engine.jsonrpc import is_object, meta_of
from mcp_anyera.eras import LATEST_LEGACY, Era, era_of

RESERVED: Final = "io.modelcontextprotocol/"
VERSION_KEY: Final = RESERVED + "protocolVersion"
CLIENT_INFO_KEY: Final = RESERVED + "clientInfo"
CAPABILITIES_KEY: Final = RESERVED + "clientCapabilities"
LOG_LEVEL_KEY: Final = RESERVED + "logLevel"
SERVER_INFO_KEY: Final = RESERVED + "serverInfo"
SUBSCRIPTION_KEY: Final = RESERVED + "subscriptionId"

UNKNOWN_SERVER: Final = {"name": "unknown", "version": "0"}
"""For a modern server that does not say who it is: legacy requires an answer."""

_CARRIED: Final = ("sampling", "elicitation", "experimental", "extensions")


def modern_capabilities(declared: Mapping[str, Any]) -> dict[str, Any]:
    """Translate a session's ``ClientCapabilities`` for a modern request.

    Roots lose ``listChanged``, which modern roots do not have; legacy ``tasks``
    have no counterpart and go.
    """
    carried = {key: declared[key] for key in _CARRIED if is_object(declared.get(key))}
    return carried | ({"roots": {}} if is_object(declared.get("roots")) else {})


def stamp(
    revision: str, initialize: Mapping[str, Any], log_level: str | None
) -> dict[str, Any]:
    """Build the ``_meta`` members that every modern request carries.

    Args:
        revision: The modern revision in force.
        initialize: Params of the session's ``initialize``.
        log_level: The level to opt in to, or ``None``.

    Returns:
        The members, to be laid over whatever the session put there.
    """
    capabilities = initialize.get("capabilities")
    members: dict[str, Any] = {
        VERSION_KEY: revision,
        CAPABILITIES_KEY: modern_capabilities(
            cast("dict[str, Any]", capabilities)
            if isinstance(capabilities, dict)
            else {}
        ),
    }
    if is_object(info := initialize.get("clientInfo")):
        members[CLIENT_INFO_KEY] = info
    if log_level is not None:
        members[LOG_LEVEL_KEY] = log_level
    return members


def stamped(params: Mapping[str, Any], members: Mapping[str, Any]) -> dict[str, Any]:
    """Return params with the members laid over their ``_meta``.

    The level of a single request may be set by its caller; everything else in
    the reserved name space is ours (2026-07-28 ``server/utilities/logging``).
    """
    own = meta_of(params)
    merged = {**own, **members}
    if LOG_LEVEL_KEY in own:
        merged[LOG_LEVEL_KEY] = own[LOG_LEVEL_KEY]
    return {**params, "_meta": merged}


def unstamped(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return params without what a modern session has put into their ``_meta``.

    A legacy server refuses a request that names a modern revision.
    """
    own = meta_of(params)
    kept = {key: value for key, value in own.items() if not key.startswith(RESERVED)}
    plain = {key: value for key, value in params.items() if key != "_meta"}
    return {**plain, "_meta": kept} if kept else plain


def legacy_revision_for(initialize: Mapping[str, Any]) -> str:
    """Return the handshake revision to answer a session with: its own if known."""
    asked = initialize.get("protocolVersion")
    known = isinstance(asked, str) and era_of(asked) is Era.LEGACY
    return cast("str", asked) if known else LATEST_LEGACY


def synthesise_initialize_result(
    discover: Mapping[str, Any], initialize: Mapping[str, Any]
) -> dict[str, Any]:
    """Build the ``InitializeResult`` that a modern server would have given.

    Args:
        discover: The server's ``DiscoverResult``, as it came.
        initialize: Params of the session's ``initialize``.

    Returns:
        A 2025-11-25 (or older, as asked for) ``InitializeResult``.
    """
    capabilities = discover.get("capabilities")
    info = meta_of(discover).get(SERVER_INFO_KEY)
    named = is_object(info) and {"name", "version"} <= info.keys()
    result: dict[str, Any] = {
        "protocolVersion": legacy_revision_for(initialize),
        "capabilities": capabilities if is_object(capabilities) else {},
        "serverInfo": info if named else UNKNOWN_SERVER,
    }
    if isinstance(instructions := discover.get("instructions"), str):
        result["instructions"] = instructions
    return result


def synthesise_discover_result(revision: str) -> dict[str, Any]:
    """Build a ``DiscoverResult`` for a pinned revision that nobody asked about."""
    return {
        "resultType": "complete",
        "supportedVersions": [revision],
        "capabilities": {},
        "ttlMs": 0,
        "cacheScope": "private",
    }
