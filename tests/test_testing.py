"""Scripted servers: what a tool yields, in both eras, under `Client` and a session."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp import ClientSession

from mcp_anyera import Client, ConnectionLost, Era, accept, adapt, decline, refuse
from mcp_anyera._sdk import SDKError
from mcp_anyera.testing import (
    SILENCE,
    Script,
    ScriptedServer,
    ServerError,
    form,
    log,
    page,
    progress,
    roots,
    sample,
)
from tests.interop.faces import EVERYTHING, elicit, is_error, text

ERAS = pytest.mark.parametrize("era", Era)
OTHER = {Era.LEGACY: "modern", Era.MODERN: "legacy"}


def issue_card(book: str) -> Script:
    """Issue a card for a book."""
    answer = yield form("Whose card is it?", name={"type": "string"})
    if answer["action"] != "accept":
        return answer["action"]
    return f"card for {answer['content']['name']}: {book}"


def two_rounds() -> Script:
    first = yield form("First?", first={"type": "string"})
    second = yield form("Second?", second={"type": "string"})
    return f"{first['content']['first']} then {second['content']['second']}"


def three_questions() -> Script:
    name, summary, folders = yield [
        form("Name?", name={"type": "string"}),
        sample("three"),
        roots(),
    ]
    said = summary["content"]["text"]
    return f"{name['content']['name']} / {said} / {len(folders['roots'])}"


@ERAS
async def test_a_tool_that_yields_a_question_gets_the_answer(era: Era) -> None:
    server = ScriptedServer(era, tools=[issue_card])
    async with Client(server, elicitation_callback=elicit) as client:
        assert client.era is era
        assert client.server_info is not None
        assert client.server_info.name == "scripted"
        result = await client.call_tool("issue_card", {"book": "Dune"})
    assert text(result) == "card for Ada: Dune"


@ERAS
@pytest.mark.parametrize(
    ("tool", "said"),
    [(two_rounds, "one then two"), (three_questions, "Ada / short / 1")],
)
async def test_rounds_and_several_questions_at_once(
    era: Era, tool: Any, said: str
) -> None:
    async with Client(ScriptedServer(era, tools=[tool]), **EVERYTHING) as client:
        assert text(await client.call_tool(tool.__name__)) == said


@ERAS
async def test_an_unchanged_session_runs_on_an_adapted_server(era: Era) -> None:
    server = ScriptedServer(era, tools=[two_rounds])
    async with adapt(server) as (read, write):
        async with ClientSession(read, write, elicitation_callback=elicit) as session:
            await session.initialize()
            assert text(await session.call_tool("two_rounds")) == "one then two"


async def test_a_session_of_the_sdk_runs_on_a_legacy_server_alone() -> None:
    server = ScriptedServer(Era.LEGACY, tools=[issue_card])
    async with server as (read, write):
        async with ClientSession(read, write, elicitation_callback=elicit) as session:
            await session.initialize()
            result = await session.call_tool("issue_card", {"book": "Dune"})
    assert text(result) == "card for Ada: Dune"


@ERAS
async def test_a_decline_is_an_answer(era: Era) -> None:
    async def no(context: Any, params: Any) -> Any:
        return decline()

    server = ScriptedServer(era, tools=[issue_card])
    async with Client(server, elicitation_callback=no) as client:
        assert text(await client.call_tool("issue_card", {"book": "x"})) == "decline"


@ERAS
async def test_a_refusal_is_raised_in_the_tool_or_ends_the_call(era: Era) -> None:
    seen: list[int] = []

    def asks() -> Script:
        try:
            yield page("Open it", "https://example.com")
        except ServerError as error:
            seen.append(error.code)
            raise

    async def never(context: Any, params: Any) -> Any:
        return refuse("not today", code=-32050)

    async with Client(
        ScriptedServer(era, tools=[asks]), elicitation_callback=never
    ) as client:
        with pytest.raises(SDKError, match="not today"):
            await client.call_tool("asks")
    # A modern client has no way to tell the server.
    assert seen == ([-32050] if era is Era.LEGACY else [])


@ERAS
async def test_a_url_is_asked_for(era: Era) -> None:
    seen: list[str] = []

    def link() -> Script:
        answer = yield page("Open the page", "https://example.com/link")
        return answer["action"]

    async def show(context: Any, params: Any) -> Any:
        seen.append(params.url)
        return accept()

    server = ScriptedServer(era, tools=[link])
    async with Client(server, elicitation_callback=show) as client:
        assert text(await client.call_tool("link")) == "accept"
    assert seen == ["https://example.com/link"]


@ERAS
async def test_an_error_of_a_tool_reaches_the_caller(era: Era) -> None:
    def broken() -> Any:
        raise ServerError(-32077, "broken", {"why": "test"})

    def buggy() -> Any:
        raise KeyError("oops")

    async with Client(ScriptedServer(era, tools=[broken, buggy])) as client:
        with pytest.raises(SDKError) as caught:
            await client.call_tool("broken")
        assert caught.value.error.code == -32077
        assert caught.value.error.data == {"why": "test"}
        with pytest.raises(SDKError, match="KeyError: 'oops'"):
            await client.call_tool("buggy")
        with pytest.raises(SDKError, match="Unknown tool: absent"):
            await client.call_tool("absent")


@ERAS
async def test_a_result_may_be_given_as_it_is(era: Era) -> None:
    def failed() -> Any:
        return {"content": [{"type": "text", "text": "no"}], "isError": True}

    async with Client(ScriptedServer(era, tools=[failed])) as client:
        result = await client.call_tool("failed")
        assert is_error(result)
        assert text(result) == "no"


@ERAS
async def test_tools_are_listed_with_their_parameters(era: Era) -> None:
    def add(a: int, b: int = 1) -> str:
        return str(a + b)

    async with Client(ScriptedServer(era, tools=[issue_card, add])) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["issue_card", "add"]
        assert tools[0].description == "Issue a card for a book."
        schema = tools[1].model_dump(by_alias=True)["inputSchema"]
        assert schema["required"] == ["a"]
        assert text(await client.call_tool("add", {"a": 1})) == "2"


@ERAS
async def test_other_methods_answer_and_may_ask_too(era: Era) -> None:
    def get(params: dict[str, Any]) -> Script:
        answer = yield form("Topic?", topic={"type": "string"})
        line = f"{params['name']}: {answer['content']['topic']}"
        content = {"type": "text", "text": line}
        return {"messages": [{"role": "user", "content": content}]}

    server = ScriptedServer(
        era, methods={"prompts/get": get}, capabilities={"prompts": {}}
    )
    async with Client(server, elicitation_callback=elicit) as client:
        prompt: Any = await client.get_prompt("greeting")
        assert prompt.messages[0].content.text == "greeting: the sea"
        with pytest.raises(SDKError, match="Method not found: resources/list"):
            await client.list_resources()


@ERAS
async def test_logs_and_progress_are_told_to_those_who_want_them(era: Era) -> None:
    def chatty() -> Script:
        yield log("info", "too quiet")
        yield log("warning", "loud")
        yield progress(1, 2)
        yield progress(2, 2)
        return "done"

    heard: list[Any] = []

    async def hear(params: Any) -> None:
        heard.append(params.data)

    async def count(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    capabilities: dict[str, Any] = {"tools": {}, "logging": {}}
    server = ScriptedServer(era, tools=[chatty], capabilities=capabilities)
    async with Client(server, logging_callback=hear, log_level="warning") as client:
        await client.call_tool("chatty")
        await client.call_tool("chatty", progress_callback=count)
    assert sorted(map(str, heard)) == ["1", "2", "loud", "loud"]
    assert len(server.transcript.params("notifications/progress")) == 2
    logged = server.transcript.params("notifications/message")
    assert [params["level"] for params in logged] == ["warning", "warning"]


@ERAS
async def test_a_change_is_announced_to_those_who_listen(era: Era) -> None:
    heard = anyio.Event()

    async def handle(message: Any) -> None:
        if type(message).__name__ == "ToolListChangedNotification":
            heard.set()

    server = ScriptedServer(era, capabilities={"tools": {"listChanged": True}})
    async with Client(server, message_handler=handle) as client:
        await client.list_tools()
        with anyio.fail_after(5):
            while not heard.is_set():  # a modern client is still about to listen
                server.announce("notifications/tools/list_changed")
                await anyio.wait_all_tasks_blocked()


@ERAS
async def test_an_update_is_announced_to_subscribers(era: Era) -> None:
    heard = anyio.Event()

    async def handle(message: Any) -> None:
        if type(message).__name__ == "ResourceUpdatedNotification":
            heard.set()

    capabilities = {"resources": {"subscribe": True}}
    server = ScriptedServer(era, capabilities=capabilities)
    async with Client(server, message_handler=handle) as client:
        await client.subscribe_resource("note://one")
        server.announce("notifications/resources/updated", {"uri": "note://one"})
        with anyio.fail_after(5):
            await heard.wait()


@ERAS
async def test_silence_never_answers_and_a_cancel_closes_the_tool(era: Era) -> None:
    closed = anyio.Event()

    def mute() -> Script:
        try:
            yield SILENCE
        finally:
            closed.set()

    server = ScriptedServer(era, tools=[mute])
    async with Client(server, read_timeout_seconds=0.05) as client:
        with pytest.raises(TimeoutError):
            await client.call_tool("mute")
        with anyio.fail_after(5):
            await closed.wait()
    assert "notifications/cancelled" in server.transcript.methods("client")


async def test_a_legacy_server_withdraws_the_questions_of_a_cancelled_call() -> None:
    server = ScriptedServer(Era.LEGACY, tools=[issue_card])
    asked = anyio.Event()

    async def wait(context: Any, params: Any) -> Any:
        asked.set()
        await anyio.sleep_forever()

    async with Client(server, elicitation_callback=wait) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "issue_card", {"book": "x"})
            with anyio.fail_after(5):
                await asked.wait()
            tasks.cancel_scope.cancel()
        await client.send_ping()
    assert "notifications/cancelled" in server.transcript.methods("server")


@ERAS
async def test_the_transcript_reads_as_a_conversation(era: Era) -> None:
    server = ScriptedServer(era, tools=[issue_card])
    async with Client(server, elicitation_callback=elicit) as client:
        await client.call_tool("issue_card", {"book": "x"})
        with pytest.raises(SDKError):
            await client.read_resource("note://none")
    legacy = """\
