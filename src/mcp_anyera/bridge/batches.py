"""JSON-RPC batches, which one legacy revision has (2025-03-26 ``basic`` § Batching).

A batch is taken apart before the engine. The answers to its requests go back as one
batch when the last of them is there, as JSON-RPC wants it; what the server asks or
tells in the meantime does not wait.
"""

from __future__ import annotations

from typing import Any, cast

from mcp_anyera.engine import Message, jsonrpc
from mcp_anyera.eras import BATCHING_REVISION


class Batches:
    """The batches of one client whose answers are not complete."""

    def __init__(self) -> None:
        self._waiting: dict[int | str, _Batch] = {}
        self._opening: int | str | None = None
        self._revision: str | None = None

    @property
    def legal(self) -> bool:
        """Whether the client has agreed on the revision that has batches."""
        return self._revision == BATCHING_REVISION

    def begin(self, parts: list[object]) -> None:
        """Note the requests of a batch before they are taken one by one."""
        batch = _Batch()
        for part in parts:
            key = _request_id(part)
            if key is not None and key not in self._waiting:
                batch.open.add(key)
                self._waiting[key] = batch

    def said(self, message: object) -> list[Message] | None:
        """Watch what the client says.

        Returns:
            The answers of a batch that is complete since one of its requests was
            cancelled, for such a request has no answer.
        """
        if not jsonrpc.is_object(message):
            return None
        if message.get("method") == "initialize":
            self._opening = _request_id(message)
        elif message.get("method") == "notifications/cancelled":
            params: Any = message.get("params")
            key = params.get("requestId") if jsonrpc.is_object(params) else None
            return self._closed(key, None)
        return None

    def hold(self, message: Message) -> tuple[bool, list[Message] | None]:
        """Watch what the client is told.

        Returns:
            Whether the message is kept for its batch, and the answers of that batch
            if it was the last.
        """
        key = message.get("id")
        if "method" in message or not jsonrpc.is_id(key):
            return False, None
        if key == self._opening:
            self._note_revision(message.get("result"))
        if key not in self._waiting:
            return False, None
        return True, self._closed(key, message)

    def _note_revision(self, result: object) -> None:
        self._opening = None
        if jsonrpc.is_object(result):
            self._revision = result.get("protocolVersion")

    def _closed(self, key: object, answer: Message | None) -> list[Message] | None:
        if not jsonrpc.is_id(key) or key not in self._waiting:
            return None
        batch = self._waiting.pop(key)
        batch.open.discard(key)
        if answer is not None:
            batch.answers.append(answer)
        return batch.answers if batch.answers and not batch.open else None


class _Batch:
    def __init__(self) -> None:
        self.open: set[int | str] = set()
        self.answers: list[Message] = []


def _request_id(part: object) -> int | str | None:
    if not isinstance(part, dict) or "method" not in part:
        return None
    key = cast("Message", part).get("id")
    return key if jsonrpc.is_id(key) else None
