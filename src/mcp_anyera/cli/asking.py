"""Who answers the questions of a server: a file, the terminal, or nobody.

Nobody means that the call fails, with a sentence that names the question. A
script must never say yes because there was no one to say no.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio

from mcp_anyera import forms
from mcp_anyera._sdk import dump, types
from mcp_anyera.answers import refuse
from mcp_anyera.callbacks import Callbacks
from mcp_anyera.cli.answers_file import Answers, Asked, Entry
from mcp_anyera.cli.contents import sampled, text_of
from mcp_anyera.cli.display import Display
from mcp_anyera.cli.trouble import misused

if TYPE_CHECKING:
    from mcp_anyera.cli.terminal import Terminal

REJECTED: Final = -1
"""2025-11-25 ``client/sampling``: the user has rejected the request."""


class Asker:
    """The callbacks of one command."""

    def __init__(
        self, display: Display, answers: Answers | None, terminal: Terminal | None
    ) -> None:
        """Answer from a file, then from a terminal; either may be missing."""
        self._display = display
        self._answers = answers
        self._terminal = terminal
        self.unanswered: list[str] = []
        """A sentence for each question that got no answer."""
        self.on_interrupt: Callable[[], None] = lambda: None

    def callbacks(self, roots: list[str]) -> Callbacks:
        """Return what a client answers with."""
        return Callbacks(
            elicitation_callback=self.elicit,
            sampling_callback=self.sample,
            list_roots_callback=_roots(roots) if roots else None,
            logging_callback=self.log,
        )

    async def log(self, params: Any) -> None:
        """Show a log message of the server."""
        self._display.log(params.level, params.logger, params.data)

    # -- elicitation ---------------------------------------------------------------

    async def elicit(self, context: Any, params: Any) -> Any:
        """Answer a form, or a page to be visited."""
        plain = dump(params)
        kind = "url" if plain.get("mode") == "url" else "form"
        asked = _asked(kind, context, plain, str(plain.get("message", "")))
        entry = self._from_file(asked)
        if entry is not None:
            return self._elicited(asked, entry)
        if self._terminal is None:
            return self._nobody(asked)
        ask = self._terminal.page if kind == "url" else self._terminal.form
        return await self._in_terminal(lambda: ask(asked))

    def _elicited(self, asked: Asked, entry: Entry) -> Any:
        problem = self._misfit(asked, entry)
        if problem is not None:
            return self._unanswered(
                f"the answer of --answers to {asked} does not fit: {problem}"
            )
        self._display.note(f"{asked}: {entry.action}, from --answers")
        result = {"action": entry.action}
        content = entry.given.get("content")
        return result if content is None else {**result, "content": content}

    def _misfit(self, asked: Asked, entry: Entry) -> str | None:
        if asked.kind != "form" or entry.action != "accept":
            return None
        schema = forms.schema_of(asked.params)
        content = forms.complete(schema, entry.given.get("content"))
        return forms.problem_with(schema, content)

    # -- sampling ------------------------------------------------------------------

    async def sample(self, context: Any, params: Any) -> Any:
        """Answer in the place of a model."""
        plain = dump(params)
        asked = _asked("sampling", context, plain, _last(plain))
        entry = self._from_file(asked)
        if entry is not None:
            return self._sampled(asked, entry)
        terminal = self._terminal
        if terminal is None:
            return self._nobody(asked)
        given = await self._in_terminal(lambda: terminal.sampling(asked))
        return _rejected() if given is None else given

    def _sampled(self, asked: Asked, entry: Entry) -> Any:
        self._display.note(f"{asked}: {entry.action}, from --answers")
        if entry.action != "accept":
            return _rejected()
        return sampled(entry.given["text"], entry.given.get("model", "human"))

    # -- both ----------------------------------------------------------------------

    def _from_file(self, asked: Asked) -> Entry | None:
        return None if self._answers is None else self._answers.find(asked)

    def _nobody(self, asked: Asked) -> Any:
        return self._unanswered(
            f"nobody is there to answer {asked}; run it in a terminal, or answer "
            "it with --answers FILE"
        )

    def _unanswered(self, sentence: str) -> Any:
        # The server is told no more than that: the question is its own, and an
        # answer that does not fit is nobody else's business.
        self.unanswered.append(sentence)
        return refuse("The client has no answer")

    async def _in_terminal(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        with self._display.silence():
            try:
                return await ask()
            except KeyboardInterrupt:
                self.on_interrupt()
        await anyio.sleep_forever()
        return None


def _asked(kind: str, context: Any, params: dict[str, Any], message: str) -> Asked:
    call = context.call
    return Asked(
        kind=kind,
        message=message,
        key=str(context.key),
        caller=None if call is None else call.name,
        round=context.round,
        params=params,
        problem=context.problem,
    )


def _last(params: dict[str, Any]) -> str:
    messages: list[dict[str, Any]] = params.get("messages") or [{}]
    return text_of(messages[-1].get("content"))


def _rejected() -> Any:
    return refuse("the user declined to answer for a model", code=REJECTED)


def _roots(roots: list[str]) -> Any:
    listed = [_root(text) for text in roots]

    async def answer(context: Any) -> Any:
        del context
        return types.ListRootsResult.model_validate({"roots": listed})

    return answer


def _root(text: str) -> dict[str, str]:
    if "://" in text:
        return {"uri": text}
    path = Path(text).expanduser().resolve()
    if not path.is_dir():
        raise misused(f"--root {text} is no directory; what is elsewhere takes a URI")
    return {"uri": path.as_uri(), "name": path.name or str(path)}
