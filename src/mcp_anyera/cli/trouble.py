"""What ends a sub-command early, and the sentence that it ends with."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

FAILED: Final = 1
WRONG_COMMAND_LINE: Final = 2
INTERRUPTED: Final = 130
"""What shells say of a process that Ctrl-C has ended."""
INSTALL: Final = "pip install 'mcp-anyera[cli]'"


class Trouble(Exception):  # noqa: N818 - whoever uses the command never sees the class
    """One clear sentence for stderr, and the exit status."""

    def __init__(self, sentence: str, status: int = FAILED) -> None:
        """Say what happened and what to do."""
        super().__init__(sentence)
        self.status = status


class Ended(BaseException):
    """A signal has ended the command."""

    def __init__(self, status: int) -> None:
        """Keep the exit status."""
        super().__init__(status)
        self.status = status


def misused(sentence: str) -> Trouble:
    """Return the trouble for a command line that makes no sense."""
    return Trouble(sentence, WRONG_COMMAND_LINE)


def shortened(error: Exception) -> str:
    """Return what an error says, without what pydantic adds for programmers."""
    listed = getattr(error, "errors", None)
    if not callable(listed):
        return str(error)
    problems: Any = listed()
    first = problems[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else str(first["msg"])


def extra(module: str) -> Any:
    """Import a module that comes with the extra ``mcp-anyera[cli]``.

    Args:
        module: Its dotted name.

    Raises:
        Trouble: It is not installed; the sentence has the command that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or module).partition(".")[0]
        text = f"this needs {missing}, which is not installed; run: {INSTALL}"
        raise Trouble(text) from error


def need_extra() -> None:
    """Make sure that the extra ``mcp-anyera[cli]`` is installed.

    Raises:
        Trouble: It is not.
    """
    for module in ("rich", "questionary"):
        extra(module)
