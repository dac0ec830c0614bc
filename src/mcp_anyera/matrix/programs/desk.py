"""The person at the desk: answers what a server asks, as the scenario wants it."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

from mcp.types import (
    CreateMessageResult,
    ElicitResult,
    ErrorData,
    ListRootsResult,
    TextContent,
)

TEXTS = {
    "First": "one",
    "After": "two",
    "Topic": "the sea",
    "Page": "7",
}
"""What is typed into a text field, by the first word of the question."""


def dumped(model: Any) -> Any:
    """Return an object of the SDK as JSON, whichever line it is of."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


class Recorder:
    """Writes what the application's side of the layer sees, one JSON line each."""

    def __init__(self, path: str | None) -> None:
        self._path = None if path is None else Path(path)

    def write(self, direction: str, what: Any) -> None:
        """Write one line.

        Args:
            direction: ``"out"`` for what the application does, ``"in"`` for what
                comes to it, ``"note"`` for what the layer says about itself.
            what: A JSON-RPC message, or ``{"text": ...}``.
        """
        if self._path is not None:
            line = {"t": time.monotonic(), "d": direction, "m": what}
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, default=str) + "\n")

    def say(self, direction: str, text: str) -> None:
        """Write a line of plain words."""
        self.write(direction, {"text": text[:400]})


class Desk:
    """Callbacks whose behaviour changes with the scenario, and what they saw."""

    def __init__(self, recorder: Recorder, *, telling: bool) -> None:
        self._recorder = recorder
        self._telling = telling
        self.session: Any = None
        self.changed: asyncio.Event = asyncio.Event()
        self.prepare({})

    def prepare(self, step: dict[str, Any]) -> None:
        """Forget the last scenario and behave as this one wants."""
        self._step = step
        self.asked: int = 0
        self._open: int = 0
        self.most_open: int = 0
        self.logs: list[str] = []
        self.heard: list[str] = []
        self.urls: list[str] = []
        self.changed.clear()

    # -- callbacks -------------------------------------------------------------

    async def elicit(self, _context: object, params: Any) -> Any:
        """Answer a form, or agree to a page."""
        return await self._answered("elicitation/create", dumped(params), _elicited)

    async def sample(self, _context: object, params: Any) -> Any:
        """Stand in for a model."""
        return await self._answered("sampling/createMessage", dumped(params), _sampled)

    async def list_roots(self, _context: object) -> Any:
        """Share one folder."""
        return await self._answered("roots/list", {}, _roots)

    async def log(self, params: Any) -> None:
        """Hear a log message."""
        self._tell("in", f"log {params.level}: {params.data}")
        self.logs.append(str(params.level))

    async def hear(self, message: Any) -> None:
        """Hear a notification."""
        method = getattr(getattr(message, "root", message), "method", None)
        if method is not None:
            self._tell("in", str(method))
            self.heard.append(str(method))
            self.changed.set()

    # -- answers ---------------------------------------------------------------

    async def _answered(self, method: str, params: dict[str, Any], answer: Any) -> Any:
        self.asked += 1
        self._open += 1
        self.most_open = max(self.most_open, self._open)
        self.urls += [params["url"]] if "url" in params else []
        self._tell("in", f"asked {method}: {params.get('message', '')}")
        try:
            await asyncio.sleep(self._step.get("delay", 0))
            return await self._as_wanted(params, answer)
        finally:
            self._open -= 1

    async def _as_wanted(self, params: dict[str, Any], answer: Any) -> Any:
        wanted = self._step.get("answer", "accept")
        if wanted == "raise":
            self._tell("out", "raises ValueError")
            raise ValueError("a secret of the user")
        if wanted == "refuse":
            self._tell("out", "refuses with -32050")
            return ErrorData(code=-32050, message="not today")
        if wanted in {"decline", "cancel"}:
            self._tell("out", wanted)
            return ElicitResult(action=wanted)
        if wanted == "reenter":
            self._tell("out", "calls echo from inside the callback")
            await self.session.call("echo", {"text": "inside"})
        given = answer(params)
        self._tell("out", f"answers {json.dumps(dumped(given))}")
        return given

    def _tell(self, direction: str, text: str) -> None:
        if self._telling:
            self._recorder.say(direction, text)


def _elicited(params: dict[str, Any]) -> ElicitResult:
    if params.get("mode") == "url" or "url" in params:
        return ElicitResult(action="accept")
    schema = params["requestedSchema"]
    required = schema.get("required", list(schema["properties"]))
    content = {
        name: _value(schema["properties"][name], params["message"]) for name in required
    }
    return ElicitResult(action="accept", content=content)


def _value(schema: dict[str, Any], message: str) -> Any:
    """Fill in one field of a form."""
    if "default" in schema:
        return schema["default"]
    choices = schema.get("enum") or [
        each["const"] for each in schema.get("oneOf", []) if "const" in each
    ]
    if choices:
        return choices[0]
    kind = schema.get("type", "string")
    first = message.partition(" ")[0].rstrip("?")
    special = {"email": "ada@example.com", "uri": "https://example.com"}
    text = special.get(schema.get("format", ""), TEXTS.get(first, "Ada"))
    least = schema.get("minimum", 1)
    return {"boolean": True, "integer": least, "number": least}.get(kind, text)


def _sampled(_params: dict[str, Any]) -> CreateMessageResult:
    text = TextContent(type="text", text="short")
    return CreateMessageResult(role="assistant", content=text, model="none")


def _roots(_params: dict[str, Any]) -> ListRootsResult:
    return ListRootsResult.model_validate({"roots": [{"uri": "file:///srv/books"}]})
