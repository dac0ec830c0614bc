"""What is written to a server goes out whole, in order, and at once where it can."""

from __future__ import annotations

import os
import sys

import anyio
import pytest

from mcp_anyera.transports.pipe import WHOLE, Pipe

if sys.platform == "win32":
    pytest.skip(
        "a server's stdin is the event loop's own there", allow_module_level=True
    )


def fill(pipe: Pipe) -> int:
    """Write until the pipe is full; return how much went in."""
    taken = 0
    while pipe.offer(b"." * WHOLE):
        taken += WHOLE
    return taken


async def test_a_line_of_ordinary_length_is_written_at_once() -> None:
    pipe = Pipe()
    assert pipe.offer(b"a line\n")
    assert os.read(pipe.outlet, 100) == b"a line\n"
    await pipe.aclose()
    pipe.handed_over()


async def test_what_does_not_fit_as_a_whole_is_not_begun() -> None:
    pipe = Pipe()
    assert not pipe.offer(b"." * (WHOLE + 1))
    size = fill(pipe)
    assert not pipe.offer(b"a line\n")
    os.set_blocking(pipe.outlet, False)
    assert len(os.read(pipe.outlet, size + 1)) == size
    await pipe.aclose()
    pipe.handed_over()


async def test_nothing_overtakes_what_waits_for_a_full_pipe() -> None:
    pipe = Pipe()
    size = fill(pipe)
    long = b"x" * 2 * size
    read = b""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pipe.send, long)
        await anyio.wait_all_tasks_blocked()
        os.read(pipe.outlet, WHOLE)
        assert not pipe.offer(b"a line\n")
        while len(read) < size - WHOLE + len(long):
            await anyio.wait_readable(pipe.outlet)
            read += os.read(pipe.outlet, size)
    assert read.lstrip(b".") == long
    assert pipe.offer(b"a line\n")
    await pipe.aclose()
    pipe.handed_over()


async def test_closing_tells_whoever_waits_to_write() -> None:
    pipe = Pipe()
    fill(pipe)

    async def write() -> None:
        with pytest.raises(anyio.ClosedResourceError):
            await pipe.send(b"a line\n")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            await anyio.wait_all_tasks_blocked()
            await pipe.aclose()
    assert not pipe.offer(b"a line\n")
    await pipe.aclose()
    pipe.handed_over()


async def test_a_reader_that_is_gone_is_an_error_of_the_system() -> None:
    pipe = Pipe()
    pipe.handed_over()
    with pytest.raises(BrokenPipeError):
        pipe.offer(b"a line\n")
    with pytest.raises(BrokenPipeError):
        await pipe.send(b"a line\n")
    await pipe.aclose()
