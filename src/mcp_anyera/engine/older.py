"""What older handshake revisions cannot say, and what is said instead.

A session may have asked for an older revision than the newest handshake, and so
may a server. What their revision has no words for is told in older words where
the meaning survives; where it does not, the problem is named and nobody is
misled. What is already plain enough is passed on by identity.

Spec: 2024-11-05 to 2025-11-25 ``client/sampling``, ``client/elicitation``,
``server/tools``; the changelogs of 2025-03-26 (audio), 2025-06-18 (links) and
2025-11-25 (several content blocks, pages, choices of several).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

from mcp_anyera.engine.jsonrpc import is_object
from mcp_anyera.eras import LEGACY_REVISIONS

JsonObject: TypeAlias = dict[str, Any]

_AUDIO: Final = "2025-03-26"
_LINKS: Final = "2025-06-18"
_BLOCKS: Final = "2025-11-25"


def _lacks(revision: str, since: str) -> bool:
    """Tell whether a handshake revision is older than the one that brought a thing."""
    known = revision in LEGACY_REVISIONS
    return known and LEGACY_REVISIONS.index(revision) > LEGACY_REVISIONS.index(since)


def question(revision: str, method: str, params: JsonObject) -> JsonObject | str:
    """Return params of a question as a session of this revision understands them.

    Args:
        revision: What the session speaks.
        method: The method of the question.
        params: Its params, in the newest words.

    Returns:
        The params, or a phrase that names what cannot be said.
    """
    if not _lacks(revision, _BLOCKS):
        return params
    if method == "sampling/createMessage":
        return _plain_messages(revision, params)
    return _plain_form(params) if method == "elicitation/create" else params


def answer(revision: str, method: str, result: JsonObject) -> JsonObject | str:
    """Return an answer as a server of this revision understands it.

    Args:
        revision: What the server speaks.
        method: The method of the question.
        result: The answer, in the newest words.

    Returns:
        The answer, or a phrase that names what cannot be said.
    """
    if not _lacks(revision, _BLOCKS):
        return result
    if method == "sampling/createMessage":
        return _plain_sample(revision, result)
    content = result.get("content")
    values = content.values() if is_object(content) else ()
    several = any(isinstance(value, list) for value in values)
    return "a choice of several" if several else result


def result(revision: str, method: str, value: JsonObject) -> JsonObject:
    """Return a result as a session of this revision understands it."""
    rewrite = _RESULTS.get(method)
    if rewrite is None or not _lacks(revision, _LINKS):
        return value
    return rewrite(revision, value)


# -- sampling --------------------------------------------------------------------------


def _blocks(content: Any) -> list[Any]:
    return cast("list[Any]", content) if isinstance(content, list) else [content]


def _unsayable(revision: str, blocks: list[Any]) -> str | None:
    kinds = {block.get("type") for block in blocks if is_object(block)}
    if not kinds.isdisjoint({"tool_use", "tool_result"}):
        return "the use of tools in sampling"
    audio = "audio" in kinds and _lacks(revision, _AUDIO)
    return "audio in sampling" if audio else None


def _plain_messages(revision: str, params: JsonObject) -> JsonObject | str:
    messages = params.get("messages")
    if not isinstance(messages, list):
        return params
    plain: list[Any] = []
    for message in cast("list[Any]", messages):
        # Several blocks read the same as so many messages of the same speaker.
        blocks = _blocks(message.get("content")) if is_object(message) else []
        problem = _unsayable(revision, blocks)
        if problem is not None:
            return problem
        plain += [{**message, "content": block} for block in blocks]
    return {**params, "messages": plain}


def _plain_sample(revision: str, sample: JsonObject) -> JsonObject | str:
    blocks = _blocks(sample.get("content"))
    problem = _unsayable(revision, blocks)
    if problem is not None:
        return problem
    if len(blocks) != 1:
        return f"a sample of {len(blocks)} content blocks"
    return {**sample, "content": blocks[0]}


# -- forms -----------------------------------------------------------------------------


def _plain_form(params: JsonObject) -> JsonObject | str:
    plain = {key: value for key, value in params.items() if key != "mode"}
    schema = plain.get("requestedSchema")
    properties = schema.get("properties") if is_object(schema) else None
    if not is_object(schema) or not is_object(properties):
        return plain
    for part in properties.values():
        if is_object(part) and part.get("type") == "array":
            return "a choice of several"
    named = {name: _plain_choice(part) for name, part in properties.items()}
    return {**plain, "requestedSchema": {**schema, "properties": named}}


def _plain_choice(part: Any) -> Any:
    options = part.get("oneOf") if is_object(part) else None
    if not isinstance(options, list):
        return part
    known = [item for item in cast("list[Any]", options) if is_object(item)]
    values = [item.get("const") for item in known]
    titles = [item.get("title", item.get("const")) for item in known]
    rest = {key: value for key, value in part.items() if key != "oneOf"}
    return {**rest, "enum": values, "enumNames": titles}


# -- results ---------------------------------------------------------------------------


def _plain_tool_result(revision: str, value: JsonObject) -> JsonObject:
    content = value.get("content")
    if not isinstance(content, list):
        return value
    blocks = cast("list[Any]", content)
    return {**value, "content": [_plain_block(revision, block) for block in blocks]}


def _plain_prompt(revision: str, value: JsonObject) -> JsonObject:
    messages = value.get("messages")
    if not isinstance(messages, list):
        return value
    plain = [
        {**message, "content": _plain_block(revision, message.get("content"))}
        if is_object(message)
        else message
        for message in cast("list[Any]", messages)
    ]
    return {**value, "messages": plain}


def _plain_block(revision: str, block: Any) -> Any:
    kind = block.get("type") if is_object(block) else None
    if kind == "resource_link":
        return _told(block)
    if kind == "audio" and _lacks(revision, _AUDIO):
        return _enclosed(block)
    return block


def _told(link: JsonObject) -> JsonObject:
    """Return a link as the text that a reader would click on."""
    about = [link.get(key) for key in ("title", "name", "description")]
    words = list(dict.fromkeys(part for part in about if isinstance(part, str)))
    text = ": ".join([*words, str(link.get("uri"))])
    kept = {"annotations": link["annotations"]} if "annotations" in link else {}
    return {"type": "text", "text": text, **kept}


def _enclosed(audio: JsonObject) -> JsonObject:
    """Return sound as an embedded resource, which every revision can carry."""
    resource = {
        "uri": "attachment://audio",
        "mimeType": audio.get("mimeType"),
        "blob": audio.get("data"),
    }
    return {"type": "resource", "resource": resource}


_RESULTS: Final[dict[str, Callable[[str, JsonObject], JsonObject]]] = {
    "tools/call": _plain_tool_result,
    "prompts/get": _plain_prompt,
}