client: initialize
server: result
client: notifications/initialized
client: tools/call issue_card
server: elicitation/create
client: result
server: result"""
    modern = """\
client: server/discover
server: result
client: tools/call issue_card
server: input_required elicitation/create
client: tools/call issue_card with answers
server: result"""
    lines = str(server.transcript).splitlines()
    if era is Era.LEGACY:  # the probe comes first
        assert lines[:2] == ["client: server/discover", "server: error -32601"]
        lines = lines[2:]
    said = modern if era is Era.MODERN else legacy
    assert [line for line in lines if "tools/list" not in line][
        : len(said.splitlines())
    ] == said.splitlines()
    assert lines[-2:] == ["client: resources/read", "server: error -32601"]


@ERAS
async def test_the_other_era_is_refused(era: Era) -> None:
    with pytest.raises(ConnectionError):
        async with Client(ScriptedServer(era), mode=OTHER[era]):
            pass


@ERAS
async def test_it_serves_one_client_after_another(era: Era) -> None:
    server = ScriptedServer(era, tools=[issue_card])
    for _ in range(2):
        async with Client(server, elicitation_callback=elicit) as client:
            await client.call_tool("issue_card", {"book": "x"})
            with pytest.raises(RuntimeError, match="serves a client already"):
                await server.__aenter__()
    assert server.transcript.methods("client").count("server/discover") == 2


@ERAS
async def test_a_server_that_stops_ends_the_calls(era: Era) -> None:
    def mute() -> Script:
        yield SILENCE

    server = ScriptedServer(era, tools=[mute])
    async with Client(server) as client:
        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                with pytest.raises(ConnectionLost):
                    await client.call_tool("mute")

            tasks.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            server.stop()
