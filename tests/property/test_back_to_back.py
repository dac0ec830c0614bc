"""Two engines back to back: a client in front of a bridge in front of a server.

Engine A faces the model client and takes engine B for a legacy server; B faces
the model server, which is modern or legacy. Questions travel as rounds behind B
and as direct requests between the two, so both dialects are driven at once.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from mcp_anyera.engine import (
    Answer,
    Ask,
    CallOptions,
    Effect,
    Engine,
    EngineConfig,
    Failure,
    Fault,
    Question,
    Questions,
    Refusal,
    ToClient,
    ToServer,
    Withdraw,
)
from tests.engine.conversation import (
    ALL,
    DISCOVER,
    FORM,
    INITIALIZED,
    ROOTS,
    SAMPLE,
    error,
    notification,
    request,
    result,
    rounds,
)
from tests.engine.conversation import initialize as hello

Json = dict[str, Any]
ASKING = ("tools/call", "prompts/get", "resources/read")
KINDS = st.sampled_from([FORM, SAMPLE, ROOTS])
STATES = st.none() | st.text(max_size=4) | st.sampled_from(["", " ", "\n"])
RARELY = st.integers(0, 7).map(lambda number: number == 5)
"""True now and then: what ends a conversation leaves little to see."""


class BackToBack(RuleBasedStateMachine):
    """The model client, the model server, and what must hold between them."""

    @initialize(modern=st.sampled_from([True, True, False]), shell=st.booleans())
    def open(self, modern: bool, shell: bool) -> None:
        self.modern = modern
        self.now = 0.0
        questions = Questions.SHELL if shell else Questions.CLIENT
        self.a = Engine(
            EngineConfig(questions=questions, list_changes=False, prefix="a")
        )
        self.b = Engine(EngineConfig(list_changes=False, prefix="b"))
        self.alive = True
        self.next_id = 0
        self.next_question = 0
        self.open_requests: dict[Any, Json] = {}
        self.answers: dict[Any, int] = {}
        self.cancelled: set[Any] = set()
        self.pending: dict[Any, Json] = {}
        """Requests that the model server has not answered."""
        self.expected: dict[str, tuple[set[str] | None, str | None]] = {}
        """By call name: the keys and the state that its retry must carry."""
        self.wire_ids: set[Any] = set()
        self.asked: dict[Any, Question | None] = {}
        """Questions that the model client has not answered."""
        self.direct: set[Any] = set()
        self.progress: dict[Any, float] = {}
        self.say(hello(ALL))
        assert self.a.era is not None
        assert self.b.era is not None
        self.say(notification("notifications/initialized"))

    # -- plumbing ------------------------------------------------------------------

    def say(self, message: Json, **options: Any) -> None:
        self.perform_a(
            self.a.receive_from_client(message, self.now, CallOptions(**options))
        )

    def perform_a(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, ToServer):
                self.perform_b(self.b.receive_from_client(effect.message, self.now))
            elif isinstance(effect, ToClient):
                self.client_hears(effect.message)
            elif isinstance(effect, Ask):
                self.asked[effect.question.id] = effect.question
            elif isinstance(effect, Withdraw):
                del self.asked[effect.question.id]

    def perform_b(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, ToServer):
                self.server_hears(effect.message)
            elif isinstance(effect, ToClient):
                self.perform_a(self.a.receive_from_server(effect.message, self.now))

    def server_says(self, message: Any) -> None:
        self.perform_b(self.b.receive_from_server(message, self.now))

    # -- the model client ----------------------------------------------------------

    def client_hears(self, message: Json) -> None:
        if "method" not in message:
            self.answers[message["id"]] = self.answers.get(message["id"], 0) + 1
            self.open_requests.pop(message["id"], None)
        elif "id" in message:
            self.asked[message["id"]] = None
        elif message["method"] == "notifications/cancelled":
            del self.asked[message["params"]["requestId"]]
        elif message["method"] == "notifications/progress":
            token, value = (
                message["params"]["progressToken"],
                message["params"]["progress"],
            )
            assert value > self.progress.get(token, 0), "progress must rise"
            self.progress[token] = value

    # -- the model server ----------------------------------------------------------

    def server_hears(self, message: Json) -> None:
        if "method" not in message:
            assert message["id"] in self.direct, "an answer to no question"
            self.direct.discard(message["id"])
        elif "id" in message:
            assert message["id"] not in self.wire_ids, "a wire id was used twice"
            self.wire_ids.add(message["id"])
            self.take_request(message)
        elif message["method"] == "notifications/cancelled":
            self.pending.pop(message["params"]["requestId"], None)

    def take_request(self, message: Json) -> None:
        if message["method"] == "server/discover":
            reply = (
                result(message["id"], DISCOVER)
                if self.modern
                else error(message["id"], -32601)
            )
            self.server_says(reply)
        elif message["method"] == "initialize":
            self.server_says(result(message["id"], INITIALIZED))
        else:
            self.check_retry(message["params"])
            self.pending[message["id"]] = message

    def check_retry(self, params: Json) -> None:
        keys, state = self.expected.pop(params["name"], (None, None))
        given = params.get("inputResponses")
        assert (None if given is None else set(given)) == keys
        assert params.get("requestState") == state

    # -- what may happen -----------------------------------------------------------

    @rule(method=st.sampled_from([*ASKING, *ASKING, "vendor/x"]), timed=RARELY)
    def call(self, method: str, timed: bool) -> None:
        self.next_id += 1
        params = {"name": f"n{self.next_id}", "_meta": {"progressToken": self.next_id}}
        message = request(self.next_id, method, params)
        self.open_requests[self.next_id] = message
        self.say(message, read_timeout=60.0 if timed else None)

    @precondition(lambda self: self.open_requests)
    @rule(data=st.data(), really=RARELY)
    def cancel(self, data: st.DataObject, really: bool) -> None:
        if not really:
            return
        key = data.draw(st.sampled_from(sorted(self.open_requests)))
        del self.open_requests[key]
        self.cancelled.add(key)
        self.say(notification("notifications/cancelled", {"requestId": key}))

    @precondition(lambda self: self.alive and self.pending)
    @rule(
        data=st.data(),
        how=st.sampled_from(["complete", "error", "malformed", "unknown", "not yet"]),
    )
    def reply(self, data: st.DataObject, how: str) -> None:
        if how == "not yet":
            return
        key = data.draw(st.sampled_from(sorted(self.pending)))
        del self.pending[key]
        self.server_says(
            {
                "complete": result(key, {"content": []}),
                "error": error(key, -32603),
                "malformed": {"jsonrpc": "2.0", "id": key, "result": 3},
                "unknown": result(key, {"resultType": "later"}),
            }[how]
        )

    @precondition(lambda self: self.alive and self.modern and self.pending)
    @rule(
        data=st.data(),
        questions=st.dictionaries(
            st.sampled_from("abc"), KINDS, min_size=1, max_size=3
        ),
        state=STATES,
    )
    def ask_in_a_round(
        self, data: st.DataObject, questions: Json, state: str | None
    ) -> None:
        self.ask(data, questions, state)

    @precondition(lambda self: self.alive and self.modern and self.pending)
    @rule(data=st.data(), questions=st.none() | st.just(dict[str, Any]()), state=STATES)
    def ask_for_patience(
        self, data: st.DataObject, questions: Any, state: str | None
    ) -> None:
        self.ask(data, questions, state)

    def ask(self, data: st.DataObject, questions: Any, state: str | None) -> None:
        key = data.draw(st.sampled_from(sorted(self.pending)))
        message = self.pending.pop(key)
        body: Json = {} if questions is None else {"inputRequests": questions}
        if state is not None:
            body["requestState"] = state
        if message["method"] in ASKING and body:
            keys = None if questions is None else set(questions)
            self.expected[message["params"]["name"]] = (keys, state)
        self.server_says(result(key, rounds(**body)))

    @precondition(lambda self: self.alive and not self.modern)
    @rule(kind=KINDS)
    def ask_directly(self, kind: Json) -> None:
        self.next_question += 1
        key = f"q{self.next_question}"
        self.direct.add(key)
        self.server_says({"jsonrpc": "2.0", "id": key, **kind})

    @precondition(lambda self: self.alive and self.direct)
    @rule(data=st.data())
    def withdraw_directly(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.direct)))
        self.direct.discard(key)
        self.server_says(notification("notifications/cancelled", {"requestId": key}))

    @precondition(lambda self: self.asked)
    @rule(data=st.data(), refuse=RARELY, twice=st.booleans())
    def answer(self, data: st.DataObject, refuse: bool, twice: bool) -> None:
        key = data.draw(st.sampled_from(sorted(self.asked)))
        question = self.asked.pop(key)
        for _ in range(1 + twice):
            self.give_answer(key, question, refuse)

    def give_answer(self, key: Any, question: Question | None, refuse: bool) -> None:
        if question is None:
            self.say(error(key, -1) if refuse else result(key, {"action": "accept"}))
            return
        given = (
            Refusal(Failure(Fault.REFUSED, "no"))
            if refuse
            else Answer({"action": "accept"})
        )
        self.perform_a(self.a.answer(key, given, self.now))

    @precondition(lambda self: self.alive and self.pending)
    @rule(data=st.data(), restart=st.booleans())
    def report_progress(self, data: st.DataObject, restart: bool) -> None:
        key = data.draw(st.sampled_from(sorted(self.pending)))
        message = self.pending[key]
        token = message["params"]["_meta"]["progressToken"]
        leg = message.setdefault(
            "leg",
            {"value": 0 if restart or not self.modern else self.progress.get(token, 0)},
        )
        value = leg["value"] = (
            max(leg["value"], 0 if self.modern else self.progress.get(token, 0)) + 1
        )
        self.server_says(
            notification(
                "notifications/progress", {"progressToken": token, "progress": value}
            )
        )

    @precondition(lambda self: self.alive)
    @rule(
        key=st.integers(0, 50),
        junk=st.sampled_from([None, [], {}, {"id": []}, {"method": 3}]),
    )
    def say_nonsense(self, key: int, junk: Any) -> None:
        if key not in self.pending:
            self.server_says(result(key))
        self.server_says(junk)

    @rule(seconds=st.sampled_from([0.01, 0.1, 1.0, 6.0, 61.0]))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.perform_b(self.b.tick(self.now))
        self.perform_a(self.a.tick(self.now))

    @precondition(lambda self: self.alive)
    @rule(chance=st.integers(0, 40))
    def die(self, chance: int) -> None:
        if chance != 17:  # dying early would leave little to see
            return
        self.alive = False
        self.pending.clear()
        self.direct.clear()
        self.perform_b(self.b.server_closed("gone", self.now))

    # -- what must hold ------------------------------------------------------------

    @invariant()
    def every_request_is_answered_at_most_once(self) -> None:
        if hasattr(self, "answers"):
            assert all(count == 1 for count in self.answers.values())
            assert not self.cancelled & self.answers.keys()

    def teardown(self) -> None:
        if not hasattr(self, "a"):
            return
        for _ in range(1000):
            if not (self.asked or self.pending or self.open_requests):
                break
            self.settle_a_step()
        assert self.answers.keys() | self.cancelled == {
            "init",
            *range(1, self.next_id + 1),
        }
        assert self.a.in_flight == self.b.in_flight == 0
        assert not self.direct or not self.alive
        for engine in (self.a, self.b):
            engine.tick(self.now + 1000)
            assert not engine._asking._round_of  # pyright: ignore[reportPrivateUsage]
            assert engine.deadline is None

    def settle_a_step(self) -> None:
        for key in list(self.asked):
            if key in self.asked:
                self.give_answer(key, self.asked.pop(key), False)
        for key in list(self.pending):
            if self.pending.pop(key, None) is not None:
                self.server_says(result(key, {"content": []}))
        self.pass_time(6.0)


TestBackToBack = BackToBack.TestCase
TestBackToBack.settings = settings(max_examples=400, stateful_step_count=50)
