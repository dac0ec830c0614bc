"""The errors of a modern server whose tool calls back as legacy tools do.

A dual-era server may offer tools that were written for the old way. On a modern
connection they fail at the question, with an error of the SDK that serves them.
These are the exact sentences of three SDKs; anything else is the tool's own
business, for a call must not be sent twice on a guess.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

from mcp_anyera.engine.effects import Message
from mcp_anyera.engine.failures import INVALID_REQUEST
from mcp_anyera.engine.jsonrpc import is_object
from mcp_anyera.engine.registry import QUESTION_METHODS

_METHOD: Final = "(" + "|".join(map(re.escape, sorted(QUESTION_METHODS))) + ")"
_PYTHON: Final = re.compile(
    f"Cannot send '{_METHOD}': this transport context has no back-channel "
    r"for server-initiated requests\."
).fullmatch
_TYPESCRIPT: Final = re.compile(
    r"Server-to-client requests are not available on protocol revision [0-9-]{10}: "
    f"'{_METHOD}' cannot be sent while serving a request on that revision"
).match
_FASTMCP: Final = re.compile(
    r"(elicitation|sampling|roots) via server-initiated requests is unavailable "
    r"on [0-9-]{10} connections\."
).fullmatch


def missing(reply: Message) -> bool:
    """Tell whether a reply says that the tool would have to call back.

    Args:
        reply: The JSON-RPC reply to a ``tools/call``.
    """
    error = reply.get("error")
    if is_object(error):
        text = str(error.get("message"))
        return error.get("code") == INVALID_REQUEST and _PYTHON(text) is not None
    result = reply.get("result")
    content = result.get("content") if is_object(result) else None
    if not is_object(result) or result.get("isError") is not True:
        return False
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    if len(blocks) != 1:
        return False
    text = _text(blocks[0])
    return bool(_TYPESCRIPT(text) or _FASTMCP(text))


def _text(block: Any) -> str:
    return str(block.get("text")) if is_object(block) else ""
