"""Results on stdout: the text in them, or the whole result as JSON."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

from mcp_anyera.cli.clean import clean, clean_line
from mcp_anyera.cli.contents import blocks, described, text_of


def print_json(result: dict[str, Any]) -> None:
    """Print a result as it is."""
    _write(json.dumps(result, indent=2, ensure_ascii=False))


def print_content(result: dict[str, Any]) -> None:
    """Print the content of a tool result, or what it has in its place."""
    content = blocks(result.get("content"))
    if content or "structuredContent" not in result:
        for part in content:
            _write(described(part))
    else:
        _write(json.dumps(result["structuredContent"], indent=2, ensure_ascii=False))


def print_prompt(result: dict[str, Any]) -> None:
    """Print the messages of a prompt."""
    for message in result.get("messages", []):
        _write(f"{message.get('role')}: {text_of(message.get('content'))}")


def print_resource(result: dict[str, Any]) -> None:
    """Print the contents of a resource; what is no text goes out as it is."""
    for part in result.get("contents", []):
        if "blob" not in part:
            _write(str(part.get("text", "")))
        elif sys.stdout.isatty():
            size = len(part["blob"]) * 3 // 4
            _write(
                f"[{part.get('mimeType')}, {size} bytes; redirect stdout to keep it]"
            )
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(base64.b64decode(part["blob"]))


def _write(text: str) -> None:
    # A terminal acts on what it reads; a pipe gets every byte.
    print(clean(text) if sys.stdout.isatty() else text)  # noqa: T201 - its purpose


def error_text(result: dict[str, Any]) -> str:
    """Return what a tool says about its own failure, on one line."""
    return clean_line(text_of(result.get("content"))) or "it gives no reason"
