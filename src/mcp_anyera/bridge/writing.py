"""Messages on their way to the client, as JSON."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import cast

from mcp_anyera.engine import Message, jsonrpc
from mcp_anyera.engine.failures import INTERNAL_ERROR
from mcp_anyera.transports.wire import to_json

logger: logging.Logger = logging.getLogger("mcp_anyera.bridge")


def written(message: Message | Sequence[Message]) -> str | None:
    """Return a message, or a batch, as JSON.

    Returns:
        For an answer that JSON cannot hold, an error in its place: JSON has no
        infinity, and a number like 1e999 has become one. Whoever has asked must hear
        something. ``None`` for anything else that cannot be written.
    """
    try:
        return to_json(message)
    except ValueError as error:
        logger.warning("a message cannot be written as JSON: %s", error)
        return _instead(message, error)


def _instead(message: object, error: ValueError) -> str | None:
    if isinstance(message, list):
        parts = filter(None, map(written, cast("list[Message]", message)))
        return f"[{','.join(parts)}]"
    if not jsonrpc.is_object(message) or "method" in message:
        return None
    text = f"the answer cannot be written as JSON: {error}"
    return to_json(
        jsonrpc.error(message["id"], {"code": INTERNAL_ERROR, "message": text})
    )
