"""One set of callbacks, one outcome: what the rows of the contract do not say."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest

from mcp_anyera import (
    CallbackContext,
    CallbackError,
    Callbacks,
    CallTimeout,
    Client,
    ConnectionLost,
    Era,
    accept,
    decline,
)
from mcp_anyera._sdk import SDK1, types
from mcp_anyera.engine import (
    CallInfo,
    Connected,
    Dropped,
    QuestionAnswered,
    QuestionAsked,
)
from tests.interop.faces import EVERYTHING, connected, elicit, text
from tests.interop.peers import DUAL, LEGACY, MODERN, era

pytestmark = pytest.mark.interop


@pytest.fixture(params=[LEGACY, MODERN, f"{LEGACY}@http", f"{MODERN}@http"])
def peer(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_a_callback_that_cancels_itself_ends_the_call(peer: str) -> None:
    async def answer(context: Any, params: Any) -> Any:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await anyio.sleep_forever()

    async with connected("client", peer, elicitation_callback=answer) as client:
        with pytest.raises(CallbackError, match="expected ElicitResult"):
            await client.call_tool("issue_card", {"book": "x"})


async def test_a_callback_that_raises_the_loops_own_cancellation_ends_the_call(
    anyio_backend_name: str,
) -> None:
    async def answer(context: Any, params: Any) -> Any:
        raise asyncio.CancelledError

    async def handle(message: Any) -> None:
        raise asyncio.CancelledError

    async def report(value: float, total: float | None, message: str | None) -> None:
        del value, total, message

    if anyio_backend_name == "trio":
        pytest.skip("trio's cancellation cannot be raised by hand")
    options: dict[str, Any] = {
        "elicitation_callback": answer,
        "message_handler": handle,
    }
    async with connected("client", LEGACY, **options) as client:
        with pytest.raises(CallbackError, match="was cancelled from inside"):
            await client.call_tool("issue_card", {"book": "x"})
        await client.call_tool("count", {"steps": 2}, progress_callback=report)
        assert text(await client.call_tool("echo", {"text": "x"})) == "x"


async def test_an_answer_may_be_a_mapping_as_in_the_sdk(peer: str) -> None:
    async def answer(context: Any, params: Any) -> Any:
        return {"action": "accept", "content": {"name": "Map"}}

    async with connected("client", peer, elicitation_callback=answer) as client:
        assert (
            text(await client.call_tool("issue_card", {"book": "x"}))
            == "card for Map: x"
        )


async def test_an_answer_that_never_comes_is_given_up(peer: str) -> None:
    async def answer(context: Any, params: Any) -> Any:
        await anyio.sleep_forever()

    options: dict[str, Any] = {
        "elicitation_callback": answer,
        "answer_timeout_seconds": 0.2,
    }
    async with connected("client", peer, **options) as client:
        with pytest.raises(CallTimeout, match=r"gave no answer within 0\.2 s"):
            await client.call_tool("issue_card", {"book": "x"})


async def test_the_total_bounds_humans_too_and_withdraws_the_question(
    peer: str,
) -> None:
    withdrawn = anyio.Event()

    async def answer(context: Any, params: Any) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            withdrawn.set()

    options: dict[str, Any] = {
        "elicitation_callback": answer,
        "total_timeout_seconds": 0.5,
    }
    async with connected("client", peer, **options) as client:
        with pytest.raises(
            CallTimeout, match=r"took longer than 0\.5 s \(a question was open\)"
        ):
            await client.call_tool("issue_card", {"book": "x"})
        with anyio.fail_after(5):
            await withdrawn.wait()


async def test_a_waiting_human_holds_up_no_other_call(peer: str) -> None:
    asked, gate = anyio.Event(), anyio.Event()

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        asked.set()
        await gate.wait()
        return await elicit(context, params)

    async with connected("client", peer, elicitation_callback=answer) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "issue_card", {"book": "x"})
            with anyio.fail_after(5):
                await asked.wait()
                assert text(await client.call_tool("echo", {"text": "x"})) == "x"
            gate.set()


async def test_the_context_says_who_asks_and_for_which_call(peer: str) -> None:
    contexts: list[CallbackContext] = []

    async def answer(context: CallbackContext, params: Any) -> types.ElicitResult:
        contexts.append(context)
        return await elicit(context, params)

    async with connected(
        "client", peer, elicitation_callback=answer, label="my server"
    ) as client:
        await client.call_tool("issue_card", {"book": "Dune"})
    (context,) = contexts
    assert context.call == CallInfo("tools/call", "issue_card", {"book": "Dune"})
    assert context.server == "my server"
    assert context.problem is None
    assert context.request_id == context.key
    assert (context.era, context.round, context.dialect.value) == (
        (Era.LEGACY, 0, "direct")
        if era(peer) == "legacy"
        else (Era.MODERN, 1, "input_requests")
    )


async def test_an_answer_that_never_fits_becomes_a_cancel(
    peer: str, caplog: pytest.LogCaptureFixture
) -> None:
    events: list[Any] = []

    async def answer(context: CallbackContext, params: Any) -> types.ElicitResult:
        return accept({"name": ["secret"]})

    async with connected(
        "client", peer, elicitation_callback=answer, on_event=events.append
    ) as client:
        card = await client.call_tool("issue_card", {"book": "Dune"})
        assert text(card) == "cancelled"
    # A probe that a slow server answers too late is dropped as well.
    dropped = [event for event in events if isinstance(event, Dropped)]
    (event,) = [one for one in dropped if one.what.startswith("an answer to")]
    assert "secret" not in str(events)
    assert "it did not fit the form" in event.reason
    assert "does not fit" in caplog.text
    assert "secret" not in caplog.text


async def test_events_tell_of_questions_and_how_long_they_took(peer: str) -> None:
    events: list[Any] = []

    async def answer(context: CallbackContext, params: Any) -> types.ElicitResult:
        await anyio.sleep(0.05)
        return decline()

    async with connected(
        "client", peer, elicitation_callback=answer, on_event=events.append
    ) as client:
        await client.call_tool("issue_card", {"book": "Dune"})
    (asked,) = [event for event in events if isinstance(event, QuestionAsked)]
    (answered,) = [event for event in events if isinstance(event, QuestionAnswered)]
    assert asked.method == answered.method == "elicitation/create"
    call = CallInfo("tools/call", "issue_card", {"book": "Dune"})
    assert asked.call == answered.call == call
    assert (answered.outcome, answered.seconds >= 0.05) == ("decline", True)


async def test_one_registry_serves_many_clients(peer: str) -> None:
    registry = Callbacks(elicitation_callback=elicit)
    for _ in range(2):
        async with connected("client", peer, callbacks=registry) as client:
            assert (
                text(await client.call_tool("issue_card", {"book": "x"}))
                == "card for Ada: x"
            )


async def test_events_tell_of_the_verdict(peer: str) -> None:
    events: list[Any] = []
    async with connected("client", peer, on_event=events.append) as client:
        (verdict,) = [event.verdict for event in events if isinstance(event, Connected)]
        assert verdict is client.verdict


async def test_closing_the_client_ends_the_calls_that_are_open(peer: str) -> None:
    failures: list[BaseException] = []

    async def call(client: Client) -> None:
        try:
            await client.call_tool("slow", {"seconds": 60})
        except ConnectionLost as error:
            failures.append(error)

    async with anyio.create_task_group() as tasks:
        async with connected("client", peer) as client:
            tasks.start_soon(call, client)
            await client.call_tool("echo", {"text": "x"})
    assert str(failures[0]) == "the client was closed while the call was open"


async def test_a_raising_handler_harms_nothing(peer: str) -> None:
    async def handle(_message: Any) -> None:
        raise ValueError

    async def progress(*_report: Any) -> None:
        raise ValueError

    async with connected("client", peer, message_handler=handle) as client:
        result = await client.call_tool(
            "count", {"steps": 2}, progress_callback=progress
        )
        assert text(result) == "counted"


async def test_what_cannot_be_written_as_json_fails_its_own_call(peer: str) -> None:
    async with connected("client", peer) as client:
        with pytest.raises(Exception, match=r"JSON|serializ"):
            await client.read_resource("note://plain", meta={"traceparent": object()})
        with pytest.raises(Exception, match=r"JSON|serializ"):
            await client.call_tool("echo", {"text": object()})
        assert text(await client.call_tool("echo", {"text": "x"})) == "x"


async def test_a_raising_observer_harms_nothing(peer: str) -> None:
    def observe(event: Any) -> None:
        raise ValueError(event)

    async with connected("client", peer, on_event=observe, **EVERYTHING) as client:
        assert text(await client.call_tool("two_rounds")) == "one then two"


async def test_a_dual_era_server_serves_whichever_era_is_asked_for() -> None:
    for mode, expected in (
        ("auto", Era.MODERN),
        ("legacy", Era.LEGACY),
        ("modern", Era.MODERN),
        ("2025-11-25", Era.LEGACY),
    ):
        async with connected("client", DUAL, mode=mode, **EVERYTHING) as client:
            assert client.era is expected
            assert text(await client.call_tool("two_rounds")) == "one then two"


async def test_listen_works_on_a_modern_connection_of_sdk_2_and_says_why_not_elsewhere(
    peer: str,
) -> None:
    async with connected("client", peer) as client:
        if SDK1:
            with pytest.raises(NotImplementedError, match=r"listen\(\) needs mcp 2\.x"):
                client.listen(tools_list_changed=True)
        elif era(peer) == "legacy":
            with pytest.raises(RuntimeError):
                async with client.listen(tools_list_changed=True):
                    pass
        else:
            async with client.listen(tools_list_changed=True) as changes:
                await client.call_tool("add_tool")
                with anyio.fail_after(5):
                    event = await anext(aiter(changes))
            assert type(event).__name__ == "ToolsListChanged"


async def test_notifications_of_the_client_go_where_they_can(peer: str) -> None:
    async with connected("client", peer, **EVERYTHING) as client:
        await client.send_roots_list_changed()
        await client.send_progress_notification("p", 1, 2)
        assert text(await client.call_tool("echo", {"text": "x"})) == "x"
