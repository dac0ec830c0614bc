"""Rows B1 to B19: asking and answering."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import anyio.lowlevel

from mcp_anyera import (
    CallbackContext,
    CallbackError,
    ProtocolViolation,
    QuestionDeclined,
    QuestionRefused,
    RoundsExceeded,
    accept,
    cancel,
    decline,
    refuse,
)
from mcp_anyera._sdk import SDKError, types
from tests.contract.table import Cell, row
from tests.interop.faces import EVERYTHING, elicit, text, until
from tests.interop.scripting import scripted_server

KINDS = ("elicitation", "sampling", "roots")


def answering(value: Any) -> dict[str, Any]:
    async def answer(context: Any, params: Any) -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    return {"elicitation_callback": answer}


async def failure(client: Any, tool: str, **arguments: Any) -> Any:
    try:
        result = await client.call_tool(tool, arguments)
    except SDKError as error:
        return error
    return text(result)


@row(
    "B1",
    "what is registered is declared, and nothing else",
    [[], ["elicitation"], ["elicitation", "roots", "sampling"]],
)
async def declared(cell: Cell) -> Any:
    features: list[Any] = []
    for callbacks in ({}, {"elicitation_callback": elicit}, EVERYTHING):
        async with cell.client(**callbacks) as client:
            said = text(await client.call_tool("client_features"))
            features.append(sorted(filter(str.isalpha, said.strip("[]").split('"'))))
    return features


@row(
    "B2",
    "a question for which nothing is registered",
    [
        ["QuestionRefused", -32600, "elicitation_callback="],
        ["QuestionRefused", -32600, "sampling_callback="],
        ["QuestionRefused", -32600, "list_roots_callback="],
    ],
)
async def unregistered(cell: Cell) -> Any:
    async with cell.client() as client:
        errors = [await failure(client, "ask", kind=kind) for kind in KINDS]
    return [
        [type(error).__name__, error.code, str(error).split()[-4]] for error in errors
    ]


@row("B3", "a callback returns `ErrorData`", ["QuestionRefused", -32050, "no", [1]])
async def refused(cell: Cell) -> Any:
    no = refuse("no", code=-32050, data=[1])
    async with cell.client(**answering(no)) as client:
        error = await failure(client, "ask", kind="elicitation")
    return [type(error).__name__, error.code, str(error), error.data]


@row("B4", "a callback raises", ["CallbackError", -32603, True, None])
async def raised(cell: Cell) -> Any:
    boom = ValueError("secret")
    async with cell.client(**answering(boom)) as client:
        error = await failure(client, "ask", kind="elicitation")
    return [type(error).__name__, error.code, error.__cause__ is boom, error.data]


@row("B5", "a callback returns what is no answer", [True, True, True])
async def invalid(cell: Cell) -> Any:
    seen: list[bool] = []
    for junk in (None, {"action": "agreed"}, types.EmptyResult()):
        async with cell.client(**answering(junk)) as client:
            error = await failure(client, "ask", kind="elicitation")
        expected = "expected ElicitResult or ErrorData" in str(error)
        seen.append(isinstance(error, CallbackError) and expected)
    return seen


@row("B6", "decline and cancel are answers", ["declined", "cancelled"])
async def declined(cell: Cell) -> Any:
    said: list[Any] = []
    for answer in (decline(), cancel()):
        async with cell.client(**answering(answer)) as client:
            said.append(await failure(client, "issue_card", book="Dune"))
    return said


@row("B7", "a declined question comes again", ["QuestionDeclined", 1])
async def insisted(cell: Cell) -> Any:
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> Any:
        asked.append(params.message)
        return decline()

    async with cell.client(elicitation_callback=answer) as client:
        error = await failure(client, "insist")
    assert isinstance(error, QuestionDeclined), error
    return [type(error).__name__, len(asked)]


@row("B8", "three questions at once, or one by one", [[3, True], [1, True]])
async def together(cell: Cell) -> Any:
    return [await most_open(cell, limit) for limit in (None, 1)]


async def most_open(cell: Cell, limit: int | None) -> list[Any]:
    open_now, most, all_open = set[str](), [0], anyio.Event()

    def counted(name: str) -> Any:
        async def callback(*arguments: Any) -> Any:
            open_now.add(name)
            most[0] = max(most[0], len(open_now))
            if limit is None:
                if len(open_now) == len(KINDS):
                    all_open.set()
                await all_open.wait()
            open_now.remove(name)
            return await EVERYTHING[name](*arguments)

        return callback

    names = ("elicitation_callback", "sampling_callback", "list_roots_callback")
    callbacks = {name: counted(name) for name in names}
    async with cell.client(max_concurrent_questions=limit, **callbacks) as client:
        said = await failure(client, "three_questions")
    return [most[0], said == "Ada / short / 1"]


FIVE = [f"Name {number}?" for number in range(5)]


@row("B8 in order", "five questions at once, and one after the other", [True, FIVE])
async def in_order(cell: Cell) -> Any:
    open_now, all_open, asked = set[str](), anyio.Event(), list[str]()

    async def together(context: Any, params: Any) -> Any:
        open_now.add(params.message)
        if len(open_now) == len(FIVE):
            all_open.set()
        await all_open.wait()
        return accept({"name": params.message})

    async def one(context: Any, params: Any) -> Any:
        asked.append(params.message)
        await anyio.lowlevel.checkpoint()
        return accept({"name": params.message})

    async with cell.client(elicitation_callback=together) as client:
        said = await failure(client, "several", count=len(FIVE))
    options = {"max_concurrent_questions": 1, "elicitation_callback": one}
    async with cell.client(**options) as client:
        again = await failure(client, "several", count=len(FIVE))
    return [said == again == ",".join(FIVE), asked]


@row(
    "B9",
    "an answer does not fit the form",
    [["card for Ada: Dune", [None, "name: 7 is not of type 'string'"]], "cancelled"],
)
async def unfit(cell: Cell) -> Any:
    problems: list[str | None] = []
    answers = [accept({"name": 7}), accept({"name": "Ada"})]

    async def answer(context: CallbackContext, params: Any) -> Any:
        problems.append(context.problem)
        return answers[len(problems) - 1]

    async with cell.client(elicitation_callback=answer) as client:
        mended = await failure(client, "issue_card", book="Dune")
    async with cell.client(**answering(accept({"name": 7}))) as client:
        never = await failure(client, "issue_card", book="Dune")
    return [[mended, problems], never]


URLS = (
    "https://example.com/",
    "http://127.0.0.1:8000/",
    "http://example.com/",
    "javascript:alert(1)",
    "https://user@example.com/",
)


@row(
    "B10",
    "a page is to be shown",
    ["opened: accept", "opened: accept", -32602, -32602, -32602, "mode", 2],
)
async def pages(cell: Cell) -> Any:
    shown: list[str] = []

    async def answer(context: Any, params: Any) -> Any:
        shown.append(params.url)
        return accept()

    async with cell.client(elicitation_callback=answer) as client:
        said = [await failure(client, "open_page", url=url) for url in URLS]
    only_forms: dict[str, Any] = {"elicitation_modes": ["form"], **answering(accept())}
    async with cell.client(**only_forms) as client:
        error = await failure(client, "open_page", url=URLS[0])
    assert error.code == -32602
    refused = [one.code if isinstance(one, QuestionRefused) else one for one in said]
    return [*refused, str(error).split()[1], len(shown)]


@row(
    "B11",
    "a page must be visited first, and the server still waits for it",
    [["welcome", ["https://example.com/join"]], "no"],
)
async def visits(cell: Cell) -> Any:
    shown: list[str] = []

    async def answer(context: Any, params: Any) -> Any:
        shown.append(params.url)
        return accept()

    async with cell.client(elicitation_callback=answer) as client:
        welcome = await failure(client, "members_only", visits=3)
    async with cell.client(**answering(decline())) as client:
        said = await failure(client, "members_only", visits=1)
        # On a legacy wire the tool counts; what it counts is spent for the next.
        with suppress(SDKError):
            await client.call_tool("members_only", {"visits": 1})
    no = isinstance(said, QuestionDeclined) or said == "stay out"
    return [[welcome, shown], "no" if no else said]


@row(
    "B12",
    "the server takes its question back",
    ["without an answer", True],
    eras=("legacy",),
)
async def taken_back(cell: Cell) -> Any:
    withdrawn = anyio.Event()

    async def answer(context: Any, params: Any) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            withdrawn.set()

    async with cell.client(elicitation_callback=answer) as client:
        said = await failure(client, "giving_up")
        with anyio.fail_after(5):
            await withdrawn.wait()
    return [said, withdrawn.is_set()]


@row("B13", "the caller cancels the call", [True, True, "x"])
async def cancelled(cell: Cell) -> Any:
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        async with cell.client(env={"PEER_LOG": str(log)}) as client:
            await cancel_when(client, "slow", {"seconds": 60}, written(log, "started"))
            with anyio.fail_after(10):
                await written(log, "cancelled slow")()
        asked, withdrawn = anyio.Event(), anyio.Event()

        async def answer(context: Any, params: Any) -> Any:
            asked.set()
            try:
                await anyio.sleep_forever()
            finally:
                withdrawn.set()

        async with cell.client(elicitation_callback=answer) as client:
            await cancel_when(client, "issue_card", {"book": "x"}, asked.wait)
            with anyio.fail_after(5):
                await withdrawn.wait()
            said = await failure(client, "echo", text="x")
    return [True, withdrawn.is_set(), said]


def written(log: Path, word: str) -> Any:
    def there() -> bool:
        return log.exists() and word in log.read_text()

    return partial(until, there)


async def cancel_when(client: Any, tool: str, arguments: Any, ready: Any) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, tool, arguments)
        with anyio.fail_after(10):
            await ready()
        tasks.cancel_scope.cancel()


@row("B14", "a callback uses its own client", ["one", "two", "card for Ada: x"])
async def reentrant(cell: Cell) -> Any:
    heard: list[str] = []
    clients: list[Any] = []

    async def answer(context: CallbackContext, params: Any) -> Any:
        first = await context.session.call_tool("echo", {"text": "one"})
        heard.extend([text(first), await failure(clients[0], "echo", text="two")])
        return accept({"name": "Ada"})

    async with cell.client(elicitation_callback=answer) as client:
        clients.append(client)
        said = await failure(client, "issue_card", book="x")
    return [*heard, said]


@row(
    "B15",
    "which call does a question belong to",
    ["tools/call", "issue_card", {"book": "Dune"}, "mine"],
)
async def attributed(cell: Cell) -> Any:
    contexts: list[CallbackContext] = []

    async def answer(context: CallbackContext, params: Any) -> Any:
        contexts.append(context)
        return decline()

    async with cell.client(elicitation_callback=answer, label="mine") as client:
        await failure(client, "issue_card", book="Dune")
    call = contexts[0].call
    assert call is not None
    return [call.method, call.name, call.arguments, contexts[0].server]


@row("B16", "a server asks for nothing but patience", "done after 5 legs")
async def patience(cell: Cell) -> Any:
    async with cell.client(input_required_max_rounds=2) as client:
        return await failure(client, "patience", legs=5)


@row("B17", "a server never stops asking", ["RoundsExceeded", 3, True])
async def endless(cell: Cell) -> Any:
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> Any:
        asked.append(params.message)
        return accept({"name": "x"})

    async with cell.client(elicitation_callback=answer, max_questions=3) as client:
        error = await failure(client, "endless")
    assert isinstance(error, RoundsExceeded), error
    last = error.questions[0]["params"]["message"]
    return [type(error).__name__, len(asked), last == "Question 4?"]


@row("B18", "a round is malformed", [True, True, True], eras=("modern",))
async def malformed(cell: Cell) -> Any:
    with scripted_server("bad_rounds", cell.transport) as place:
        async with cell.client(at=place, **EVERYTHING) as client:
            faults = ("neither", "unknown", "params")
            errors = [await failure(client, fault) for fault in faults]
    return [isinstance(error, ProtocolViolation) for error in errors]


@row("B19", "`requestState` comes back byte for byte", "kept")
async def state(cell: Cell) -> Any:
    async with cell.client(**EVERYTHING) as client:
        return await failure(client, "keep_state")
