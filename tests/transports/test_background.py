"""One task that owns a connection: plain exceptions, and an end that always comes."""

from __future__ import annotations

import logging
from collections.abc import Callable

import anyio
import pytest

from mcp_anyera.transports.background import Background, plain


async def test_what_fails_before_it_is_ready_is_raised_where_it_was_started() -> None:
    async def body(_ready: Callable[[], None], _stop: anyio.Event) -> None:
        async with anyio.create_task_group():
            raise KeyError("x")

    with pytest.raises(KeyError):
        await Background(body).start()


async def test_what_fails_later_is_logged_and_stopping_still_works(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gate, failed = anyio.Event(), anyio.Event()

    async def body(ready: Callable[[], None], _stop: anyio.Event) -> None:
        ready()
        await gate.wait()
        failed.set()
        raise KeyError("x")

    background = Background(body)
    with caplog.at_level(logging.ERROR, logger="mcp_anyera"):
        await background.start()
        gate.set()
        await failed.wait()
        await background.stop()
    assert "a connection has failed" in caplog.text


def test_a_group_of_one_is_its_one_exception() -> None:
    one, two = ValueError(), KeyError()
    assert plain(one) is one
    assert plain(ExceptionGroup("", [ExceptionGroup("", [one])])) is one
    both = ExceptionGroup("", [one, two])
    assert plain(both) is both
