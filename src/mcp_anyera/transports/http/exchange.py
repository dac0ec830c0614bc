"""One request over HTTP, from the POST to the reply, in either era.

Spec: 2026-07-28 and 2025-11-25 ``basic/transports`` (Streamable HTTP).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias, cast

import anyio.abc

from mcp_anyera.engine import ExchangeFault, Fault
from mcp_anyera.engine.headers import METHOD_HEADER
from mcp_anyera.transports.http.channel import Channel, Cursor, content_type, facts
from mcp_anyera.transports.http.library import httpx
from mcp_anyera.transports.http.session import EVENTS, SESSION_HEADER, LegacySession
from mcp_anyera.transports.http.sse import SentEvent, TooLarge
from mcp_anyera.transports.wire import (
    Held,
    Malformed,
    Received,
    Suspicion,
    from_json,
)

Put: TypeAlias = Callable[[object], None]
"""Takes what arrives."""

POST_HEADERS: Final = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
}
_JSON: Final = "application/json"
_STATELESS: Final = (
    "the server handed out no session, and a stateless legacy server cannot ask "
    "anything"
)
_JSON_MODE: Final = (
    "the server replies with JSON instead of event streams, and such a legacy "
    "server can ask little or nothing during a call"
)


@dataclass(frozen=True, slots=True)
class Request:
    """A request on its way."""

    leg: int | str
    method: str
    headers: dict[str, str]
    body: bytes
    session: str | None = None
    """The session that was there when it was made; it may be gone by now."""

    @property
    def opens(self) -> bool:
        """Whether it belongs to no session yet."""
        return self.method in {"initialize", "server/discover"}

    @property
    def modern(self) -> bool:
        """Whether it is a request of the modern era."""
        return METHOD_HEADER in self.headers


class Exchanger:
    """Runs the requests of one wire, each on its own."""

    def __init__(
        self,
        channel: Channel,
        session: LegacySession,
        put: Put,
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        self._channel = channel
        self._session = session
        self._put = put
        self._tasks = tasks

    async def run(self, request: Request) -> ExchangeFault | None:
        """Make a request; what comes of it is put where it belongs.

        Args:
            request: The request; it may be made in either era.

        Returns:
            How it failed; ``None`` when a reply has come. It raises nothing, for
            an exception would end every other exchange too.
        """
        try:
            return await self._exchange(request)
        except Exception as error:  # noqa: BLE001 - an auth flow may raise anything
            return _broken(error)

    async def _exchange(self, request: Request) -> ExchangeFault | None:
        if request.modern and not request.opens:
            # A server that has become modern knows no sessions any more.
            self._session.drop()
        belongs = not (request.opens or request.modern)
        named = request.session if belongs else None
        headers = {**POST_HEADERS, **request.headers}
        if named is not None:
            headers[SESSION_HEADER] = named
        response = await self._channel.send(
            "POST",
            headers,
            request.body,
            patient=request.method == "subscriptions/listen",
            on_hold=lambda held: self._put(Held(request.leg, held)),
        )
        try:
            if request.method == "server/discover":
                self._discard_session(response)
            if response.is_success:
                return await self._replied(request, response)
            judge = partial(self._session.state, named)
            return await self._channel.refused(response, judge)
        except TooLarge as error:
            return ExchangeFault(
                fault=Fault.VIOLATION, reason=str(error), http=facts(response)
            )
        finally:
            await response.aclose()

    async def _replied(
        self, request: Request, response: httpx.Response
    ) -> ExchangeFault | None:
        kind = content_type(response)
        if request.method == "initialize":
            self._begin_session(response, kind)
        if kind == EVENTS:
            return await self._stream(request, response)
        if kind == _JSON:
            return self._body(
                request, await self._channel.read_json(response), response
            )
        reason = f"HTTP {response.status_code} with {kind or 'no content'!s}"
        return ExchangeFault(
            fault=Fault.VIOLATION,
            reason=f"{reason} where a JSON-RPC response was expected",
            http=facts(response),
        )

    def _begin_session(self, response: httpx.Response, kind: str) -> None:
        self._session.begin(response)
        stateless = _STATELESS if self._session.id is None else None
        self._put(Suspicion(_JSON_MODE if kind == _JSON else stateless))

    def _discard_session(self, response: httpx.Response) -> None:
        # Some legacy servers hand out a session with their refusal of the probe.
        stray = response.headers.get(SESSION_HEADER)
        if stray is not None:
            self._tasks.start_soon(self._session.delete, {SESSION_HEADER: stray})

    def _body(
        self,
        request: Request,
        messages: list[object] | Malformed,
        response: httpx.Response,
    ) -> ExchangeFault | None:
        if isinstance(messages, Malformed):
            return ExchangeFault(
                fault=Fault.VIOLATION,
                reason=f"the body is no JSON: {messages.error}",
                http=facts(response),
            )
        for message in messages:
            self._put(Received(message, request.leg))
        return None if _answers(messages) else _nothing(response)

    async def _stream(
        self, request: Request, response: httpx.Response
    ) -> ExchangeFault | None:
        cursor = Cursor()
        deliver = partial(self.event, request.leg)
        broken = None
        try:
            if await self._channel.read_events(response, cursor, deliver):
                return None
        except httpx.HTTPError as error:
            broken = error
        if cursor.last_id is not None and not request.modern:
            await response.aclose()
            if await self._session.read_on(cursor, deliver, 1):
                return None
        return _nothing(response) if broken is None else _broken(broken)

    def event(self, leg: int | str | None, event: SentEvent) -> bool:
        """Take an event of a stream; ``True`` when it is the answer to the leg."""
        if event.name != "message" or not event.data:
            return False
        message = from_json(event.data)
        if leg is None or isinstance(message, Malformed):
            self._put(message)
            return False
        self._put(Received(message, leg))
        return _answers(message)


def _answers(message: object) -> bool:
    # A batch, which one old revision has, may hold the answer.
    if isinstance(message, list):
        return any(map(_answers, cast("list[object]", message)))
    return isinstance(message, dict) and "method" not in message


def _nothing(response: httpx.Response) -> ExchangeFault:
    reason = "the response ended without an answer"
    return ExchangeFault(fault=Fault.LOST, reason=reason, http=facts(response))


def _broken(error: Exception) -> ExchangeFault:
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return ExchangeFault(fault=Fault.LOST, reason=said, exception=error)
