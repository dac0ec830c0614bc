"""Server-sent events from bytes that are cut anywhere."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_anyera.transports.http.sse import EventDecoder, SentEvent, TooLarge


def decoded(data: bytes, *cuts: int, limit: int | None = None) -> list[SentEvent]:
    decoder = EventDecoder(limit)
    edges = [0, *sorted(cuts), len(data)]
    events: list[SentEvent] = []
    for start, end in pairwise(edges):
        events += decoder.feed(data[start:end])
    return [*events, *decoder.end()]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_kind_of_newline_ends_a_line(newline: str) -> None:
    lines = ["event: note", "id: 7", "retry: 500", "data: a", "data:b", "data", "", ""]
    assert decoded(newline.join(lines).encode()) == [
        SentEvent("note", "a\nb\n", "7", 500)
    ]


def test_an_id_stays_until_another_one_comes() -> None:
    data = b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n"
    assert [event.id for event in decoded(data)] == ["1", "1", ""]


@pytest.mark.parametrize(
    "noise",
    [
        b": keep-alive\n\n",
        b"\n\n\n",
        b"unknown: x\n\n",
        b"retry: soon\n\n",
        b"retry: -1\n\n",
        b"id: a\0b\n\n",
    ],
)
def test_what_says_nothing_is_no_event(noise: bytes) -> None:
    assert decoded(noise + b"data: x\n\n") == [SentEvent("message", "x")]


def test_an_event_without_data_is_kept_for_its_id() -> None:
    assert decoded(b"id: 1\nretry: 20\n\n") == [SentEvent("message", "", "1", 20)]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"])
def test_the_end_of_the_stream_ends_the_last_event(end: bytes) -> None:
    assert decoded(b"data: x" + end) == [SentEvent("message", "x")]


def test_bytes_that_are_no_text_do_not_end_the_stream() -> None:
    assert decoded(b"data: \xff\n\ndata: x\n\ndata: \xc3")[1:] == [
        SentEvent("message", "x"),
        SentEvent("message", "\ufffd"),
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_field() -> None:
    assert decoded(b"\xef\xbb\xbfdata: x\n\n") == [SentEvent("message", "x")]


@given(st.lists(st.integers(0, 90), max_size=8), st.sampled_from(["\n", "\r\n", "\r"]))
def test_where_the_bytes_are_cut_makes_no_difference(
    cuts: list[int], newline: str
) -> None:
    text = (
        'id: é\ndata: {"a": "\U0001f600"}\n\n: c\n\ndata: 1\ndata: 2\n\ndata: end\n\n'
    )
    data = text.replace("\n", newline).encode()
    assert decoded(data, *cuts) == decoded(data)


@pytest.mark.parametrize("length", [50, 5000])
def test_an_event_over_the_limit_is_refused_before_it_is_over(length: int) -> None:
    with pytest.raises(TooLarge, match="longer than 40 bytes"):
        decoded(b"x" * length, *range(length), limit=40)
    with pytest.raises(TooLarge, match="max_message_size"):
        decoded(b"data: " + b"x" * length + b"\n\n", limit=40)


def test_many_small_events_in_one_chunk_are_under_the_limit() -> None:
    assert len(decoded(b"data: x\n\n" * 100, limit=20)) == 100
    assert len(decoded(b"data: x\n\n" * 100, *range(0, 900, 7), limit=20)) == 100
