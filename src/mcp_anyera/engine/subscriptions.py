"""Changes on a modern server: ``subscriptions/listen`` in the place of pushes.

A legacy session hears of list changes without asking, and subscribes to each
resource. Here that becomes two listen streams, one for the lists and one for
the resources, so that a new URI does not disturb the lists. No stream can be
changed: a new set is a new stream, and the old one ends when the new one is
acknowledged. A stream that ends comes back after a while, and since nothing
says what was missed, everything that it covered is announced as changed once.

Spec: 2026-07-28 ``basic/patterns/subscriptions``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, cast

from mcp_anyera.engine import jsonrpc
from mcp_anyera.engine.context import Context, WireId
from mcp_anyera.engine.effects import Message
from mcp_anyera.engine.events import ListenEnded
from mcp_anyera.engine.failures import METHOD_NOT_FOUND, Failure, Fault

ACK_TIMEOUT: Final = 10.0
"""Seconds to wait for an acknowledgement; servers give it at once."""
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
MAX_FAILURES: Final = 8
"""Openings in a row that came to nothing before a stream is given up."""

LISTS: Final = {
    "tools": ("toolsListChanged", "notifications/tools/list_changed"),
    "prompts": ("promptsListChanged", "notifications/prompts/list_changed"),
    "resources": ("resourcesListChanged", "notifications/resources/list_changed"),
}
"""Server capability → member of the listen filter, and the notification."""


@dataclass(slots=True)
class Waiter:
    """A ``resources/subscribe`` of the session that waits for an acknowledgement."""

    client_id: WireId
    uri: str


@dataclass(slots=True, eq=False)
class Stream:
    """One kind of subscription: the lists, or the resources."""

    lists: tuple[str, ...] = ()
    uris: dict[str, None] = field(default_factory=dict[str, None])
    current: str | None = None
    """Id of the acknowledged listen request."""
    opening: str | None = None
    """Id of the newest listen request that has no acknowledgement yet."""
    failures: int = 0
    had_gap: bool = False
    waiters: list[Waiter] = field(default_factory=list[Waiter])

    @property
    def filter(self) -> dict[str, Any]:
        """The ``notifications`` member of the listen request."""
        wanted: dict[str, Any] = dict.fromkeys(
            (LISTS[name][0] for name in self.lists), True
        )
        return wanted | (
            {"resourceSubscriptions": list(self.uris)} if self.uris else {}
        )


class Subscriptions:
    """The listen streams that this layer keeps open on one connection."""

    def __init__(self, context: Context) -> None:
        self._ctx = context
        self._lists = Stream()
        self._resources = Stream()
        self._streams: dict[str, Stream] = {}

    # -- what the session wants ----------------------------------------------------

    def watch_lists(self) -> None:
        """Listen for every list change that the server advertises."""
        advertised = self._ctx.server_capabilities
        self._lists.lists = tuple(
            name
            for name in LISTS
            if jsonrpc.is_object(part := advertised.get(name))
            and part.get("listChanged") is True
        )
        if self._lists.lists:
            self._open(self._lists)

    def subscribe(self, message: Message) -> None:
        """Take ``resources/subscribe``; it is answered after the acknowledgement."""
        uri = self._uri(message)
        if uri is None:
            return
        self._resources.uris[uri] = None
        self._resources.waiters.append(Waiter(message["id"], uri))
        self._open(self._resources)

    def take_over(self, uris: Iterable[str]) -> None:
        """Go on with subscriptions that a legacy server held before it changed."""
        self._resources.uris.update(dict.fromkeys(uris))
        if self._resources.uris:
            self._open(self._resources)

    def unsubscribe(self, message: Message) -> None:
        """Take ``resources/unsubscribe``; it is answered at once."""
        uri = self._uri(message)
        if uri is None:
            return
        if uri in self._resources.uris:
            del self._resources.uris[uri]
            self._reopen_smaller()
        self._ctx.reply(message["id"], {})

    def _reopen_smaller(self) -> None:
        if self._resources.uris:
            self._open(self._resources)
        else:
            self._close(self._resources, "nothing is subscribed any more")

    def _uri(self, message: Message) -> str | None:
        uri = jsonrpc.params_of(message).get("uri")
        resources = self._ctx.server_capabilities.get("resources")
        if not jsonrpc.is_object(resources) or resources.get("subscribe") is not True:
            text = "the server does not offer resource subscriptions"
            failure = Failure(Fault.BAD_REQUEST, text, METHOD_NOT_FOUND)
        elif not isinstance(uri, str):
            text = f"{message['method']} needs a uri string in its params"
            failure = Failure(Fault.BAD_REQUEST, text, -32602)
        else:
            return uri
        self._ctx.fail(message["id"], failure)
        return None

    # -- streams -------------------------------------------------------------------

    def _open(self, stream: Stream) -> None:
        if stream.opening is not None:
            self._cancel(stream.opening, "superseded")
        stream.opening = name = self._ctx.next_name("listen")
        self._streams[name] = stream
        self._ctx.timers.clear((stream, "pause"))
        self._later(stream, "ack", ACK_TIMEOUT, lambda: self._lose_patience(name))
        self._ctx.send_own(
            "subscriptions/listen",
            {"notifications": stream.filter},
            lambda reply: self._replied(name, reply),
            name,
        )

    def _lose_patience(self, name: str) -> None:
        self._ctx.cancel_wire(name, "no acknowledgement")
        self._ended(name, "no acknowledgement")

    def _close(self, stream: Stream, reason: str) -> None:
        for name in (stream.opening, stream.current):
            if name is not None:
                self._cancel(name, reason)
        stream.opening = stream.current = None
        self._ctx.timers.clear((stream, "ack"))
        self._ctx.timers.clear((stream, "pause"))
        self._answer_waiters(stream, [])

    def _cancel(self, name: str, reason: str) -> None:
        self._streams.pop(name, None)
        self._ctx.forget_own(name)
        self._ctx.cancel_wire(name, reason)

    def acknowledged(self, name: object, notifications: object) -> bool:
        """Take an acknowledgement; ``False`` when it is for no stream of ours."""
        stream = self._streams.get(name) if isinstance(name, str) else None
        if stream is None or stream.opening != name:
            return stream is not None
        self._ctx.timers.clear((stream, "ack"))
        if stream.current is not None:
            self._cancel(stream.current, "superseded")
        stream.current, stream.opening, stream.failures = stream.opening, None, 0
        honoured = notifications if jsonrpc.is_object(notifications) else {}
        self._answer_waiters(stream, honoured.get("resourceSubscriptions"))
        self._announce_gap(stream)
        return True

    def _answer_waiters(self, stream: Stream, honoured: object) -> None:
        uris = cast("list[Any]", honoured) if isinstance(honoured, list) else []
        waiters, stream.waiters = stream.waiters, []
        for waiter in waiters:
            if waiter.uri in uris or waiter.uri not in stream.uris:
                self._ctx.reply(waiter.client_id, {})
                continue
            stream.uris.pop(waiter.uri, None)
            text = f"the server did not accept a subscription to {waiter.uri!r}"
            self._ctx.fail(waiter.client_id, Failure(Fault.BAD_REQUEST, text, -32602))

    def _announce_gap(self, stream: Stream) -> None:
        had_gap, stream.had_gap = stream.had_gap, False
        if not had_gap:
            return
        for name in stream.lists:
            self._ctx.deliver(jsonrpc.notification(LISTS[name][1]))
        for uri in stream.uris:
            message = jsonrpc.notification(
                "notifications/resources/updated", {"uri": uri}
            )
            self._ctx.deliver(message)

    # -- the end of a stream -------------------------------------------------------

    def _replied(self, name: str, reply: Message) -> None:
        error = reply.get("error")
        if jsonrpc.is_object(error) and error.get("code") == METHOD_NOT_FOUND:
            self._give_up(name, error)
        else:
            self._ended(
                name,
                "the server ended it" if error is None else "the server refused it",
            )

    def cancelled(self, name: object) -> bool:
        """Take a server's cancellation; ``False`` when it names no stream of ours."""
        if not isinstance(name, str) or name not in self._streams:
            return False
        self._ctx.forget_own(name)
        self._ended(name, "the server cancelled it")
        return True

    def _ended(self, name: str, reason: str) -> None:
        stream = self._streams.pop(name)
        self._ctx.forget_own(name)
        stream.failures += 1
        stream.had_gap = True
        if stream.opening == name:
            self._fail_waiters(
                stream, {"code": -32603, "message": f"subscription failed: {reason}"}
            )
            stream.opening = None
        if stream.current == name:
            stream.current = None
        self._come_back(stream, reason)

    def _come_back(self, stream: Stream, reason: str) -> None:
        if stream.opening is not None or not stream.filter:
            return
        if stream.failures >= MAX_FAILURES:
            self._ctx.notice(ListenEnded(reason, None))
            return
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (stream.failures - 1))
        pause *= 0.75 + self._ctx.config.jitter() / 2
        self._ctx.notice(ListenEnded(reason, pause))
        self._later(stream, "pause", pause, lambda: self._open(stream))

    def _give_up(self, name: str, error: dict[str, Any]) -> None:
        stream = self._streams.pop(name)
        stream.opening = None if stream.opening == name else stream.opening
        self._ctx.timers.clear((stream, "ack"))
        self._fail_waiters(stream, error)
        self._ctx.notice(ListenEnded("the server has no subscriptions/listen", None))

    def _fail_waiters(self, stream: Stream, error: dict[str, Any]) -> None:
        self._ctx.timers.clear((stream, "ack"))
        waiters, stream.waiters = stream.waiters, []
        for waiter in waiters:
            stream.uris.pop(waiter.uri, None)
            self._ctx.reject(waiter.client_id, error)

    def abandon(self, client_id: object) -> bool:
        """Forget a subscription request that the session has cancelled."""
        kept = [w for w in self._resources.waiters if w.client_id != client_id]
        found = len(kept) != len(self._resources.waiters)
        self._resources.waiters = kept
        return found

    def client_gone(self) -> None:
        """End both streams: nobody is left to hear."""
        for stream in (self._lists, self._resources):
            self._close(stream, "the client side is closed")

    def leave(self) -> list[str]:
        """End both streams, for the server is met anew; return what was subscribed."""
        for stream in (self._lists, self._resources):
            stream.had_gap = stream.had_gap or bool(stream.filter)
            self._close(stream, "the connection is opened again")
        uris, self._resources.uris = list(self._resources.uris), {}
        return uris

    def server_gone(self, reason: str) -> None:
        """Fail what waits; there is nobody left to listen to."""
        error = Failure(Fault.LOST, f"connection closed: {reason}").as_error()
        for stream in (self._lists, self._resources):
            self._fail_waiters(stream, error)
            stream.opening = stream.current = None
            self._ctx.timers.clear((stream, "pause"))
        self._streams.clear()

    # -- events --------------------------------------------------------------------

    def knows(self, name: object) -> bool:
        """Tell whether a subscription id is that of an open stream of ours."""
        return isinstance(name, str) and name in self._streams

    def _later(
        self, stream: Stream, kind: str, seconds: float, action: Callable[[], None]
    ) -> None:
        self._ctx.timers.set((stream, kind), self._ctx.now + seconds, action)
