"""What the eras do differently, as a scripted server sees it."""

from __future__ import annotations

from typing import Protocol

from mcp_anyera.engine import Message
from mcp_anyera.testing.calls import Call, Handler
from mcp_anyera.testing.steps import ServerError


class Manners(Protocol):
    """How a server of one era opens, asks and tells, on one connection."""

    def methods(self) -> dict[str, Handler]:
        """Return what every server of this era answers: functions of the call."""
        ...

    def unknown(self, method: str) -> ServerError:
        """Return the error for a method that it does not know."""
        ...

    def finish(self, result: Message) -> Message:
        """Return a result in the shape of this era."""
        ...

    def ask(self, call: Call) -> None:
        """Put the questions of a round that begins."""
        ...

    def resumed(self, message: Message) -> Call | None:
        """Take a message; return the call whose round it ends, if it ends one."""
        ...

    def log_level(self, call: Call) -> str | None:
        """Return the level from which on a call wants log messages, or ``None``."""
        ...

    def news(self, method: str, params: Message) -> list[Message]:
        """Return the messages that tell of a change."""
        ...

    def cancel(self, call: Call) -> None:
        """Give up what a call has begun."""
        ...
