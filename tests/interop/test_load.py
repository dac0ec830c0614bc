"""Many calls at once, many of them given up: nothing is lost and nothing is left."""

from __future__ import annotations

from random import Random
from typing import Any

import anyio
import pytest

from mcp_anyera import accept
from tests.interop.faces import EVERYTHING, connected, elicit, text
from tests.interop.peers import DUAL, LEGACY, MODERN, TYPESCRIPT

pytestmark = pytest.mark.interop

TOOLS: list[tuple[str, dict[str, Any], str]] = [
    ("echo", {"text": "x"}, "x"),
    ("two_rounds", {}, "one then two"),
    ("three_questions", {}, "Ada / short / 1"),
    ("patience", {"legs": 3}, "done after 3 legs"),
    ("slow", {"seconds": 0.02}, "slept"),
]


# The 1.30 server is left out: a cancellation that meets the end of its handler ends it.
@pytest.mark.parametrize(
    ("peer", "mode"),
    [
        (DUAL, "legacy"),
        (MODERN, "auto"),
        (TYPESCRIPT, "auto"),
        (f"{DUAL}@http", "legacy"),
        (f"{MODERN}@http", "auto"),
        (f"{TYPESCRIPT}@http", "auto"),
    ],
)
async def test_many_calls_and_cancellations_leave_nothing_behind(
    peer: str, mode: str
) -> None:
    dice = Random(1)

    async def answer(context: Any, params: Any) -> Any:
        await anyio.sleep(dice.random() / 50)
        return await elicit(context, params)

    async def call(client: Any) -> None:
        name, arguments, expected = dice.choice(TOOLS)
        with anyio.move_on_after(dice.choice([0.001, 0.02, 0.1, 20, 20])):
            assert text(await client.call_tool(name, arguments)) == expected

    options: dict[str, Any] = {
        **EVERYTHING,
        "elicitation_callback": answer,
        "mode": mode,
    }
    async with connected("client", peer, **options) as client:
        async with anyio.create_task_group() as tasks:
            for _ in range(150):
                tasks.start_soon(call, client)
        assert text(await client.call_tool("echo", {"text": "end"})) == "end"
        connection = client._connection
        engine = connection._engine
        with anyio.fail_after(5):
            while connection._dispatcher._running:
                await anyio.sleep(0.01)
        assert not connection._waiting
        assert not connection._dispatcher._scopes
        assert engine.in_flight == 0
        assert engine.deadline is None
        assert not engine._asking._round_of
        assert not engine._asking.direct._open


@pytest.mark.parametrize(
    ("peer", "calls"),
    # Over HTTP the servers are slow, and it is our sides that are put to the test.
    [(LEGACY, 1000), (MODERN, 1000), (f"{LEGACY}@http", 150), (f"{MODERN}@http", 150)],
)
async def test_of_many_calls_with_two_rounds_each_gets_its_own_answers(
    peer: str, calls: int
) -> None:
    async def answer(context: Any, params: Any) -> Any:
        return accept({"name": f"the {params.message}"})

    async def call(client: Any, who: str) -> None:
        said = text(await client.call_tool("interview", {"who": who}))
        assert said == f"the first of {who}, the second of {who}"
        finished.append(who)

    finished: list[str] = []
    async with connected("client", peer, elicitation_callback=answer) as client:
        async with anyio.create_task_group() as tasks:
            for number in range(calls):
                tasks.start_soon(call, client, f"person {number}")
    assert len(set(finished)) == calls
