"""A request that a scripted server works on, and what its tools are called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from mcp_anyera.engine import Message
from mcp_anyera.testing.steps import Asked, Script, ServerError

Handler: TypeAlias = Callable[..., Any]


@dataclass(slots=True, eq=False)
class Call:
    """A request, over all its rounds: a retry gives it another id and other params."""

    id: int | str
    params: Message
    steps: Script = field(init=False)
    several: bool = False
    """Whether the tool has yielded a list of questions and wants a list back."""
    asked: dict[str, Asked] = field(default_factory=dict[str, Asked])
    """The questions of the round that is open, by their key."""
    answers: dict[str, Any] = field(default_factory=dict[str, Any])

    def put(self, step: Asked | list[Asked]) -> None:
        """Begin a round."""
        self.several = isinstance(step, list)
        questions = step if isinstance(step, list) else [step]
        self.asked = {f"q{n}": asked for n, asked in enumerate(questions, 1)}
        self.answers = {}

    def outcome(self) -> Any:
        """Return what the tool gets for its questions: answers, or one refusal."""
        given = [self.answers.get(key) for key in self.asked]
        refused = next((it for it in given if isinstance(it, ServerError)), None)
        if refused is not None:
            return refused
        return given if self.several else given[0]


def steps_of(function: Handler, *args: Any, **kwargs: Any) -> Script:
    """Run a function, whether it yields or only returns."""
    value = function(*args, **kwargs)
    if not inspect.isgenerator(value):
        return value
    return (yield from cast("Script", value))


def tool_steps(tool: Handler, arguments: Mapping[str, Any]) -> Script:
    """Run a tool, and give what it returns the shape of a tool result."""
    value = yield from steps_of(tool, **arguments)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    return {"content": [{"type": "text", "text": str(value)}]}


def described(tool: Handler) -> Message:
    """Return a tool as ``tools/list`` shows it; its parameters may be anything."""
    parameters = inspect.signature(tool).parameters.values()
    required = [it.name for it in parameters if it.default is it.empty]
    schema: Message = {
        "type": "object",
        "properties": {it.name: {} for it in parameters},
        "required": required,
    }
    shown: Message = {"name": tool.__name__, "inputSchema": schema}
    about = inspect.getdoc(tool)
    return shown if about is None else {**shown, "description": about}
