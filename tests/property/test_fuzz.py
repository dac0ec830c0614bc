"""Whatever either side sends, in whatever state: no input raises, and no request
of the client side is answered twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_anyera.engine import (
    Answer,
    Ask,
    CallOptions,
    Effect,
    Engine,
    Exchange,
    ExchangeFault,
    Fault,
    HttpFacts,
    Questions,
    SessionState,
    ToClient,
    ToServer,
)
from tests.engine.conversation import Talk, legacy, modern

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
IDS = (
    st.integers(0, 8)
    | st.sampled_from(["init", "0", "1", "5", "anyera-listen-3"])
    | JSON
)
METHODS = st.sampled_from(
    [
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "tools/call",
        "prompts/get",
        "resources/read",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "subscriptions/listen",
        "vendor/x",
        "elicitation/create",
        "sampling/createMessage",
        "roots/list",
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/message",
        "notifications/tools/list_changed",
        "notifications/resources/updated",
        "notifications/subscriptions/acknowledged",
        "notifications/vendor",
    ]
)
SUBSCRIPTION = st.fixed_dictionaries({"io.modelcontextprotocol/subscriptionId": IDS})
PARAMS = JSON | st.fixed_dictionaries(
    {},
    optional={
        "name": JSON,
        "uri": st.text(max_size=3) | JSON,
        "requestId": IDS,
        "progressToken": IDS,
        "progress": JSON,
        "level": st.sampled_from(["debug", "error"]) | JSON,
        "mode": st.sampled_from(["form", "url"]) | JSON,
        "url": st.just("https://a.b") | JSON,
        "notifications": JSON,
        "capabilities": JSON,
        "protocolVersion": st.sampled_from(["2025-11-25", "2025-06-18"]) | JSON,
        "_meta": SUBSCRIPTION | st.fixed_dictionaries({"progressToken": IDS}) | JSON,
    },
)
QUESTION = st.fixed_dictionaries({"method": METHODS, "params": PARAMS}) | JSON
RESULTS = JSON | st.fixed_dictionaries(
    {},
    optional={
        "resultType": st.sampled_from(["complete", "input_required", "task"]) | JSON,
        "inputRequests": st.dictionaries(st.text(max_size=2), QUESTION, max_size=3)
        | JSON,
        "requestState": st.text(max_size=3) | JSON,
        "supportedVersions": st.just(["2026-07-28"]) | st.just(["2025-03-26"]) | JSON,
        "protocolVersion": st.sampled_from(["2025-11-25", "2025-03-26", "2026-07-28"])
        | JSON,
        "capabilities": st.just(
            {"resources": {"subscribe": True}, "tools": {"listChanged": True}}
        )
        | JSON,
        "isError": st.booleans(),
        "tools": JSON,
        "structuredContent": JSON,
        "action": st.sampled_from(["accept", "decline"]),
    },
)
ERRORS = JSON | st.fixed_dictionaries(
    {
        "code": st.sampled_from([-32601, -32022, -32020, -32602]) | JSON,
        "message": st.text(max_size=3) | JSON,
    },
    optional={"data": st.just({"supported": ["2026-07-28"]}) | JSON},
)
MESSAGES = st.fixed_dictionaries(
    {}, optional={"id": IDS, "method": METHODS, "params": PARAMS}
) | st.fixed_dictionaries({"id": IDS}, optional={"result": RESULTS, "error": ERRORS})
ANYTHING = MESSAGES | st.lists(MESSAGES, max_size=3) | JSON
LEGS = st.none() | st.integers(0, 8) | st.just("anyera-listen-3")
FAULTS = st.builds(
    ExchangeFault,
    fault=st.sampled_from([Fault.HTTP, Fault.LOST, Fault.VIOLATION]),
    reason=st.just("HTTP"),
    http=st.builds(
        HttpFacts,
        status=st.none() | st.sampled_from([200, 307, 400, 401, 404, 405, 429, 503]),
    ),
    error=st.none()
    | st.fixed_dictionaries(
        {
            "code": st.sampled_from([-32601, -32022, -32020]),
            "message": st.text(max_size=3),
        },
        optional={"data": JSON},
    ),
    credentials=st.booleans(),
    session=st.sampled_from(SessionState),
)
STEPS = st.one_of(
    st.tuples(st.just("leg"), st.tuples(LEGS, ANYTHING)),
    st.tuples(st.just("failed"), st.tuples(st.integers(0, 12), FAULTS)),
    st.tuples(st.just("held"), st.tuples(st.integers(0, 12), st.booleans())),
    st.tuples(st.just("client"), ANYTHING),
    st.tuples(st.just("server"), ANYTHING),
    st.tuples(st.just("time"), st.sampled_from([0.0, 0.1, 1.0, 20.0, 400.0])),
    st.tuples(st.just("answer"), RESULTS),
    st.tuples(st.just("closed"), st.none()),
    st.tuples(st.just("started"), st.none()),
)
STARTS = st.sampled_from(["new", "modern", "legacy"])
OPTIONS = CallOptions(read_timeout=5.0, total_timeout=30.0)


def begin(start: str, questions: Questions, exchange: Exchange) -> Talk:
    config: dict[str, Any] = {
        "questions": questions,
        "log_level": "info",
        "restartable": exchange is Exchange.STREAM,
        "sse_fallback": exchange is Exchange.HTTP,
        "exchange": exchange,
    }
    if start == "new":
        return Talk(**config)
    return modern(**config) if start == "modern" else legacy(**config)


def leg(engine: Engine, value: tuple[Any, Any], now: float) -> list[Effect]:
    return engine.receive_from_server(value[1], now, value[0])


def held(engine: Engine, value: tuple[Any, Any], now: float) -> list[Effect]:
    return engine.exchange_held(value[0], now, held=value[1])


def failed(engine: Engine, value: tuple[Any, Any], now: float) -> list[Effect]:
    return engine.exchange_failed(value[0], value[1], now)


SERVER_INPUTS: dict[str, Callable[[Engine, Any, float], list[Effect]]] = {
    "server": lambda engine, value, now: engine.receive_from_server(value, now),
    "leg": leg,
    "failed": failed,
    "held": held,
    "closed": lambda engine, _, now: engine.server_closed("gone", now),
    "started": lambda engine, _, now: engine.server_started(now),
}


class Watch:
    """Counts what went in and what came out."""

    def __init__(self) -> None:
        self.asked: Counter[Any] = Counter()
        self.answered: Counter[Any] = Counter()
        self.wire_ids: list[Any] = []
        self.questions: list[str] = []

    def see(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, ToClient) and "method" not in effect.message:
                self.answered[effect.message["id"]] += 1
            elif (
                isinstance(effect, ToServer)
                and {"id", "method"} <= effect.message.keys()
            ):
                self.wire_ids.append(effect.message["id"])
            elif isinstance(effect, Ask):
                self.questions.append(effect.question.id)

    def expect(self, message: Any) -> None:
        # What is malformed may be answered without an id: the one that it names
        # may be in use, and that request must not end by it.
        self.asked[None] += 1
        if isinstance(message, dict):
            key: Any = message.get("id")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            if isinstance(key, (str, int)) and not isinstance(key, bool):
                self.asked[key] += 1


@settings(max_examples=1500)
@given(
    STARTS,
    st.sampled_from(Questions),
    st.sampled_from(Exchange),
    st.lists(STEPS, max_size=25),
)
def test_no_input_raises_and_no_request_is_answered_twice(
    start: str, questions: Questions, exchange: Exchange, steps: list[tuple[str, Any]]
) -> None:
    talk, watch = begin(start, questions, exchange), Watch()
    engine, now = talk.engine, talk.now
    for kind, value in steps:
        if kind == "client":
            watch.expect(value)
            watch.see(engine.receive_from_client(value, now, OPTIONS))
        elif kind in SERVER_INPUTS:
            watch.see(SERVER_INPUTS[kind](engine, value, now))
        elif kind == "time":
            now += value
            watch.see(engine.tick(now))
        elif kind == "answer" and watch.questions and isinstance(value, dict):
            watch.see(engine.answer(watch.questions.pop(), Answer(value), now))  # pyright: ignore[reportUnknownArgumentType]
    watch.see(engine.client_closed(now))
    assert engine.in_flight == 0
    for key, count in watch.answered.items():
        assert count <= watch.asked[key], key
    assert len(watch.wire_ids) == len(set(watch.wire_ids))


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=5))
def test_what_the_layer_does_not_know_passes_unchanged(members: dict[str, Any]) -> None:
    known = {
        "resultType",
        "ttlMs",
        "cacheScope",
        "_meta",
        "inputRequests",
        "requestState",
    }
    body = {key: value for key, value in members.items() if key not in known}
    for talk in (modern(), legacy()):
        talk.client_says(
            {"jsonrpc": "2.0", "id": 1, "method": "vendor/x", "params": body}
        )
        wire = talk.server_sees(method="vendor/x")
        sent = {key: value for key, value in wire["params"].items() if key != "_meta"}
        assert sent.keys() == body.keys()
        assert all(sent[key] is body[key] for key in body)
        talk.server_says({"jsonrpc": "2.0", "id": wire["id"], "result": body})
        seen = talk.client_sees(id=1)["result"]
        assert seen.keys() == body.keys()
        assert all(seen[key] is body[key] for key in body)
