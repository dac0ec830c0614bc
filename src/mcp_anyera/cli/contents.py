"""Content blocks as text; what is no text is named."""

from __future__ import annotations

from typing import Any, cast

from mcp_anyera.engine.jsonrpc import is_object


def text_of(content: Any) -> str:
    """Return the text of one block, or of a list of them."""
    return "\n".join(described(part) for part in blocks(content))


def blocks(content: Any) -> list[Any]:
    """Return content as a list of blocks."""
    if content is None:
        return []
    return cast("list[Any]", content) if isinstance(content, list) else [content]


def described(part: Any) -> str:
    """Return one block as text."""
    block: dict[str, Any] = part if is_object(part) else {}
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind in {"image", "audio"}:
        return f"[{kind} {block.get('mimeType')}, {size(block.get('data'))}]"
    if kind == "resource_link":
        return str(block.get("uri"))
    resource = block.get("resource")
    if is_object(resource) and "text" in resource:
        return str(resource["text"])
    return f"[{kind}]"


def size(data: Any) -> str:
    """Return how much there is in something that is written in base64."""
    return f"{len(str(data or '')) * 3 // 4} bytes"


def sampled(text: str, model: str = "human") -> dict[str, Any]:
    """Return a ``CreateMessageResult`` with a text."""
    content = {"type": "text", "text": text}
    return {
        "role": "assistant",
        "content": content,
        "model": model,
        "stopReason": "endTurn",
    }
