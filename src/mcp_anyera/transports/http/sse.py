"""Server-sent events, from bytes as they come off the wire.

The libraries for this differ between the two SDK lines and neither bounds what
a server may send before an event is over; so both lines read events here.

Spec: WHATWG HTML § 9.2 Server-sent events.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass


class TooLarge(Exception):  # noqa: N818 - an event, not a mistake
    """A message is longer than the limit."""

    def __init__(self, limit: int) -> None:
        """Say what the limit is, in bytes."""
        super().__init__(f"the message is longer than {limit} bytes (max_message_size)")


@dataclass(frozen=True, slots=True)
class SentEvent:
    """One event."""

    name: str
    """``"message"`` when the server did not say."""
    data: str
    id: str | None = None
    """The last id that the stream has named; ``None`` when it named none."""
    retry: int | None = None
    """Milliseconds to wait before reconnecting, where this event says so."""


class EventDecoder:
    """Cuts a stream of bytes into events."""

    def __init__(self, limit: int | None) -> None:
        """Start a stream.

        Args:
            limit: The longest event, in bytes; ``None`` for no limit.
        """
        self._limit = limit
        self._text = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest: list[str] = []
        self._size = 0
        self._skip_newline = False
        self._id: str | None = None
        self._start()

    def _start(self) -> None:
        self._name, self._data = "", list[str]()
        self._retry: int | None = None
        self._said = False

    def feed(self, chunk: bytes) -> list[SentEvent]:
        """Take bytes, cut anywhere; return the events that they complete.

        Raises:
            TooLarge: The event at hand is longer than the limit.
        """
        text = self._text.decode(chunk)
        if self._skip_newline and text:
            text = text.removeprefix("\n")
            self._skip_newline = False
        self._size += len(chunk)
        events = self._lines(text)
        if events:
            self._size = len(self._rest[0]) + sum(map(len, self._data))
        if self._limit is not None:
            self._check(self._limit, events)
        return events

    def _check(self, limit: int, events: list[SentEvent]) -> None:
        if self._size > limit or any(len(event.data) > limit for event in events):
            raise TooLarge(limit)

    def end(self) -> list[SentEvent]:
        """Return the event that the end of the stream cut short, if there is one.

        A browser would drop it, but a result that has arrived is a result.
        """
        rest = self._text.decode(b"", final=True)
        return [*self._lines(rest + "\n"), *self._lines("\n")]

    def _lines(self, text: str) -> list[SentEvent]:
        if "\n" not in text and "\r" not in text:
            self._rest.append(text)
            return []
        if "\r" in text:
            self._skip_newline = text.endswith("\r")
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        first, *lines = text.split("\n")
        self._rest.append(first)
        lines.insert(0, "".join(self._rest))
        self._rest = [lines.pop()]
        return [event for line in lines if (event := self._line(line)) is not None]

    def _line(self, line: str) -> SentEvent | None:
        if not line:
            return self._finish()
        name, _, value = line.partition(":")
        self._field(name, value.removeprefix(" "))
        return None

    def _field(self, name: str, value: str) -> None:
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self._retry = int(value[:9])
        else:
            return  # a comment, or a field that nobody knows
        self._said = True

    def _finish(self) -> SentEvent | None:
        event = None
        if self._said:
            name, data = self._name or "message", "\n".join(self._data)
            event = SentEvent(name, data, self._id, self._retry)
        self._start()
        return event
