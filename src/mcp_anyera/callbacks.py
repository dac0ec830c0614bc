"""What the client registers, and who calls it.

Callbacks are registered once and serve both eras. Registering one is declaring
the capability; what is not registered is not declared and never asked. Each
question runs in a task of its own, off the receive path, so a callback may use
its client, and a human who thinks holds up nothing but the call that asked.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, TypeGuard

import anyio
import anyio.abc
import anyio.lowlevel

from mcp_anyera import forms
from mcp_anyera._sdk import (
    CallbackContext,
    ClientSession,
    ElicitationFnT,
    ErrorData,
    ListRootsFnT,
    LoggingFnT,
    SamplingFnT,
    dump,
    make_context,
    parse_answer,
    parse_question,
    types,
)
from mcp_anyera.engine import (
    Answer,
    Dropped,
    Event,
    Failure,
    Fault,
    Question,
    QuestionAnswered,
    QuestionAsked,
    Refusal,
)
from mcp_anyera.engine.failures import INTERNAL_ERROR, INVALID_PARAMS
from mcp_anyera.eras import Era

logger: logging.Logger = logging.getLogger("mcp_anyera")

ASKS: Final = 2
"""How often a form is put before an answer that does not fit it becomes a cancel."""
ELICITATION_MODES: Final = ("form", "url")


@dataclass(frozen=True, slots=True)
class RawNotification:
    """A notification that the SDK has no type for, such as a vendor's own."""

    method: str
    """Its method."""
    params: dict[str, Any] | None = None
    """Its params, as they came."""


class MessageHandler(Protocol):
    """Hears what the server tells: one type on both SDK lines.

    The message is the SDK's own notification object, not wrapped; a
    `RawNotification` for a method that the SDK does not know; or an exception for
    something that arrived and is no message.
    """

    async def __call__(self, message: Any, /) -> None:
        """Take one message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """What a client answers with; one registry may serve many clients.

    The names and shapes are those of the SDK's own session. What is ``None`` is
    not declared to the server.
    """

    elicitation_callback: ElicitationFnT | None = None
    """Answers ``elicitation/create``: a form or a page for the user."""
    elicitation_modes: Sequence[str] = ELICITATION_MODES
    """The modes that the elicitation callback can handle."""
    sampling_callback: SamplingFnT | None = None
    """Answers ``sampling/createMessage`` with a model."""
    sampling_capabilities: types.SamplingCapability | None = None
    """Declared beside the sampling callback, such as its use of tools."""
    list_roots_callback: ListRootsFnT | None = None
    """Answers ``roots/list`` with the folders of the user."""
    logging_callback: LoggingFnT | None = None
    """Hears log messages."""
    message_handler: MessageHandler | None = None
    """Hears every notification."""

    def __post_init__(self) -> None:
        """Refuse modes that do not exist, and none at all."""
        unknown = sorted(set(self.elicitation_modes) - set(ELICITATION_MODES))
        if unknown or not self.elicitation_modes:
            msg = (
                f"elicitation_modes takes 'form', 'url' or both; "
                f"got {tuple(self.elicitation_modes)!r}"
            )
            raise ValueError(msg)

    def capabilities(self) -> dict[str, Any]:
        """Return the ``ClientCapabilities`` that say exactly what is registered."""
        declared: dict[str, Any] = {}
        if self.elicitation_callback is not None:
            declared["elicitation"] = {
                mode: {} for mode in ELICITATION_MODES if mode in self.elicitation_modes
            }
        if self.sampling_callback is not None:
            given = self.sampling_capabilities
            declared["sampling"] = {} if given is None else dump(given)
        if self.list_roots_callback is not None:
            declared["roots"] = {"listChanged": True}
        return declared

    async def call(
        self, question: Question, context: CallbackContext, params: Any
    ) -> object:
        """Call what is registered for a question and return what it gives."""
        if question.method == "elicitation/create":
            assert self.elicitation_callback is not None
            return await self.elicitation_callback(context, params)
        if question.method == "sampling/createMessage":
            assert self.sampling_callback is not None
            return await self.sampling_callback(context, params)
        assert self.list_roots_callback is not None
        return await self.list_roots_callback(context)


Settle: TypeAlias = Callable[[str, Answer | Refusal], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatcherOptions:
    """How questions are put; times are seconds."""

    answer_timeout: float | None = None
    max_concurrent: int | None = None
    server: str | None = None
    """The caller's own label for the server."""
    validate_answers: bool = True
    """Whether form answers are held against the schema that was asked for."""


