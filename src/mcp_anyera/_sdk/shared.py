"""What both lines do in the same way, once the line's own types are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from mcp_anyera.engine import CallInfo, Dialect
from mcp_anyera.eras import Era


@dataclass(kw_only=True)
class QuestionFacts:
    """What a callback is told beyond the SDK's own context."""

    era: Era
    """Era of the connection that asks."""
    round: int
    """1 for the first round of a call; 0 for a direct request."""
    key: str | int
    """Key of the question in its round, or the id of the direct request."""
    dialect: Dialect
    """The way in which the server asked."""
    call: CallInfo | None
    """The call that the question belongs to; ``None`` where the wire cannot say."""
    server: str | None
    """The caller's own label for the server."""
    problem: str | None = field(default=None)
    """What was wrong with the last answer, when this is the second ask."""


def coerce_answer(
    value: object, accepted: tuple[type[BaseModel], ...], error: type[BaseModel]
) -> BaseModel:
    """Return what a callback gave as one of the types that it may give.

    A mapping is read as the first type that it fits, as both SDK lines do.

    Raises:
        TypeError: It is none of them; the message says what was expected.
    """
    if isinstance(value, (*accepted, error)):
        return value
    names = " or ".join(kind.__name__ for kind in (*accepted, error))
    for kind in accepted if isinstance(value, Mapping) else ():
        try:
            return kind.model_validate(value)
        except ValidationError:
            continue
    msg = f"expected {names}, got {type(cast('object', value)).__name__}"
    raise TypeError(msg)


def dump(value: BaseModel) -> dict[str, Any]:
    """Return a model as JSON, without members that are not set."""
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)
