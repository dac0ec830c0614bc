"""One call of a server, with everything around it that a person wants to see."""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, redirect_stderr
from typing import Final, TypeVar

import anyio

from mcp_anyera._sdk import SDKError
from mcp_anyera.cli import answers_file, remembering
from mcp_anyera.cli.asking import Asker
from mcp_anyera.cli.display import Display, Lines
from mcp_anyera.cli.running import run_async
from mcp_anyera.cli.target import CommandTarget
from mcp_anyera.cli.trouble import INTERRUPTED, Ended, Trouble, shortened
from mcp_anyera.client import Client
from mcp_anyera.engine import (
    Event,
    FellBack,
    QuestionAnswered,
    Reopened,
    Restarted,
    RoundBegun,
    ToolHidden,
)
from mcp_anyera.engine.failures import MISSING_CAPABILITY
from mcp_anyera.errors import AnyEraError

T = TypeVar("T")

_OPTIONS: Final = {
    "read_timeout_seconds": "--timeout",
    "connect_timeout_seconds": "--connect-timeout",
    "probe_timeout_seconds": "--probe-timeout",
    "input_required_max_rounds": "--max-rounds",
    "headers=, auth= or http_client=": "--header",
}
"""What errors advise programmers to change, and what does the same here."""
_KINDS: Final = {
    "elicitation/create": "to the user",
    "sampling/createMessage": "to a model",
    "roots/list": "for the roots",
}


class Caller:
    """A connection for one command."""

    def __init__(self, server: CommandTarget, arguments: argparse.Namespace) -> None:
        """Prepare it from a command line."""
        self._server = server
        self._arguments = arguments
        self.display: Display = Display(sys.stderr, quiet=arguments.quiet)
        self.asker: Asker = self._asker()
        self._memory = remembering.memory_aloud(arguments)
        self._interrupted = False
        self._waits = False

    def _asker(self) -> Asker:
        arguments = self._arguments
        file = arguments.answers
        answers = None if file is None else answers_file.read(file)
        interactive = sys.stdin.isatty() and sys.stderr.isatty()
        if not interactive or arguments.no_input:
            return Asker(self.display, answers, None)
        # What draws prompts takes a fifth of the start, and scripts need none.
        from mcp_anyera.cli.prompting import Prompts  # noqa: PLC0415
        from mcp_anyera.cli.terminal import Terminal  # noqa: PLC0415

        terminal = Terminal(self.display, Prompts(sys.stderr))
        return Asker(self.display, answers, terminal)

    def run(self, name: str, work: Callable[[Client], Awaitable[T]]) -> T:
        """Connect, do something with the client, and leave.

        Args:
            name: What is done, as the display names it.
            work: What to do.

        Returns:
            What that returns.

        Raises:
            Trouble: It failed; the sentence says why.
            Ended: It was interrupted; everything was closed before.
        """
        lines = Lines(self.display, shown=self._arguments.stderr)
        with self.display.running(name), redirect_stderr(lines):
            return run_async(lambda: self._run(work))

    async def _run(self, work: Callable[[Client], Awaitable[T]]) -> T:
        result: list[T] = []
        with anyio.CancelScope() as scope:
            self.asker.on_interrupt = lambda: self._interrupt(scope)
            async with self._connected() as client:
                result.append(await work(client))
        if not result:
            raise Ended(INTERRUPTED)
        self._refuse_silence()
        return result[0]

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[Client]:
        arguments = self._arguments
        try:
            async with Client(
                self._server.server,
                callbacks=self.asker.callbacks(arguments.root),
                mode=arguments.mode,
                log_level=arguments.log_level,
                headers=self._server.headers or None,
                read_timeout_seconds=arguments.timeout,
                probe_timeout_seconds=arguments.probe_timeout,
                connect_timeout_seconds=arguments.connect_timeout,
                memory=self._memory,
                input_required_max_rounds=arguments.max_rounds,
                max_concurrent_questions=1,
                on_event=self._happened,
            ) as client:
                yield client
        except SDKError as error:
            raise Trouble(self._sentence(error)) from error
        except (ValueError, RuntimeError) as error:
            # Both SDK lines hold what they read against the protocol.
            self._refuse_silence()
            text = f"the server's answer cannot be read: {shortened(error)}"
            raise Trouble(text) from error

    def _sentence(self, error: SDKError) -> str:
        self._refuse_silence()
        text = str(error)
        roots = error.error.code == MISSING_CAPABILITY and "roots" in text
        if roots or "list_roots_callback=" in text:
            return "the server wants to know the roots; name them with --root DIR"
        if isinstance(error, AnyEraError):
            return in_options(text)
        return f"the server answered with error {error.error.code}: {text}"

    def _refuse_silence(self) -> None:
        # Whatever the server made of it, a script must know.
        if self.asker.unanswered:
            raise Trouble(self.asker.unanswered[0])

    def _interrupt(self, scope: anyio.CancelScope) -> None:
        self._interrupted = True
        scope.cancel()

    # -- what happens meanwhile ----------------------------------------------------

    def _happened(self, event: Event) -> None:
        match event:
            case RoundBegun():
                self._round(event)
            case QuestionAnswered(outcome="withdrawn") if not self._interrupted:
                self.display.note("the server took its question back")
            case ToolHidden(name, reason):
                self.display.note(f"the tool {name!r} is left out: {reason}", "yellow")
            case Restarted(reason) | Reopened(reason) | FellBack(reason):
                self.display.note(f"{type(event).__name__.lower()}: {reason}")
            case _:
                pass

    def _round(self, event: RoundBegun) -> None:
        if not event.kinds:
            # It may say so for minutes, and once is enough to know.
            if not self._waits:
                self.display.note(
                    "the server is not done, and wants to be called again"
                )
            self._waits = True
            return
        asked = ", ".join(_KINDS.get(kind, kind) for kind in event.kinds)
        count = len(event.kinds)
        many = "a question" if count == 1 else f"{count} questions"
        self.display.note(f"round {event.number}: {many} ({asked})")


def in_options(text: str) -> str:
    """Return an error's text with our options in place of keywords."""
    for keyword, option in _OPTIONS.items():
        text = text.replace(keyword, option)
    return text
