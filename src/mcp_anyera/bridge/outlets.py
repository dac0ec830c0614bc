"""Where a message goes that one client of the HTTP face should hear.

A client reads the response of each of its POSTs and one stream of its own. What
belongs to a call goes on that call's response where anybody can say which call that
is; all else goes on the client's own stream, or waits for it.

Spec: 2025-11-25 ``basic/transports`` § Sending Messages, § Listening for Messages.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Final

from mcp_anyera.bridge.writing import written
from mcp_anyera.engine import Message, ToClient, jsonrpc

MOST_WAITING: Final = 1000
"""Messages that wait for a client that has no stream open; then the oldest go."""
_CHANGES: Final = ("/list_changed", "/updated")
"""How the methods end that belong to no call."""
PING_AFTER: Final = 15.0
"""Seconds of silence before a comment shows that the stream is alive."""


class Outlet:
    """One response that is being written: of a POST, or the client's own stream."""

    def __init__(self, waited_for: Iterable[int | str] = ()) -> None:
        """Open it.

        Args:
            waited_for: The requests whose answers end it; none for a stream that
                goes on.
        """
        self.waited_for: set[int | str] = set(waited_for)
        self._endless = not self.waited_for
        self._queue: asyncio.Queue[Message | None] = asyncio.Queue()

    def put(self, message: Message) -> None:
        """Send a message on its way."""
        self._queue.put_nowait(message)
        if "method" not in message:
            self.waited_for.discard(message["id"])
            self._end_if_done()

    def give_up(self, request_id: int | str) -> None:
        """Wait no longer for an answer, as its request was cancelled."""
        self.waited_for.discard(request_id)
        self._end_if_done()

    def close(self) -> None:
        """End it."""
        self._queue.put_nowait(None)

    def _end_if_done(self) -> None:
        if not self._endless and not self.waited_for:
            self.close()

    async def first(self, seconds: float | None) -> Message | None:
        """Return the first message, or ``None`` when there is none.

        Raises:
            TimeoutError: Nothing came within that time.
        """
        async with asyncio.timeout(seconds):
            return await self._queue.get()

    async def events(self, first: Message | None = None) -> AsyncIterator[bytes]:
        """Yield server-sent events until the outlet is closed."""
        yield b": \n\n"
        message = first
        while True:
            if message is not None and (text := written(message)) is not None:
                yield f"event: message\ndata: {text}\n\n".encode()
            try:
                message = await self.first(PING_AFTER)
            except TimeoutError:
                yield b": \n\n"
                message = None
            else:
                if message is None:
                    return


class Outlets:
    """All that one client reads."""

    def __init__(self) -> None:
        self._of_request: dict[int | str, Outlet] = {}
        self._of_token: dict[int | str, int | str] = {}
        self._of_question: dict[int | str, Outlet] = {}
        self._own: Outlet | None = None
        self._waiting: deque[Message] = deque(maxlen=MOST_WAITING)

    @property
    def busy(self) -> bool:
        """Whether anything is open."""
        return self._own is not None or bool(self._of_request)

    # -- opening and closing ---------------------------------------------------------

    def taken(self, requests: Sequence[Message]) -> int | str | None:
        """Return an id among requests that is in use already, if there is one."""
        seen = set(self._of_request)
        for request in requests:
            if request["id"] in seen:
                return request["id"]
            seen.add(request["id"])
        return None

    def open(self, requests: Iterable[Message]) -> Outlet:
        """Open the response to requests of the client."""
        named = {request["id"]: request for request in requests}
        outlet = Outlet(named)
        for request_id, request in named.items():
            self._of_request[request_id] = outlet
            meta = jsonrpc.meta_of(jsonrpc.params_of(request))
            token = meta.get("progressToken")
            if jsonrpc.is_id(token):
                self._of_token[token] = request_id
        return outlet

    def open_own(self) -> Outlet | None:
        """Open the client's own stream; ``None`` when it has one."""
        if self._own is not None:
            return None
        self._own = outlet = Outlet()
        while self._waiting:
            outlet.put(self._waiting.popleft())
        return outlet

    def left(self, outlet: Outlet) -> None:
        """Forget an outlet that nobody reads any more; its calls go on."""
        if outlet is self._own:
            self._own = None
        for request_id in [k for k, v in self._of_request.items() if v is outlet]:
            self._forget(request_id)

    def cancelled(self, request_id: object) -> None:
        """Note that the client wants no answer to a request any more."""
        if jsonrpc.is_id(request_id) and request_id in self._of_request:
            self._of_request[request_id].give_up(request_id)
            self._forget(request_id)

    def close(self) -> None:
        """End everything that is open."""
        for outlet in {*self._of_request.values(), *([self._own] if self._own else [])}:
            outlet.close()

    def _forget(self, request_id: int | str) -> None:
        del self._of_request[request_id]
        for token in [k for k, v in self._of_token.items() if v == request_id]:
            del self._of_token[token]

    # -- messages --------------------------------------------------------------------

    def put(self, effect: ToClient) -> None:
        """Send a message to where the client will read it."""
        message = effect.message
        if "method" not in message:
            self._answer(message)
            return
        outlet = self._for(effect)
        if outlet is None:
            self._waiting.append(message)
            return
        if "id" in message:
            self._of_question[message["id"]] = outlet
        outlet.put(message)

    def answered(self, question_id: object) -> None:
        """Note that the client has answered a question."""
        if jsonrpc.is_id(question_id):
            self._of_question.pop(question_id, None)

    def _answer(self, message: Message) -> None:
        outlet = self._of_request.get(message["id"])
        if outlet is not None:
            self._forget(message["id"])
            outlet.put(message)

    def _for(self, effect: ToClient) -> Outlet | None:
        message = effect.message
        params: dict[str, Any] = jsonrpc.params_of(message)
        known = None
        if effect.call is not None:
            known = self._of_request.get(effect.call)
        elif message["method"] == "notifications/progress":
            request_id = self._of_token.get(params.get("progressToken", ""))
            known = self._of_request.get(request_id) if request_id is not None else None
        elif message["method"] == "notifications/cancelled":
            known = self._of_question.pop(params.get("requestId", ""), None)
        elif message["method"].endswith(_CHANGES):
            known = self._own
        return known or self._best_guess()

    def _best_guess(self) -> Outlet | None:
        # With one call open it is the one; with several nobody can say, and a client
        # reads all of them.
        open_now = list(dict.fromkeys(self._of_request.values()))
        if len(open_now) == 1:
            return open_now[0]
        if self._own is not None or not open_now:
            return self._own
        return open_now[0]