class Dispatcher:
    """Puts questions to callbacks, each in a task of its own."""

    def __init__(
        self,
        callbacks: Callbacks,
        options: DispatcherOptions,
        settle: Settle,
        notice: Callable[[Event], None],
    ) -> None:
        self._callbacks = callbacks
        self._notice = notice
        self._options = options
        self._settle = settle
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._waiting: deque[Question] = deque()
        self._running = 0
        self.tasks: anyio.abc.TaskGroup | None = None
        self.session: ClientSession | None = None
        self.era: Era = Era.LEGACY

    def ask(self, question: Question) -> None:
        """Start asking, in the server's order; the answer goes to the engine."""
        self._waiting.append(question)
        self._start_next()

    def _start_next(self) -> None:
        limit = self._options.max_concurrent
        while self._waiting and (limit is None or self._running < limit):
            question = self._waiting.popleft()
            scope = self._scopes[question.id] = anyio.CancelScope()
            self._running += 1
            assert self.tasks is not None
            self.tasks.start_soon(self._work, question, scope)

    def withdraw(self, question: Question) -> None:
        """Cancel the callback; its answer would be dropped."""
        if question in self._waiting:
            self._waiting.remove(question)
        scope = self._scopes.pop(question.id, None)
        if scope is not None:
            scope.cancel()

    async def _work(self, question: Question, scope: anyio.CancelScope) -> None:
        began, outcome = anyio.current_time(), "withdrawn"
        self._notice(QuestionAsked(question.method, question.call, question.round))
        try:
            with scope:
                answer = await self._answer(question)
                if self._scopes.pop(question.id, None) is not None:
                    outcome = _outcome(answer)
                    self._settle(question.id, answer)
        finally:
            seconds = anyio.current_time() - began
            about = (question.method, question.call)
            self._notice(QuestionAnswered(*about, outcome, seconds))
            self._running -= 1
            self._start_next()

    async def _answer(self, question: Question) -> Answer | Refusal:
        try:
            params = parse_question(question.method, question.params)
        except ValueError as error:
            return _unreadable(question, error)
        limit = self._options.answer_timeout
        with anyio.move_on_after(limit) as scope:
            return await self._ask_until_it_fits(question, params)
        assert scope.cancelled_caught
        return _too_slow(question, limit or 0.0)

    async def _ask_until_it_fits(
        self, question: Question, params: Any
    ) -> Answer | Refusal:
        problem: str | None = None
        for _ in range(ASKS):
            answer = await self._ask(question, params, problem)
            schema = forms.schema_of(question.params)
            if not (schema and self._options.validate_answers and _fills_in(answer)):
                return answer
            content = forms.complete(schema, answer.result.get("content"))
            problem = forms.problem_with(schema, content)
            if problem is None:
                return Answer({**answer.result, "content": content})
        # The sentence may quote what the user has typed, and a log is for others.
        logger.warning("the answer to a form does not fit it, and becomes a cancel")
        why = "it did not fit the form, twice; the server is told of a cancel"
        self._notice(Dropped(f"an answer to {question.method}", why))
        return Answer({"action": "cancel"})

    async def _ask(
        self, question: Question, params: Any, problem: str | None
    ) -> Answer | Refusal:
        context = self._context(question, params, problem)
        try:
            value = await self._callbacks.call(question, context, params)
        except anyio.get_cancelled_exc_class():
            await anyio.lowlevel.checkpoint_if_cancelled()
            # Nobody has cancelled it: something that it awaited was cancelled, and
            # on asyncio that would take the whole connection down.
            return _gone(question)
        except Exception as error:  # noqa: BLE001 - user code may raise anything
            return _raised(question, error)
        try:
            answer = parse_answer(question.method, value)
        except TypeError as error:
            return _raised(question, error)
        if isinstance(answer, ErrorData):
            failure = Failure(Fault.REFUSED, answer.message, answer.code, answer.data)
            return Refusal(failure, dump(answer))
        return Answer(dump(answer))

    def _context(
        self, question: Question, params: Any, problem: str | None
    ) -> CallbackContext:
        assert self.session is not None
        return make_context(
            self.session,
            question.key,
            params,
            era=self.era,
            round=question.round,
            key=question.key,
            dialect=question.dialect,
            call=question.call,
            server=self._options.server,
            problem=problem,
        )


_TOLD: Final = {"code": INTERNAL_ERROR, "message": "The client could not answer"}
"""All that a server learns of a callback that failed: no text of ours or the user's."""


def _outcome(answer: Answer | Refusal) -> str:
    if isinstance(answer, Refusal):
        return "refused"
    return str(answer.result.get("action", "answered"))


def _fills_in(answer: Answer | Refusal) -> TypeGuard[Answer]:
    return isinstance(answer, Answer) and answer.result.get("action") == "accept"


def _raised(question: Question, error: Exception) -> Refusal:
    text = f"the callback for {question.method} failed: {type(error).__name__}: {error}"
    return Refusal(Failure(Fault.CALLBACK, text, cause=error), _TOLD)


def _gone(question: Question) -> Refusal:
    text = f"the callback for {question.method} was cancelled from inside"
    return Refusal(Failure(Fault.CALLBACK, text), _TOLD)


def _unreadable(question: Question, error: ValueError) -> Refusal:
    text = f"the server's {question.method} has invalid params: {type(error).__name__}"
    told = {"code": INVALID_PARAMS, "message": "Invalid request parameters"}
    return Refusal(Failure(Fault.VIOLATION, text, cause=error), told)


def _too_slow(question: Question, seconds: float) -> Refusal:
    text = (
        f"the callback for {question.method} gave no answer within {seconds:g} s "
        "(answer_timeout_seconds)"
    )
    return Refusal(Failure(Fault.TIMEOUT, text), _TOLD)
