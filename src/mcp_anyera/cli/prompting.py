"""One prompt in the terminal: a line, a choice, several choices.

Escape goes back; Ctrl-C ends the command. Prompts are drawn on stderr, so that
the result alone is on stdout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TextIO

import questionary
from prompt_toolkit.key_binding import KeyBindings, merge_key_bindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.output import Output, create_output
from questionary import Choice, Question, Style

SEARCH_FROM: Final = 12
"""Choices from which on typing searches among them."""
_STYLE: Final = Style(
    [
        ("qmark", "fg:ansicyan bold"),
        ("question", "bold"),
        ("answer", "fg:ansicyan"),
        ("pointer", "fg:ansicyan bold"),
        ("highlighted", "fg:ansicyan bold"),
        ("selected", "fg:ansigreen noreverse"),
        ("instruction", "fg:ansibrightblack"),
        ("text", ""),
        ("disabled", "fg:ansibrightblack italic"),
    ]
)

_CORRECTED: Final = Style([*_STYLE.style_rules, ("instruction", "fg:ansired bold")])


class Back:
    """What a prompt gives when Escape was pressed."""


BACK: Final = Back()


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose."""

    value: Any
    title: str
    hint: str = ""


Validate = Callable[[Any], str | None]
"""Returns what is wrong with what was typed, or ``None``."""


class Prompts:
    """The prompts of one terminal."""

    def __init__(self, stream: TextIO) -> None:
        """Draw them on a stream."""
        self._output: Output = create_output(stdout=stream)

    async def line(
        self, title: str, *, default: str, hint: str, validate: Validate
    ) -> str | Back:
        """Ask for a line of text until nothing is wrong with it."""

        def ask(typed: str, problem: str | None) -> Question:
            return questionary.text(
                title,
                default=typed,
                instruction=problem or hint or None,
                style=_STYLE if problem is None else _CORRECTED,
                output=self._output,
            )

        return await _until_right(ask, default, validate)

    async def one(
        self,
        title: str,
        options: Sequence[Option],
        *,
        default: Any = None,
        hint: str = "(arrows and Enter; Esc goes back)",
    ) -> Any:
        """Ask for one of several things."""
        choices = [Choice(_titled(one), one.value) for one in options]
        chosen = next((c for c in choices if c.value == default), None)
        searched = len(choices) > SEARCH_FROM
        return await _put(
            questionary.select(
                title,
                choices,
                default=chosen,
                use_search_filter=searched,
                use_jk_keys=not searched,
                instruction="(type to search; Esc goes back)" if searched else hint,
                style=_STYLE,
                output=self._output,
            )
        )

    async def some(
        self,
        title: str,
        options: Sequence[Option],
        *,
        chosen: Sequence[Any],
        hint: str,
        validate: Validate,
    ) -> list[Any] | Back:
        """Ask for any number of several things until nothing is wrong with them."""

        def ask(marked: Sequence[Any], problem: str | None) -> Question:
            choices = [
                Choice(_titled(one), one.value, checked=one.value in marked)
                for one in options
            ]
            return questionary.checkbox(
                title,
                choices,
                instruction=f"{problem or hint} (Space marks, Enter accepts)".lstrip(),
                style=_STYLE if problem is None else _CORRECTED,
                output=self._output,
            )

        return await _until_right(ask, chosen, validate)


async def _until_right(
    ask: Callable[[Any, str | None], Question], given: Any, validate: Validate
) -> Any:
    # The problem takes the place of the hint: a toolbar would stand at the lower
    # end of the terminal, where nobody looks.
    problem: str | None = None
    while True:
        given = await _put(ask(given, problem))
        wrong = None if isinstance(given, Back) else validate(given)
        if wrong is None:
            return given
        problem = f"({wrong})"


def _titled(option: Option) -> str:
    return f"{option.title}  {option.hint}" if option.hint else option.title


async def _put(question: Question) -> Any:
    bindings = KeyBindings()

    @bindings.add("escape", eager=True)
    def _go_back(event: KeyPressEvent) -> None:
        event.app.exit(result=BACK)

    # Ctrl-C as a signal from elsewhere; choices would not hear it.
    @bindings.add("<sigint>")
    def _end(event: KeyPressEvent) -> None:
        event.app.exit(exception=KeyboardInterrupt())

    application = question.application
    known = application.key_bindings
    application.key_bindings = merge_key_bindings(
        [bindings] if known is None else [known, bindings]
    )
    try:
        return await question.unsafe_ask_async()
    except EOFError:
        return BACK
