"""Which era a server is of, read from its reply to ``server/discover``.

Only positive evidence makes a server modern; every other reply means legacy,
because legacy servers answer unknown calls with whatever they like (VER-9).
Only codes are read, never sentences.

Spec: 2026-07-28 ``basic/versioning``, ``basic/transports/stdio`` § Backward
Compatibility.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from mcp_anyera.engine.effects import Message
from mcp_anyera.engine.failures import (
    HEADER_MISMATCH,
    MISSING_CAPABILITY,
    UNSUPPORTED_VERSION,
)
from mcp_anyera.engine.jsonrpc import is_error, is_object
from mcp_anyera.eras import LEGACY_REVISIONS, MODERN_REVISIONS, newest_common


@dataclass(frozen=True, slots=True)
class Modern:
    """The server speaks this modern revision."""

    revision: str
    discover: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Legacy:
    """The server wants a handshake."""

    reason: str


@dataclass(frozen=True, slots=True)
class AskAgain:
    """The server is modern and wants to be asked at this revision."""

    revision: str


@dataclass(frozen=True, slots=True)
class NoCommonGround:
    """The server is modern, or neither, and cannot be talked to."""

    reason: str


Finding: TypeAlias = Modern | Legacy | AskAgain | NoCommonGround


def classify(reply: Message) -> Finding:
    """Read the reply to ``server/discover``.

    Args:
        reply: The JSON-RPC response, with a ``result`` or an ``error`` member.

    Returns:
        What it says about the server.
    """
    if "error" in reply:
        return _classify_error(reply["error"])
    result = reply.get("result")
    offered = _strings(result.get("supportedVersions")) if is_object(result) else []
    if not is_object(result) or not offered:
        return Legacy("it answered without a list of supportedVersions")
    revision = newest_common(MODERN_REVISIONS, offered)
    return _legacy_or_none(offered) if revision is None else Modern(revision, result)


def _classify_error(error: Any) -> Finding:
    if not is_error(error):
        return Legacy("it answered with a malformed error")
    code = error["code"]
    if code in {HEADER_MISMATCH, MISSING_CAPABILITY}:
        return NoCommonGround(f"it is modern but refused the probe: error {code}")
    if code != UNSUPPORTED_VERSION:
        return Legacy(f"it answered with error {code}")
    data = error.get("data")
    offered = _strings(data.get("supported")) if is_object(data) else []
    if not offered:
        return Legacy(f"it answered with error {code} and no list of versions")
    revision = newest_common(MODERN_REVISIONS, offered)
    return _legacy_or_none(offered) if revision is None else AskAgain(revision)


def _legacy_or_none(offered: list[str]) -> Finding:
    if newest_common(LEGACY_REVISIONS, offered) is not None:
        return Legacy(f"it offers legacy revisions only: {', '.join(offered)}")
    known = ", ".join((*MODERN_REVISIONS, *LEGACY_REVISIONS))
    return NoCommonGround(
        f"no revision in common: it offers {', '.join(offered)}; "
        f"this library knows {known}"
    )


def _strings(value: object) -> list[str]:
    if not isinstance(value, list):
        return []
    return [item for item in cast("list[Any]", value) if isinstance(item, str)]
