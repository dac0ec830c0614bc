"""One set of callbacks, one outcome: rows of the behaviour contract on real servers."""

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
    QuestionDeclined,
    QuestionRefused,
    accept,
    decline,
)
from mcp_anyera._sdk import SDK1, SDKError, types
from mcp_anyera.engine import (
    CallInfo,
    Connected,
    Dropped,
    NoLogLevel,
    QuestionAnswered,
    QuestionAsked,
)
from tests.interop.faces import EVERYTHING, connected, elicit, text
from tests.interop.peers import DUAL, LEGACY, MODERN, era

pytestmark = pytest.mark.interop


@pytest.fixture(params=[LEGACY, MODERN, f"{LEGACY}@http", f"{MODERN}@http"])
def peer(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_a_callback_that_raises_ends_the_call_with_its_own_exception_as_cause(
    peer: str,
) -> None:
    boom = ValueError("a secret of the user")

    async def answer(context: Any, params: Any) -> Any:
        raise boom

    async with connected("client", peer, elicitation_callback=answer) as client:
        with pytest.raises(
            CallbackError, match="elicitation/create failed: ValueError"
        ) as caught:
            await client.call_tool("issue_card", {"book": "x"})
        assert caught.value.__cause__ is boom
        assert isinstance(caught.value, SDKError)
        assert (caught.value.code, caught.value.data) == (-32603, None)
        assert text(await client.call_tool("echo", {"text": "x"})) == "x"


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


@pytest.mark.parametrize(
    "junk", [None, "yes", {"action": "agreed"}, types.EmptyResult()]
)
async def test_a_callback_that_returns_no_answer_is_told_what_was_expected(
    peer: str, junk: Any
) -> None:
    async def answer(context: Any, params: Any) -> Any:
        return junk

    async with connected("client", peer, elicitation_callback=answer) as client:
        with pytest.raises(
            CallbackError, match="expected ElicitResult or ErrorData, got"
        ):
            await client.call_tool("issue_card", {"book": "x"})


async def test_an_answer_may_be_a_mapping_as_in_the_sdk(peer: str) -> None:
    async def answer(context: Any, params: Any) -> Any:
        return {"action": "accept", "content": {"name": "Map"}}

    async with connected("client", peer, elicitation_callback=answer) as client:
        assert (
            text(await client.call_tool("issue_card", {"book": "x"}))
            == "card for Map: x"
        )


async def test_an_error_returned_by_the_callback_is_the_error_of_the_call(
    peer: str,
) -> None:
    async def answer(context: Any, params: Any) -> types.ErrorData:
        return types.ErrorData(code=-32050, message="not today", data=[1])

    async with connected("client", peer, elicitation_callback=answer) as client:
        with pytest.raises(QuestionRefused) as caught:
            await client.call_tool("issue_card", {"book": "x"})
        assert (caught.value.code, str(caught.value), caught.value.data) == (
            -32050,
            "not today",
            [1],
        )


@pytest.mark.parametrize(
    ("action", "outcome"), [("decline", "declined"), ("cancel", "cancelled")]
)
async def test_declining_is_an_answer(peer: str, action: str, outcome: str) -> None:
    async def answer(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult.model_validate(
            {"action": action, "content": {"name": "x"}}
        )

    async with connected("client", peer, elicitation_callback=answer) as client:
        assert text(await client.call_tool("issue_card", {"book": "x"})) == outcome


async def test_a_human_may_take_longer_than_the_machine(peer: str) -> None:
    async def answer(context: Any, params: Any) -> types.ElicitResult:
        await anyio.sleep(0.5)
        return await elicit(context, params)

    async with connected(
        "client", peer, elicitation_callback=answer, read_timeout_seconds=0.3
    ) as client:
        assert text(await client.call_tool("two_rounds")) == "one then two"


async def test_a_machine_that_takes_too_long_is_given_up(peer: str) -> None:
    async with connected("client", peer) as client:
        with pytest.raises(
            TimeoutError, match=r"tools/call 'slow' took longer than 0\.2 s"
        ) as caught:
            await client.call_tool("slow", {"seconds": 60}, read_timeout_seconds=0.2)
        assert isinstance(caught.value, CallTimeout)
        assert caught.value.code == -32001
        assert text(await client.call_tool("echo", {"text": "x"})) == "x"


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


async def test_cancelling_the_call_cancels_the_callback(peer: str) -> None:
    asked, withdrawn = anyio.Event(), anyio.Event()

    async def answer(context: Any, params: Any) -> Any:
        asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            withdrawn.set()

    async with connected("client", peer, elicitation_callback=answer) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "issue_card", {"book": "x"})
            with anyio.fail_after(5):
                await asked.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(5):
            await withdrawn.wait()
        assert text(await client.call_tool("echo", {"text": "x"})) == "x"


async def test_a_callback_may_use_its_client(peer: str) -> None:
    async def answer(context: CallbackContext, params: Any) -> types.ElicitResult:
        inner = await clients[0].call_tool("echo", {"text": "from inside"})
        through_session = await context.session.call_tool("echo", {"text": "also"})
        assert [text(inner), text(through_session)] == ["from inside", "also"]
        return await elicit(context, params)

    clients: list[Client] = []
    async with connected("client", peer, elicitation_callback=answer) as client:
        clients.append(client)
        assert (
            text(await client.call_tool("issue_card", {"book": "x"}))
            == "card for Ada: x"
        )


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


async def test_an_answer_that_does_not_fit_is_asked_for_once_more(peer: str) -> None:
    problems: list[str | None] = []
    answers = [accept({"name": 7}), accept({"name": "Ada"})]

    async def answer(context: CallbackContext, params: Any) -> types.ElicitResult:
        problems.append(context.problem)
        return answers[len(problems) - 1]

    async with connected("client", peer, elicitation_callback=answer) as client:
        card = await client.call_tool("issue_card", {"book": "Dune"})
        assert text(card) == "card for Ada: Dune"
    assert problems == [None, "name: 7 is not of type 'string'"]


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
    (event,) = [event for event in events if isinstance(event, Dropped)]
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


async def test_a_logging_callback_without_a_level_is_warned_of_once(
    peer: str, caplog: pytest.LogCaptureFixture
) -> None:
    events: list[Any] = []

    async def log(params: Any) -> None:
        return

    for level in (None, "info"):
        async with connected(
            "client",
            peer,
            logging_callback=log,
            log_level=level,
            on_event=events.append,
        ) as client:
            await client.call_tool("echo", {"text": "x"})
    warned = [event for event in events if isinstance(event, NoLogLevel)]
    silent = era(peer) == "modern"
    assert len(warned) == int(silent)
    assert ("pass log_level=" in caplog.text) == silent


async def test_three_questions_are_put_at_once_or_one_by_one(peer: str) -> None:
    for limit, most in ((None, 3), (1, 1)):
        open_now, seen = [0], [0]

        def count(
            callback: Any, open_now: list[int] = open_now, seen: list[int] = seen
        ) -> Any:
            async def counted(*args: Any) -> Any:
                open_now[0] += 1
                seen[0] = max(seen[0], open_now[0])
                await anyio.sleep(0.1)
                open_now[0] -= 1
                return await callback(*args)

            return counted

        callbacks = {
            name: count(EVERYTHING[name])
            for name in (
                "elicitation_callback",
                "sampling_callback",
                "list_roots_callback",
            )
        }
        async with connected(
            "client", peer, max_concurrent_questions=limit, **callbacks
        ) as client:
            assert text(await client.call_tool("three_questions")) == "Ada / short / 1"
        assert seen == [most]


@pytest.mark.parametrize("peer", [LEGACY, f"{LEGACY}@http"])
async def test_a_page_that_must_be_visited_first_is_shown_once(peer: str) -> None:
    shown: list[tuple[str, str]] = []

    async def answer(context: CallbackContext, params: Any) -> types.ElicitResult:
        shown.append((params.url, context.dialect.value))
        return accept()

    async with connected("client", peer, elicitation_callback=answer) as client:
        assert text(await client.call_tool("members_only", {"visits": 3})) == "welcome"
    assert shown == [("https://example.com/join", "url_required")]


@pytest.mark.parametrize("peer", [LEGACY, f"{LEGACY}@http"])
async def test_a_page_that_is_not_visited_ends_the_call(peer: str) -> None:
    async def answer(context: CallbackContext, params: Any) -> types.ElicitResult:
        return decline()

    async with connected("client", peer, elicitation_callback=answer) as client:
        with pytest.raises(QuestionDeclined, match="needs a visit") as caught:
            await client.call_tool("members_only", {"visits": 1})
        assert isinstance(caught.value.__cause__, SDKError)
        assert caught.value.__cause__.error.code == -32042
        # What the server counts is spent, for the next test.
        await client.call_tool("members_only", {"visits": 1})


async def test_an_undeclared_mode_never_reaches_the_callback(peer: str) -> None:
    options: dict[str, Any] = {
        "elicitation_callback": elicit,
        "elicitation_modes": ["form"],
    }
    async with connected("client", peer, **options) as client:
        with pytest.raises(
            QuestionRefused, match="mode 'url' was not declared"
        ) as caught:
            await client.call_tool("link_account")
        assert caught.value.code == -32602


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


async def test_a_leg_with_nothing_but_state_is_no_round(peer: str) -> None:
    async with connected("client", peer, input_required_max_rounds=3) as client:
        result = await client.call_tool("patience", {"legs": 5})
        assert text(result) == "done after 5 legs"


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
