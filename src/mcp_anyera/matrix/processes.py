"""Processes in groups of their own, which never outlive whoever started them."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

STARTS_WITHIN: Final = 60.0
"""Seconds in which a server must listen."""
LEAVES_WITHIN: Final = 3.0
_LONGEST_LINE: Final = 1 << 22


class NotStartedError(Exception):
    """A server did not come up; the message has the end of what it said."""


@asynccontextmanager
async def started(
    command: Sequence[str], variables: Mapping[str, str], errors: Path
) -> AsyncGenerator[Process]:
    """Start a process and end it, and all that it has started, on leaving.

    Args:
        command: The program and its arguments.
        variables: Added to the environment.
        errors: Where its stderr goes.

    Raises:
        NotStartedError: It cannot be run.
    """
    with errors.open("ab") as file:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=file,
                env={**os.environ, **variables},
                start_new_session=True,
                limit=_LONGEST_LINE,
            )
        except OSError as error:
            raise NotStartedError(f"{command[0]}: {error}") from None
    try:
        yield process
    finally:
        await asyncio.shield(ended(process))


async def ended(process: Process) -> None:
    """End a process: its stdin first, then its whole group."""
    if process.stdin is not None:
        process.stdin.close()
    with suppress(TimeoutError):
        if process.returncode is None:
            await asyncio.wait_for(process.wait(), 0.2)
    # The leader may be gone and have left others behind.
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not _signal_group(process.pid, number):
            break
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), LEAVES_WITHIN)
    await process.wait()


def end_process(pid: int) -> None:
    """End a process that should have gone by itself, at once."""
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def _signal_group(pid: int, number: int) -> bool:
    """Send a signal, and tell whether anybody is left."""
    try:
        if os.name == "nt":
            os.kill(pid, signal.SIGTERM)
        else:
            os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


@asynccontextmanager
async def listening(
    command: Sequence[str], variables: Mapping[str, str], errors: Path
) -> AsyncGenerator[str]:
    """Start an HTTP server and yield the URL that it prints.

    Raises:
        NotStartedError: It ended, or said something else.
    """
    async with started(command, variables, errors) as process:
        assert process.stdout is not None
        try:
            reading = process.stdout.readline()
            line = (await asyncio.wait_for(reading, STARTS_WITHIN)).decode()
        except TimeoutError:
            line = ""
        if not line.startswith("listening on "):
            said = repr(line.strip()) if line.strip() else "nothing"
            raise NotStartedError(
                f"instead of 'listening on URL', the server said {said}; "
                f"on stderr: {tail(errors) or 'nothing'}"
            )
        silent = asyncio.ensure_future(_drained(process))
        try:
            yield line.split()[-1]
        finally:
            silent.cancel()


async def _drained(process: Process) -> None:
    """Keep a server that goes on to print from standing still."""
    assert process.stdout is not None
    while await process.stdout.read(65536):
        pass


def tail(path: Path, lines: int = 3) -> str:
    """Return the end of what was said."""
    text = path.read_text("utf-8", "replace") if path.exists() else ""
    return " | ".join(line.strip() for line in text.splitlines()[-lines:])


__all__ = [
    "NotStartedError",
    "end_process",
    "ended",
    "listening",
    "started",
    "tail",
]
