"""What is shown beside the result: on stderr, and never into an open question.

Two things want the terminal at once: what happens, and whoever is asked. While a
question is open everything else waits, and is shown when it is answered.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from io import TextIOBase
from typing import Any, Final, TextIO

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from mcp_anyera.cli.clean import clean, clean_line

_COLOURS: Final = {
    "debug": "dim",
    "info": "cyan",
    "notice": "cyan",
    "warning": "yellow",
    "error": "red",
    "critical": "bold red",
    "alert": "bold red",
    "emergency": "bold red",
}


class Display:
    """A console on stderr, with a bar at its end while something runs."""

    def __init__(self, stream: TextIO, *, quiet: bool = False) -> None:
        """Show things on a stream, or questions alone."""
        self._quiet = quiet
        self.console: Console = Console(file=stream, highlight=False, emoji=False)
        self._waiting: list[RenderableType] | None = None
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=self.console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            disable=quiet or not self.console.is_terminal,
        )
        self._name = ""
        self._task = self._progress.add_task("", total=None)

    @contextmanager
    def running(self, name: str) -> Generator[None]:
        """Show that something runs, for as long as it does."""
        self._name = name
        self._progress.update(self._task, description=clean_line(name))
        try:
            with self._progress:
                yield
        finally:
            self._show_waiting()

    @contextmanager
    def silence(self) -> Generator[None]:
        """Keep the terminal free for a question."""
        self._progress.stop()
        self._waiting = []
        try:
            yield
        finally:
            self._show_waiting()
            self._progress.start()

    def _show_waiting(self) -> None:
        waiting, self._waiting = self._waiting or [], None
        for thing in waiting:
            self.show(thing)

    def show(self, thing: RenderableType) -> None:
        """Show something, now or when the question is answered."""
        if self._quiet:
            return
        if self._waiting is None:
            self.console.print(thing)
        else:
            self._waiting.append(thing)

    def note(self, text: str, style: str = "dim") -> None:
        """Show one line about what happens."""
        self.show(Text(clean_line(text), style=style))

    def log(self, level: str, logger: str | None, data: Any) -> None:
        """Show a log message of the server."""
        said = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        source = f"{clean_line(logger)}: " if logger else ""
        mark = Text(f"{clean_line(level)} ", style=_COLOURS.get(level, "cyan"))
        self.show(mark + Text(source + clean(said)))

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Move the bar."""
        text = f"{self._name} · {message}" if message else self._name
        self._progress.update(
            self._task, completed=done, total=total, description=clean_line(text)
        )


class Lines(TextIOBase):
    """Takes the place of stderr: what is written becomes lines of a display."""

    def __init__(self, display: Display, *, shown: bool) -> None:
        """Show the lines, or swallow them."""
        self._display = display
        self._shown = shown
        self._rest = ""

    def writable(self) -> bool:
        """Say that it can be written to."""
        return True

    def write(self, text: str, /) -> int:
        """Take some text."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines if self._shown else ():
            self._display.show(Text(f"server │ {clean(line)}", style="dim"))
        return len(text)
