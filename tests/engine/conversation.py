"""The notation of the engine's tests: a conversation that reads like a transcript.

Each input must leave no effect unlooked-at: the next input, and the end of the
``with`` block, fail if one is left.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Self, TypeVar, cast

from mcp_anyera.engine import (
    AbortLeg,
    Answer,
    Ask,
    CallOptions,
    Connected,
    Effect,
    Engine,
    EngineConfig,
    Event,
    ExchangeFault,
    Failure,
    FallBack,
    Fault,
    HttpFacts,
    Notice,
    Question,
    Refusal,
    RestartServer,
    ToClient,
    ToServer,
    Withdraw,
)

Json = dict[str, Any]
T = TypeVar("T")

CLIENT_INFO: Json = {"name": "test", "version": "1"}
ALL: Json = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}},
    "roots": {"listChanged": True},
}
DISCOVER: Json = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": False},
    },
    "ttlMs": 1,
    "cacheScope": "public",
    "instructions": "be kind",
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "2"}},
}
INITIALIZED: Json = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "s", "version": "2"},
}
FORM: Json = {
    "method": "elicitation/create",
    "params": {"message": "?", "requestedSchema": {}},
}
SAMPLE: Json = {
    "method": "sampling/createMessage",
    "params": {"messages": [], "maxTokens": 1},
}
ROOTS: Json = {"method": "roots/list"}


def request(id_: int | str, method: str, params: Any = None) -> Json:
    message: Json = {"jsonrpc": "2.0", "id": id_, "method": method}
    return message if params is None else {**message, "params": params}


def notification(method: str, params: Any = None) -> Json:
    message: Json = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def result(id_: Any, body: Any = None) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "result": {} if body is None else body}


def error(id_: Any, code: int = -32000, message: str = "no", data: Any = None) -> Json:
    body: Json = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return {"jsonrpc": "2.0", "id": id_, "error": body}


def initialize(capabilities: Json = ALL, version: str = "2025-11-25") -> Json:
    params = {
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": CLIENT_INFO,
    }
    return request("init", "initialize", params)


def rounds(**members: Any) -> Json:
    return {"resultType": "input_required", **members}


def contains(whole: Any, part: Any) -> bool:
    """Tell whether every member of ``part`` is in ``whole``, with the same value."""
    if not (isinstance(part, dict) and isinstance(whole, dict)):
        return bool(whole == part)
    members, wanted = cast("Json", whole), cast("Json", part)
    return all(
        key in members and contains(members[key], value)
        for key, value in wanted.items()
    )


class Talk:
    """One conversation with one engine."""

    def __init__(self, **config: Any) -> None:
        self.engine = Engine(EngineConfig(**config))
        self.now = 100.0
        self._left: deque[Effect] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_rest: object) -> None:
        if kind is None:
            self.nothing_more()

    # -- inputs --------------------------------------------------------------------

    def client_says(self, message: Any, **options: Any) -> None:
        given = CallOptions(**options)
        self._take(self.engine.receive_from_client(message, self.now, given))

    def server_says(self, message: Any, leg: int | str | None = None) -> None:
        self._take(self.engine.receive_from_server(message, self.now, leg))

    def answers(self, question: Question, body: Json) -> None:
        self._take(self.engine.answer(question.id, Answer(body), self.now))

    def refuses(
        self, question: Question, failure: Failure, told: Json | None = None
    ) -> None:
        self._take(self.engine.answer(question.id, Refusal(failure, told), self.now))

    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self._take(self.engine.tick(self.now))

    def exchange_fails(
        self,
        leg: int | str,
        status: int | None = None,
        error: Json | None = None,
        fault: Fault = Fault.HTTP,
        **more: Any,
    ) -> None:
        """The exchange of a request ends without a result."""
        http = HttpFacts(status, more.pop("challenge", None), more.pop("later", None))
        reason = "the line broke" if status is None else f"HTTP {status}"
        kind = Fault.LOST if status is None else fault
        body = None if error is None else error["error"]
        given = ExchangeFault(fault=kind, reason=reason, http=http, error=body, **more)
        self._take(self.engine.exchange_failed(leg, given, self.now))

    def server_ends(self, why: str = "exit status 1") -> None:
        self._take(self.engine.server_closed(why, self.now))

    def server_starts(self) -> None:
        self._take(self.engine.server_started(self.now))

    def client_leaves(self) -> None:
        self._take(self.engine.client_closed(self.now))

    def _take(self, effects: list[Effect]) -> None:
        self.nothing_more()
        self._left.extend(effects)

    # -- what is seen --------------------------------------------------------------

    def server_sees(self, **members: Any) -> Json:
        """The next effect goes to the server and has these members."""
        message = self._next(ToServer).message
        assert contains(message, members), f"{message} lacks {members}"
        return message

    def client_sees(self, **members: Any) -> Json:
        """The next effect goes to the client side, and was not made here."""
        effect = self._next(ToClient)
        assert effect.failure is None, effect
        assert contains(effect.message, members), f"{effect.message} lacks {members}"
        return effect.message

    def client_fails(self, id_: Any, text: str, code: int | None = None) -> Failure:
        """The next effect ends a request of the client side with a failure of ours."""
        effect = self._next(ToClient)
        assert effect.failure is not None, effect
        assert effect.message["id"] == id_
        assert effect.message["error"]["message"] == effect.failure.message == text
        assert code in {None, effect.message["error"]["code"]}, effect.message
        return effect.failure

    def client_failure(self, id_: Any) -> Failure:
        """The next effect ends a request with a failure of ours, whatever its text."""
        effect = self._next(ToClient)
        assert effect.failure is not None, effect
        assert effect.message["id"] == id_
        return effect.failure

    def asks(self, method: str) -> Question:
        question = self._next(Ask).question
        assert question.method == method
        return question

    def withdraws(self, question: Question) -> None:
        assert self._next(Withdraw).question is question

    def aborts(self, wire_id: int | str) -> None:
        assert self._next(AbortLeg).wire_id == wire_id

    def falls_back(self) -> None:
        self._next(FallBack)

    def headers(self) -> dict[str, str]:
        """The headers of the message that goes to the server next; it stays there."""
        effect = self._left[0]
        assert isinstance(effect, ToServer), effect
        assert effect.headers is not None
        return effect.headers

    def restarts(self) -> None:
        self._next(RestartServer)

    def notices(self, kind: type[T]) -> T:
        event: Event = self._next(Notice).event
        assert isinstance(event, kind), event
        return event

    def nothing_more(self) -> None:
        assert not self._left, f"not looked at: {list(self._left)}"

    def _next(self, kind: type[T]) -> T:
        assert self._left, f"nothing left where {kind.__name__} was expected"
        effect = self._left.popleft()
        assert isinstance(effect, kind), f"{effect} where {kind.__name__} was expected"
        return effect


def modern(
    capabilities: Json = ALL,
    discover: Json = DISCOVER,
    version: str = "2025-11-25",
    proven: bool = True,
    **config: Any,
) -> Talk:
    """Return a conversation whose opening found a modern server."""
    talk = Talk(**config)
    talk.client_says(initialize(capabilities, version))
    probe = talk.server_sees(method="server/discover")
    talk.server_says(result(probe["id"], discover))
    talk.notices(Connected)
    talk.client_sees(id="init")
    if proven:
        # As after a first success; what comes before is the matter of test_proof.
        talk.engine._ctx.doubt = None  # pyright: ignore[reportPrivateUsage]
    return talk


def legacy(
    capabilities: Json = ALL,
    answer: Json = INITIALIZED,
    version: str = "2025-11-25",
    **config: Any,
) -> Talk:
    """Return a conversation whose opening found a legacy server."""
    talk = Talk(**{"mode": "legacy", **config})
    talk.client_says(initialize(capabilities, version))
    wire = talk.server_sees(method="initialize")
    talk.server_says(result(wire["id"], answer))
    talk.notices(Connected)
    talk.client_sees(id="init")
    return talk
