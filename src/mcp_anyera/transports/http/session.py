"""The session of a legacy server: its id, its own stream, its end.

Spec: 2025-11-25 ``basic/transports`` § Session Management, § Listening for
Messages from the Server, § Resumability and Redelivery.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

import anyio

from mcp_anyera.engine import SessionState
from mcp_anyera.engine.jsonrpc import is_object
from mcp_anyera.transports.http.channel import Channel, Cursor, content_type
from mcp_anyera.transports.http.library import httpx
from mcp_anyera.transports.http.sse import SentEvent

logger: logging.Logger = logging.getLogger("mcp_anyera")

SESSION_HEADER: Final = "mcp-session-id"
EVENTS: Final = "text/event-stream"
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
"""Seconds between two attempts to read on, where the server has said nothing."""
MAX_FAILURES: Final = 6
"""Attempts in a row without an event before a stream is given up."""
DELETE_TIMEOUT: Final = 2.0
_UNKNOWN_SESSION: Final = frozenset({-32600, -32000, -32001})
"""Codes that servers send with a 404 for a session that they do not know."""
_NOT_FOUND, _BAD_REQUEST = 404, 400


class LegacySession:
    """What a legacy server has handed out, and what every request repeats."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.id: str | None = None
        self._version: dict[str, str] = {}
        self._scope = anyio.CancelScope()
        self._listened = False

    @property
    def headers(self) -> dict[str, str]:
        """The header that names the session, if there is one."""
        return {} if self.id is None else {SESSION_HEADER: self.id}

    def begin(self, response: httpx.Response) -> None:
        """Take the id that came with the reply to ``initialize``."""
        self.drop()
        self.id = response.headers.get(SESSION_HEADER)
        self._scope, self._listened = anyio.CancelScope(), False

    def agree(self, version: dict[str, str]) -> None:
        """Note the version header for requests that have no message."""
        self._version = version

    def drop(self) -> None:
        """Forget the session, and stop reading its stream."""
        self.id = None
        self._scope.cancel()

    def state(self, named: str | None, status: int, error: object) -> SessionState:
        """Tell what a refusal means for the session that a request has named.

        Args:
            named: The id that the request has carried.
            status: The HTTP status.
            error: The JSON-RPC error in the body, or ``None``.
        """
        if named is None or not _says_unknown(status, error):
            return SessionState.UNTOUCHED
        if named != self.id:
            return SessionState.STALE
        self.drop()
        return SessionState.GONE

    # -- its own stream ------------------------------------------------------------

    async def listen(
        self, cursor: Cursor, deliver: Callable[[SentEvent], bool]
    ) -> None:
        """Read what the server says outside of every call, until it has no more.

        A session that says twice that it is initialized is still one session.

        Args:
            cursor: Is moved on, and tells when the stream is open.
            deliver: Takes each event; what it returns does not matter here.
        """

        def take(event: SentEvent) -> bool:
            deliver(event)
            return False

        # A server without sessions has nobody to say anything to.
        if self.id is not None and not self._listened:
            self._listened = True
            with self._scope:
                await self.read_on(cursor, take)
        cursor.opened.set()

    async def read_on(
        self, cursor: Cursor, deliver: Callable[[SentEvent], bool], failures: int = 0
    ) -> bool:
        """Read a stream with GET, again and again from where it broke off.

        Args:
            cursor: Where to begin; is moved on.
            deliver: Takes an event; ``True`` when nothing more is awaited.
            failures: Attempts that have come to nothing before.

        Returns:
            Whether the last event has come; ``False`` when the server has no such
            stream, or nothing came in several attempts.
        """
        while failures < MAX_FAILURES:
            await anyio.sleep(_pause(cursor, failures))
            seen = cursor.events
            done = await self._read_once(cursor, deliver)
            if done is not None:
                return done
            failures = 1 if cursor.events > seen else failures + 1
        return False

    async def _read_once(
        self, cursor: Cursor, deliver: Callable[[SentEvent], bool]
    ) -> bool | None:
        headers = {**self._get_headers(), "accept": EVENTS}
        if cursor.last_id is not None:
            headers["last-event-id"] = cursor.last_id
        try:
            response = await self._channel.send("GET", headers, patient=True)
            cursor.opened.set()
            try:
                if response.is_success and content_type(response) == EVENTS:
                    return (
                        await self._channel.read_events(response, cursor, deliver)
                        or None
                    )
                return None if response.is_server_error else False
            finally:
                await response.aclose()
        except Exception as error:  # noqa: BLE001 - an auth flow may raise anything
            logger.debug("an event stream broke off: %r", error)
            return None

    def _get_headers(self) -> dict[str, str]:
        return {**self._version, **self.headers}

    # -- its end -------------------------------------------------------------------

    async def end(self) -> None:
        """Tell the server that the session is over, if there is one."""
        if self.id is not None:
            headers = self._get_headers()
            self.drop()
            await self.delete(headers)

    async def delete(self, headers: dict[str, str]) -> None:
        """Delete a session, in bounded time; a server need not allow it."""
        with anyio.move_on_after(DELETE_TIMEOUT):
            try:
                response = await self._channel.send("DELETE", headers)
                await response.aclose()
            except Exception as error:  # noqa: BLE001 - an auth flow may raise anything
                logger.debug("a session could not be deleted: %r", error)


def _says_unknown(status: int, error: object) -> bool:
    if not is_object(error):
        return status == _NOT_FOUND
    if error["code"] not in _UNKNOWN_SESSION:
        return False
    # A 400 has many reasons; the word is all that servers have in common.
    named = "session" in str(error["message"]).lower()
    return status == _NOT_FOUND or (status == _BAD_REQUEST and named)


def _pause(cursor: Cursor, failures: int) -> float:
    if failures == 0 and cursor.last_id is None:
        return 0.0
    pause = FIRST_PAUSE if cursor.retry is None else cursor.retry
    return min(LONGEST_PAUSE, max(pause, pause * 2 ** (failures - 1)))
