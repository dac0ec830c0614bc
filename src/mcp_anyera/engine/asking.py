"""From a server's question to an answer, in both dialects.

Modern: `required` starts a round, `settle` takes the answers, the last one sends
the retry. Legacy: `direct` passes a request on and its answer back.

On a legacy wire the server hears a refusal and may turn it into anything, so
the call remembers it: an error or an ``isError`` result of that call becomes
the refusal, a normal result is delivered, for nothing that arrived may be lost.
"""

from __future__ import annotations

from typing import Any, Final

from mcp_anyera.engine import consents, jsonrpc, rounds
from mcp_anyera.engine.calls import Call, Calls
from mcp_anyera.engine.config import Questions
from mcp_anyera.engine.context import Context, WireId
from mcp_anyera.engine.effects import Ask, Message, ToClient
from mcp_anyera.engine.events import Refused, RoundBegun
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

_AS_BEFORE: Final = "it was declined before in this call, and is answered so again"


class Asking:
    """The questions that are open on one connection."""

    def __init__(self, context: Context, calls: Calls) -> None:
        self._ctx = context
        self._calls = calls
        self._round_of: dict[WireId, tuple[Question, Call]] = {}
        self._direct: dict[WireId, tuple[Question, Call | None]] = {}
        self._direct_of: dict[WireId, WireId] = {}
        calls.on_close = self._call_ended

    # -- modern: a round -----------------------------------------------------------

    def required(self, call: Call, result: dict[str, Any]) -> None:
        """Work on a result that says ``input_required``."""
        parsed = rounds.parse(call.method, result)
        if isinstance(parsed, str):
            self._calls.fail(call, _violation(call, parsed))
            return
        call.rounds.newest = parsed
        call.rounds.answers = {}
        if not parsed.requests:
            self._wait(call)
        elif (failure := self._excess(call, parsed)) is not None:
            self._calls.fail(call, failure)
        else:
            self._ask_all(call, parsed.requests)

    # -- legacy: an error that asks for a visit ------------------------------------

    def page_required(self, call: Call, error: dict[str, Any]) -> bool:
        """Take an error that asks for a visit to a page; ``False`` for any other."""
        pages = consents.pages_in(error)
        if pages is None or self._ctx.config.questions is Questions.CLIENT:
            return False
        state = call.rounds
        state.required, state.answers = error, {}
        state.newest = rounds.InputRequired(pages, None)
        new = {
            key: page
            for key, page in pages.items()
            if page["params"].get("url") not in state.agreed
        }
        if not new:
            self._wait(call)
        elif (failure := self._excess(call, rounds.InputRequired(new, None))) is None:
            self._ask_all(call, new)
        else:
            self._calls.fail(call, failure)
        return True

    def page_visited(self, elicitation_id: object) -> None:
        """Stop waiting: the server says that a page was dealt with."""
        for call in self._calls.waiting():
            pages = call.rounds.newest and call.rounds.newest.requests
            ids = [p["params"].get("elicitationId") for p in (pages or {}).values()]
            if call.rounds.required is not None and elicitation_id in ids:
                self._ctx.timers.clear((call, "retry"))
                self._stop_waiting(call)

    def _agreed(self, question: Question, call: Call, result: dict[str, Any]) -> bool:
        if question.dialect is not Dialect.URL_REQUIRED:
            return True
        if result.get("action") == "accept":
            call.rounds.agreed.add(str(question.params.get("url")))
            return True
        text = f"{call.label} needs a visit to a web page, and the user said no"
        failure = Failure(Fault.DECLINED, text, cause=call.rounds.required)
        self._calls.fail(call, failure)
        return False

    def _excess(self, call: Call, parsed: rounds.InputRequired) -> Failure | None:
        config, left = self._ctx.config, parsed.requests or {}
        call.rounds.number += 1
        call.rounds.asked += len(left)
        if call.rounds.number > config.max_rounds:
            limit = f"{config.max_rounds} rounds (input_required_max_rounds)"
        elif call.rounds.asked > config.max_questions:
            limit = f"{config.max_questions} questions"
        else:
            return None
        message = f"{call.label} still asks after {limit}; raise the limit if it may"
        return Failure(Fault.ROUNDS, message, questions=tuple(left.values()))

    def _ask_all(self, call: Call, requests: dict[str, dict[str, Any]]) -> None:
        event = RoundBegun(call.method, call.rounds.number, rounds.kinds_of(requests))
        self._ctx.notice(event)
        for key, request in requests.items():
            failure = self._checked(call, key, request)
            if failure is not None:
                self._ctx.notice(Refused(request["method"], failure.message))
                self._calls.fail(call, failure)
                return
        self._ask_the_rest(call, requests)

    def _checked(self, call: Call, key: str, request: dict[str, Any]) -> Failure | None:
        method, params = request["method"], jsonrpc.params_of(request)
        said = refusal(method, params, self._ctx.declared)
        said = said or call.rounds.repeats.again(method, params)
        if said is None or isinstance(said, Failure):
            return said
        self._ctx.notice(Refused(method, _AS_BEFORE))
        call.rounds.answers[key] = said
        return None

    def _ask_the_rest(self, call: Call, requests: dict[str, dict[str, Any]]) -> None:
        state = call.rounds
        new = {key: req for key, req in requests.items() if key not in state.answers}
        for question in [self._question(call, key, req) for key, req in new.items()]:
            self._calls.pause(call)
            state.open[question.id] = question
            self._round_of[question.id] = (question, call)
            self._pass_on(question, call)
        if not new:
            self._retry(call)

    def _question(self, call: Call, key: str, request: dict[str, Any]) -> Question:
        name = self._ctx.next_name("question")
        params = with_elicitation_id(jsonrpc.params_of(request), name)
        return Question(
            name,
            key,
            request["method"],
            params,
            Dialect.INPUT if call.rounds.required is None else Dialect.URL_REQUIRED,
            call.rounds.number,
            call.info,
        )

    def _pass_on(self, question: Question, call: Call) -> None:
        if self._ctx.config.questions is Questions.SHELL:
            self._ctx.out.append(Ask(question))
            return
        params = (
            None
            if question.method == "roots/list" and not question.params
            else question.params
        )
        message = jsonrpc.request(question.id, question.method, params)
        self._ctx.out.append(ToClient(message, call=call.client_id))

    def _wait(self, call: Call) -> None:
        state, now = call.rounds, self._ctx.now
        if state.waits == 0:
            state.waiting_since = now
        state.waits += 1
        budget = self._ctx.config.state_only_budget
        if call.options.total_timeout is None and now - state.waiting_since >= budget:
            message = (
                f"{call.label} has asked for patience for {budget:g} s and is given up"
            )
            self._calls.fail(call, Failure(Fault.TIMEOUT, message))
            return
        self._ctx.notice(RoundBegun(call.method, state.number, ()))
        delay = state.next_delay(self._ctx.config.jitter())
        self._calls.pause(call)
        if delay == 0:
            self._stop_waiting(call)
        else:
            when = now + delay
            self._ctx.timers.set(
                (call, "retry"), when, lambda: self._stop_waiting(call)
            )

    def _stop_waiting(self, call: Call) -> None:
        self._calls.resume(call)
        self._retry(call)

    def _retry(self, call: Call) -> None:
        again = call.rounds.required is not None
        params = call.params if again else call.rounds.retry_params(call.params)
        self._calls.send_leg(call, params)

    def settle(self, question_id: WireId, answer: Answer | Refusal) -> bool:
        """Take the answer to a question; ``False`` when nobody waits for it."""
        if question_id in self._direct_of:
            self._settle_direct(self._direct_of[question_id], answer)
            return True
        entry = self._round_of.pop(question_id, None)
        if entry is None or question_id not in entry[1].rounds.open:
            return False
        self._settle_round(*entry, answer)
        return True

    def _settle_round(
        self, question: Question, call: Call, answer: Answer | Refusal
    ) -> None:
        state = call.rounds
        del state.open[question.id]
        if isinstance(answer, Refusal):
            self._calls.fail(call, answer.failure)
            return
        result = clean_answer(question.method, answer.result)
        if not self._agreed(question, call, result):
            return
        state.answers[str(question.key)] = result
        state.repeats.note(question.method, question.params, result)
        self._calls.resume(call)
        if not state.open:
            state.waits = 0
            self._retry(call)

    # -- legacy: a direct request --------------------------------------------------

    def direct(self, message: Message, call: Call | None) -> None:
        """Pass a request of a legacy server on; ``call`` is the one it belongs to."""
        server_id = message["id"]
        if server_id in self._direct:
            problem = f"request id {server_id!r} is already in use"
            self._ctx.send(
                jsonrpc.error(server_id, {"code": INVALID_REQUEST, "message": problem})
            )
            return
        name = self._ctx.next_name("question")
        params = with_elicitation_id(jsonrpc.params_of(message), name)
        info = None if call is None else call.info
        question = Question(
            name, server_id, message["method"], params, Dialect.DIRECT, 0, info
        )
        self._direct[server_id] = (question, call)
        self._direct_of[name] = server_id
        if call is not None:
            self._calls.pause(call)
        if self._ctx.config.questions is Questions.CLIENT:
            self._ctx.deliver(message)
        else:
            self._ask_directly(question, call)

    def _ask_directly(self, question: Question, call: Call | None) -> None:
        said = self._said_already(question, call)
        if said is None:
            self._ctx.out.append(Ask(question))
        elif isinstance(said, Failure):
            self._ctx.notice(Refused(question.method, said.message))
            self._settle_direct(question.key, Refusal(said))
        else:
            self._ctx.notice(Refused(question.method, _AS_BEFORE))
            self._settle_direct(question.key, Answer(said))

    def _said_already(
        self, question: Question, call: Call | None
    ) -> dict[str, Any] | Failure | None:
        method, params = question.method, question.params
        failure = refusal(method, params, self._ctx.declared)
        if failure is not None or call is None:
            return failure
        call.rounds.asked += 1
        too_many = _too_many(call, self._ctx.config.max_questions)
        return too_many or call.rounds.repeats.again(method, params)

    def unknown(self, message: Message, call: Call | None) -> None:
        """Answer, or pass on, a request of a legacy server that is no question."""
        if self._ctx.config.questions is Questions.CLIENT:
            self.direct(message, call)
            return
        body = {
            "code": METHOD_NOT_FOUND,
            "message": "Method not found",
            "data": message["method"],
        }
        self._ctx.send(jsonrpc.error(message["id"], body))

    def reply_of_client(self, message: Message) -> bool:
        """Take a response of the session; ``False`` when it answers nothing open."""
        server_id = message["id"]
        if not jsonrpc.is_id(server_id):
            return False
        if server_id in self._direct:
            self._end_direct(server_id)
            self._ctx.send(message)
            return True
        if "result" in message:
            return self.settle(server_id, Answer(message["result"]))
        error = message["error"]
        failure = Failure(
            Fault.REFUSED, error["message"], error["code"], error.get("data")
        )
        return self.settle(server_id, Refusal(failure))

    def _settle_direct(self, server_id: WireId, answer: Answer | Refusal) -> None:
        question, call = self._end_direct(server_id)
        if isinstance(answer, Answer):
            result = clean_answer(question.method, answer.result)
            if call is not None:
                call.rounds.repeats.note(question.method, question.params, result)
            self._ctx.send(jsonrpc.response(server_id, result))
            return
        if call is not None:
            call.refusal = answer.failure
        error = answer.to_server or answer.failure.for_server()
        self._ctx.send(jsonrpc.error(server_id, error))

    def _end_direct(self, server_id: WireId) -> tuple[Question, Call | None]:
        question, call = self._direct.pop(server_id)
        del self._direct_of[question.id]
        if call is not None:
            self._calls.resume(call)
        return question, call

    def withdrawn(self, server_id: object) -> bool:
        """Take back the question that a legacy server has cancelled."""
        if not jsonrpc.is_id(server_id) or server_id not in self._direct:
            return False
        question, _ = self._end_direct(server_id)
        if self._ctx.config.questions is Questions.SHELL:
            rounds.withdraw(self._ctx, question, "the server withdrew it")
        return True

    def _call_ended(self, call: Call) -> None:
        for question_id in call.rounds.open:
            self._round_of.pop(question_id, None)
        if not call.paused:
            return
        for server_id, (_, owner) in list(self._direct.items()):
            if owner is call:
                self._drop_direct(server_id, "its call has ended")

    def client_gone(self) -> None:
        """Take back every direct question: nobody is left to answer."""
        for server_id in list(self._direct):
            self._drop_direct(server_id, "the client side is closed")

    def _drop_direct(self, server_id: WireId, reason: str) -> None:
        question, _ = self._end_direct(server_id)
        self._withdraw_direct(server_id, question, reason)
        # The server still waits, and a request must not stay without an answer.
        body = {
            "code": INTERNAL_ERROR,
            "message": f"The question is withdrawn: {reason}",
        }
        self._ctx.send(jsonrpc.error(server_id, body))

    def server_gone(self) -> None:
        """Take back everything that a server has asked and can no longer hear."""
        for server_id in list(self._direct):
            question, _ = self._end_direct(server_id)
            self._withdraw_direct(server_id, question, "the server is gone")
        self._round_of.clear()

    def _withdraw_direct(
        self, server_id: WireId, question: Question, reason: str
    ) -> None:
        if self._ctx.config.questions is Questions.SHELL:
            rounds.withdraw(self._ctx, question, reason)
            return
        params = {"requestId": server_id, "reason": reason}
        self._ctx.deliver(jsonrpc.notification("notifications/cancelled", params))


def _too_many(call: Call, limit: int) -> Failure | None:
    if call.rounds.asked <= limit:
        return None
    return Failure(Fault.ROUNDS, f"{call.label} still asks after {limit} questions")


def _violation(call: Call, problem: str) -> Failure:
    message = (
        f"{call.label} was answered with an invalid InputRequiredResult: {problem}"
    )
    return Failure(Fault.VIOLATION, message)
