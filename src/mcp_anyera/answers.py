"""What a callback can answer, in words that are the same on both SDK lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_anyera._sdk import ErrorData, types
from mcp_anyera.engine.failures import INVALID_REQUEST


def accept(content: Mapping[str, Any] | None = None) -> types.ElicitResult:
    """Agree, and answer a form.

    Args:
        content: The fields of the form; nothing for a URL. Fields with a default
            may be left out.

    Returns:
        The SDK's own answer to an elicitation.

    Spec:
        2026-07-28 ``client/elicitation`` § Response Actions.
    """
    given = None if content is None else dict(content)
    return types.ElicitResult(action="accept", content=given)


def decline() -> types.ElicitResult:
    """Say no: the user was asked and does not want to."""
    return types.ElicitResult(action="decline")


def cancel() -> types.ElicitResult:
    """Say nothing: the user has closed the question without an answer."""
    return types.ElicitResult(action="cancel")


def refuse(message: str, *, code: int = INVALID_REQUEST, data: Any = None) -> ErrorData:
    """Refuse a question of any kind; the call that asked fails with this error.

    Args:
        message: One sentence, which the server may see.
        code: The JSON-RPC error code.
        data: Whatever belongs to it, as JSON.

    Returns:
        The SDK's own error.
    """
    return ErrorData(code=code, message=message, data=data)
