"""Direct requests of a legacy server: passed on, and answered exactly once.

The server hears a refusal and may turn it into anything, so the call remembers
it: an error or an ``isError`` result of that call becomes the refusal, a normal
result is delivered, for nothing that arrived may be lost.

Spec: 2025-11-25 ``client/elicitation``, ``client/sampling``, ``client/roots``.
"""

from __future__ import annotations

from typing import Any, Final

from mcp_anyera.engine import jsonrpc, older, rounds
from mcp_anyera.engine.calls import Call, Calls
from mcp_anyera.engine.config import Questions
from mcp_anyera.engine.context import Context, WireId
from mcp_anyera.engine.effects import Ask, Message
from mcp_anyera.engine.events import Refused
from mcp_anyera.engine.failures import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Failure,
    Fault,
)
from mcp_anyera.engine.questions import (
    Answer,
    Dialect,
    Question,
    Refusal,
    clean_answer,
    refusal,
    with_elicitation_id,
)

AS_BEFORE: Final = "it was declined before in this call, and is answered so again"


class Direct:
    """The direct requests that are open on one connection."""

    def __init__(self, context: Context, calls: Calls) -> None:
        self._ctx = context
        self._calls = calls
        self._open: dict[WireId, tuple[Question, Call | None]] = {}
        self._ids: dict[WireId, WireId] = {}
        """From the id of a question to that of its request."""

    # -- asking --------------------------------------------------------------------

    def ask(self, message: Message, call: Call | None) -> None:
        """Pass a request of a legacy server on; ``call`` is the one it belongs to."""
        server_id = message["id"]
        if server_id in self._open:
            problem = f"request id {server_id!r} is already in use"
            self._ctx.send(
                jsonrpc.error(server_id, {"code": INVALID_REQUEST, "message": problem})
            )
            return
        question = self._question(message, call)
        self._open[server_id] = (question, call)
        self._ids[question.id] = server_id
        if call is not None:
            self._calls.pause(call)
        if self._ctx.config.questions is Questions.CLIENT:
            self._ctx.deliver(message)
        else:
            self._ask_shell(question, call)

    def _question(self, message: Message, call: Call | None) -> Question:
        name = self._ctx.next_name("question")
        params = with_elicitation_id(jsonrpc.params_of(message), name)
        about = (message["method"], params, Dialect.DIRECT, 0)
        info = None if call is None else call.info
        return Question(name, message["id"], *about, info)

    def _ask_shell(self, question: Question, call: Call | None) -> None:
        said = self._said_already(question, call)
        if said is None:
            self._ctx.out.append(Ask(question))
        elif isinstance(said, Failure):
            self._ctx.notice(Refused(question.method, said.message))
            self._settle(question.key, Refusal(said))
        else:
            self._ctx.notice(Refused(question.method, AS_BEFORE))
            self._settle(question.key, Answer(said))

    def _said_already(
        self, question: Question, call: Call | None
    ) -> dict[str, Any] | Failure | None:
        method, params = question.method, question.params
        failure = refusal(method, params, self._ctx.declared)
        if failure is not None or call is None:
            return failure
        call.rounds.asked += 1
        too_many = _too_many(call, question, self._ctx.config.max_questions)
        return too_many or call.rounds.repeats.again(method, params)

    def unknown(self, message: Message, call: Call | None) -> None:
        """Answer, or pass on, a request of a legacy server that is no question."""
        if self._ctx.config.questions is Questions.CLIENT:
            self.ask(message, call)
            return
        body = {
            "code": METHOD_NOT_FOUND,
            "message": "Method not found",
            "data": message["method"],
        }
        self._ctx.send(jsonrpc.error(message["id"], body))

    # -- answering -----------------------------------------------------------------

    def reply_of_client(self, message: Message) -> bool:
        """Take a response of the session; ``False`` when it answers nothing here."""
        server_id = message["id"]
        if server_id not in self._open:
            return False
        self._end(server_id)
        self._ctx.send(message)
        return True

    def settle(self, question_id: WireId, answer: Answer | Refusal) -> bool:
        """Take the answer to a question; ``False`` when it is none of these."""
        known = question_id in self._ids
        if known:
            self._settle(self._ids[question_id], answer)
        return known

    def _settle(self, server_id: WireId, answer: Answer | Refusal) -> None:
        question, call = self._end(server_id)
        said = self._sayable(question, answer)
        if isinstance(said, Answer):
            if call is not None:
                call.rounds.repeats.note(question.method, question.params, said.result)
            self._ctx.send(jsonrpc.response(server_id, said.result))
            return
        if call is not None:
            call.refusal = said.failure
        error = said.to_server or said.failure.for_server()
        self._ctx.send(jsonrpc.error(server_id, error))

    def _sayable(
        self, question: Question, answer: Answer | Refusal
    ) -> Answer | Refusal:
        if isinstance(answer, Refusal):
            return answer
        revision, method = self._ctx.revision or "", question.method
        said = older.answer(revision, method, clean_answer(method, answer.result))
        if not isinstance(said, str):
            return Answer(said)
        text = (
            f"the answer to {method} has {said}, which the server's revision "
            f"{revision} cannot carry; answer with less"
        )
        return Refusal(Failure(Fault.REFUSED, text, INTERNAL_ERROR))

    def _end(self, server_id: WireId) -> tuple[Question, Call | None]:
        question, call = self._open.pop(server_id)
        del self._ids[question.id]
        if call is not None:
            self._calls.resume(call)
        return question, call

    # -- taking back ---------------------------------------------------------------

    def withdrawn(self, server_id: object) -> bool:
        """Take back the question that a legacy server has cancelled."""
        if not jsonrpc.is_id(server_id) or server_id not in self._open:
            return False
        question, _ = self._end(server_id)
        if self._ctx.config.questions is Questions.SHELL:
            rounds.withdraw(self._ctx, question, "the server withdrew it")
        return True

    def call_ended(self, call: Call) -> None:
        """Take back what a call that is over had asked."""
        if not call.paused:
            return
        for server_id, (_, owner) in list(self._open.items()):
            if owner is call:
                self._drop(server_id, "its call has ended")

    def client_gone(self) -> None:
        """Take back everything: nobody is left to answer."""
        for server_id in list(self._open):
            self._drop(server_id, "the client side is closed")

    def server_gone(self) -> None:
        """Take back everything: nobody is left to hear an answer."""
        for server_id in list(self._open):
            question, _ = self._end(server_id)
            self._withdraw(server_id, question, "the server is gone")

    def _drop(self, server_id: WireId, reason: str) -> None:
        question, _ = self._end(server_id)
        self._withdraw(server_id, question, reason)
        # The server still waits, and a request must not stay without an answer.
        text = f"The question is withdrawn: {reason}"
        body = {"code": INTERNAL_ERROR, "message": text}
        self._ctx.send(jsonrpc.error(server_id, body))

    def _withdraw(self, server_id: WireId, question: Question, reason: str) -> None:
        if self._ctx.config.questions is Questions.SHELL:
            rounds.withdraw(self._ctx, question, reason)
            return
        params = {"requestId": server_id, "reason": reason}
        self._ctx.deliver(jsonrpc.notification("notifications/cancelled", params))


def _too_many(call: Call, question: Question, limit: int) -> Failure | None:
    if call.rounds.asked <= limit:
        return None
    text = (
        f"{call.label} still asks after {limit} questions (max_questions); "
        "raise the limit if it may"
    )
    last = {"method": question.method, "params": question.params}
    return Failure(Fault.ROUNDS, text, questions=(last,))
