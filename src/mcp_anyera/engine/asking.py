"""From a server's questions to the retry of the call that they came with.

`required` and `page_required` start a round, `settle` takes the answers, and the
last one sends the retry. A page that was agreed to is not shown again in the same
call: a server that still waits for its user there is asked again from time to
time, as one that asks for nothing but patience is.
"""

from __future__ import annotations

from typing import Any

from mcp_anyera.engine import consents, jsonrpc, older, rounds
from mcp_anyera.engine.calls import Call, Calls
from mcp_anyera.engine.config import Questions
from mcp_anyera.engine.context import Context, WireId
from mcp_anyera.engine.direct import AS_BEFORE, Direct
from mcp_anyera.engine.effects import Ask, Message, ToClient
from mcp_anyera.engine.events import Refused, RoundBegun
from mcp_anyera.engine.failures import INVALID_PARAMS, Failure, Fault
from mcp_anyera.engine.questions import (
    Answer,
    Dialect,
    Question,
    Refusal,
    clean_answer,
    refusal,
    with_elicitation_id,
)


class Asking:
    """The questions that are open on one connection."""

    def __init__(self, context: Context, calls: Calls) -> None:
        self._ctx = context
        self._calls = calls
        self._round_of: dict[WireId, tuple[Question, Call]] = {}
        self.direct: Direct = Direct(context, calls)
        """What a legacy server asks by requests of its own."""
        calls.on_close = self._call_ended

    # -- modern: a round -----------------------------------------------------------

    def required(self, call: Call, result: dict[str, Any]) -> None:
        """Work on a result that says ``input_required``."""
        parsed = rounds.parse(call.method, result)
        if isinstance(parsed, str):
            self._calls.fail(call, _violation(call, parsed))
            return
        self._begin(call, parsed)

    def _begin(self, call: Call, parsed: rounds.InputRequired) -> None:
        state, requests = call.rounds, parsed.requests or {}
        state.newest = parsed
        state.answers = {
            key: {"action": "accept"}
            for key, request in requests.items()
            if consents.page_of(request) in state.agreed
        }
        new = {key: req for key, req in requests.items() if key not in state.answers}
        if not new:
            self._wait(call)
        elif (failure := self._excess(call, new)) is not None:
            self._calls.fail(call, failure)
        else:
            self._ask_all(call, new)

    # -- legacy: an error that asks for a visit ------------------------------------

    def page_required(self, call: Call, error: dict[str, Any]) -> bool:
        """Take an error that asks for a visit to a page; ``False`` for any other."""
        pages = consents.pages_in(error)
        if pages is None or self._ctx.config.questions is Questions.CLIENT:
            return False
        call.rounds.required = error
        self._begin(call, rounds.InputRequired(pages, None))
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
        if result.get("action") == "accept":
            page = consents.page_of({"params": question.params})
            call.rounds.agreed |= set() if page is None else {page}
            return True
        if question.dialect is not Dialect.URL_REQUIRED:
            return True
        text = f"{call.label} needs a visit to a web page, and the user said no"
        failure = Failure(Fault.DECLINED, text, cause=call.rounds.required)
        self._calls.fail(call, failure)
        return False

    def _excess(self, call: Call, left: dict[str, dict[str, Any]]) -> Failure | None:
        config = self._ctx.config
        call.rounds.number += 1
        call.rounds.asked += len(left)
        if call.rounds.number > config.max_rounds:
            limit = f"{config.max_rounds} rounds (input_required_max_rounds)"
        elif call.rounds.asked > config.max_questions:
            limit = f"{config.max_questions} questions (max_questions)"
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
        said = refusal(method, params, self._ctx.declared) or self._unsayable(request)
        said = said or call.rounds.repeats.again(method, params)
        if said is None or isinstance(said, Failure):
            return said
        self._ctx.notice(Refused(method, AS_BEFORE))
        call.rounds.answers[key] = said
        return None

    def _unsayable(self, request: dict[str, Any]) -> Failure | None:
        revision = self._ctx.face_revision
        if self._ctx.config.questions is Questions.SHELL:
            return None
        asked = (request["method"], jsonrpc.params_of(request))
        problem = older.question(revision, *asked)
        if not isinstance(problem, str):
            return None
        text = (
            f"the server's {request['method']} has {problem}, which a session at "
            f"{revision} cannot be asked; let the session start with a newer revision"
        )
        return Failure(Fault.REFUSED, text, INVALID_PARAMS)

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
        asked = (question.method, question.params)
        params = older.question(self._ctx.face_revision, *asked)
        assert not isinstance(params, str)
        bare = question.method == "roots/list" and not params
        message = jsonrpc.request(
            question.id, question.method, None if bare else params
        )
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
        if self.direct.settle(question_id, answer):
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

    # -- the session ---------------------------------------------------------------

    def reply_of_client(self, message: Message) -> bool:
        """Take a response of the session; ``False`` when it answers nothing open."""
        key = message["id"]
        if not jsonrpc.is_id(key):
            return False
        if self.direct.reply_of_client(message):
            return True
        if "result" in message:
            return self.settle(key, Answer(message["result"]))
        error = message["error"]
        failure = Failure(
            Fault.REFUSED, error["message"], error["code"], error.get("data")
        )
        return self.settle(key, Refusal(failure))

    # -- the end -------------------------------------------------------------------

    def _call_ended(self, call: Call) -> None:
        for question_id in call.rounds.open:
            self._round_of.pop(question_id, None)
        self.direct.call_ended(call)

    def server_gone(self) -> None:
        """Take back everything that a server has asked and can no longer hear."""
        self.direct.server_gone()
        self._round_of.clear()


def _violation(call: Call, problem: str) -> Failure:
    message = (
        f"{call.label} was answered with an invalid InputRequiredResult: {problem}"
    )
    return Failure(Fault.VIOLATION, message)
