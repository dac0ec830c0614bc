"""How a server process begins and ends."""

from __future__ import annotations

import io
import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_anyera import Client, ConnectError
from mcp_anyera._sdk import StdioServerParameters
from mcp_anyera.engine import ToServer
from mcp_anyera.transports.stdio import StdioWire
from mcp_anyera.transports.wire import WireClosed

STUBBORN = """
    import signal, sys, time
    signal.signal(signal.SIGTERM, lambda *_: print("asked to end", file=sys.stderr, flush=True))
    print("{}", flush=True)
    while True:
        time.sleep(1)
"""
VANISHING = """\
    #!{python}
    import os, sys
    sys.stdin.readline()
    os.unlink(sys.argv[0])
"""


def wire(code: str, errlog: Any = None) -> StdioWire:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-c", textwrap.dedent(code)]
    )
    return StdioWire(parameters, errlog)


async def test_a_server_that_does_not_leave_is_asked_and_then_killed() -> None:
    errors = io.StringIO()
    async with anyio.create_task_group() as tasks:
        async with wire(STUBBORN, errors) as open_wire:
            tasks.start_soon(open_wire.watch)
            assert await open_wire.receive() == {}
    assert "asked to end" in errors.getvalue()


async def test_a_server_that_is_stuck_writing_can_still_leave() -> None:
    code = """
        import sys
        sys.stdout.write("x" * 1_000_000)
        sys.stdout.flush()
        sys.stdin.read()
    """
    with anyio.fail_after(1.5):
        async with wire(code):
            await anyio.sleep(0.2)


async def test_nothing_comes_from_and_goes_to_a_server_that_is_closed() -> None:
    async with wire("pass") as closed:
        with pytest.raises(WireClosed, match="exit status 0"):
            await closed.receive()
        await closed.send([ToServer({"a": 1})])
    await closed.send([ToServer({"a": 1})])
    with pytest.raises(WireClosed, match="it was closed here"):
        await closed.receive()


async def test_lines_that_are_empty_are_no_messages() -> None:
    async with wire(
        "print('\\n \\n{\"a\": 1}\\n\\n[2]', flush=True); input()"
    ) as noisy:
        assert await noisy.receive() == {"a": 1}
        assert await noisy.receive() == [2]


async def test_a_server_that_cannot_be_started_again_is_an_error(
    tmp_path: Path,
) -> None:
    program = tmp_path / "server"
    program.write_text(textwrap.dedent(VANISHING).format(python=sys.executable))
    program.chmod(0o755)
    with pytest.raises(ConnectError) as caught:
        async with Client([str(program)]):
            pass
    assert "No such file" in str(caught.value)


async def test_an_errlog_that_is_closed_harms_nothing() -> None:
    errors = io.StringIO()
    errors.close()
    async with anyio.create_task_group() as tasks:
        async with wire(
            "import sys; print('x', file=sys.stderr); print('{}')", errors
        ) as noisy:
            tasks.start_soon(noisy.watch)
            assert await noisy.receive() == {}


@pytest.mark.skipif(os.name == "nt", reason="POSIX environments")
async def test_the_server_gets_the_safe_environment_and_what_was_given() -> None:
    code = "import json, os; print(json.dumps(dict(os.environ)), flush=True); input()"
    parameters = StdioServerParameters(
        command=sys.executable, args=["-c", code], env={"MINE": "1"}
    )
    async with StdioWire(parameters) as seen:
        environment: Any = await seen.receive()
    assert environment["MINE"] == "1"
    assert "PATH" in environment
    assert "PYTEST_CURRENT_TEST" not in environment


async def test_a_server_that_ends_is_noticed_though_a_grandchild_holds_its_pipes() -> (
    None
):
    code = """
        import subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
        print("{}", flush=True)
        sys.stdin.readline()
    """
    async with anyio.create_task_group() as tasks:
        async with wire(code) as held:
            tasks.start_soon(held.watch)
            assert await held.receive() == {}
            await held.send([ToServer({})])
            with anyio.fail_after(5), pytest.raises(WireClosed, match="exit status 0"):
                await held.receive()
        tasks.cancel_scope.cancel()


async def test_a_server_that_was_started_again_is_quoted_for_itself() -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-c", "import sys; sys.exit('no such thing')"]
    )
    with pytest.raises(ConnectError) as caught:
        async with Client(server):
            raise AssertionError
    assert str(caught.value).count("stderr ends with: no such thing)") == 2
