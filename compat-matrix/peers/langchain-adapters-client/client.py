"""langchain-mcp-adapters, as an application uses it: tools, prompts and resources.

Usage: ``python client.py '{"command": ..., "args": [...]}'`` or ``'{"url": ...}'``.
What came of each thing is printed as one JSON object.
"""

import asyncio
import json
import sys
from datetime import timedelta
from typing import Any

from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp import ClientSession, McpError, types
from pydantic import AnyUrl

ANSWERS = {"name": "Ada", "first": "one", "second": "two", "go": True, "topic": "sea"}
ANSWERS["page"] = "7"
seen: dict[str, list[Any]] = {"progress": [], "logs": [], "changes": []}
WAIT = 10.0


async def on_elicitation(mcp: Any, params: Any, context: Any) -> types.ElicitResult:
    if params.mode == "url":
        return types.ElicitResult(action="accept")
    names = params.requestedSchema["properties"]
    return types.ElicitResult(action="accept", content={n: ANSWERS[n] for n in names})


async def on_progress(
    progress: float, total: float | None, message: str | None, context: Any
) -> None:
    seen["progress"].append(progress)


async def on_logging(params: Any, context: Any) -> None:
    seen["logs"].append(params.level)


async def sample(context: Any, params: Any) -> types.CreateMessageResult:
    content = types.TextContent(type="text", text="short")
    return types.CreateMessageResult(role="assistant", content=content, model="none")


async def roots(context: Any) -> types.ListRootsResult:
    root = {"uri": "file:///srv/books"}
    return types.ListRootsResult.model_validate({"roots": [root]})


def text(result: Any) -> str:
    if isinstance(result, str):
        return result
    first = result[0]
    return first["text"] if isinstance(first, dict) else first.text


async def handle(message: Any) -> None:
    seen["changes"].append(getattr(getattr(message, "root", None), "method", ""))


async def until(condition: Any) -> None:
    async with asyncio.timeout(WAIT):
        while not condition():  # noqa: ASYNC110 - what is heard sets no event
            await asyncio.sleep(0.01)


async def main(place: dict[str, Any]) -> dict[str, Any]:
    transport = "streamable_http" if "url" in place else "stdio"
    kwargs = {
        "sampling_callback": sample,
        "sampling_capabilities": types.SamplingCapability.model_validate({"tools": {}}),
        "list_roots_callback": roots,
        "message_handler": handle,
    }
    connection = {**place, "transport": transport, "session_kwargs": kwargs}
    callbacks = Callbacks(
        on_elicitation=on_elicitation,
        on_progress=on_progress,
        on_logging_message=on_logging,
    )
    client = MultiServerMCPClient({"peer": connection}, callbacks=callbacks)
    tools = {tool.name: tool for tool in await client.get_tools()}
    calls: dict[str, dict[str, Any]] = {
        "echo": {"text": "é\u2028x"},
        "issue_card": {"book": "Dune"},
        "link_account": {},
        "summarise": {"text": "t"},
        "workspace": {},
        "two_rounds": {},
        "three_questions": {},
        "patience": {"legs": 3},
        "regional": {"region": "north"},
        "use_tools": {},
        "count_and_ask": {"steps": 2},
    }
    done: dict[str, Any] = {
        name: text(await tools[name].ainvoke(arguments))
        for name, arguments in calls.items()
    }
    done["progress"] = seen["progress"]
    prompt = await client.get_prompt("peer", "asking_prompt")
    done["prompt"] = prompt[0].content
    resource = await client.get_resources("peer", uris=["note://asking"])
    done["resource"] = resource[0].as_string()
    async with client.session("peer") as session:
        await in_one_session(session, done)
    done["logs"] = seen["logs"]
    return done


async def in_one_session(session: ClientSession, done: dict[str, Any]) -> None:
    await session.set_logging_level("warning")
    await session.call_tool("chatty", {})
    await session.send_ping()
    ref = types.PromptReference(type="ref/prompt", name="greeting")
    completed = await session.complete(ref, {"name": "name", "value": "Al"})
    done["complete"] = completed.completion.values
    done["fail"] = (await session.call_tool("fail", {})).isError
    await session.subscribe_resource(AnyUrl("note://plain"))
    await session.call_tool("touch", {"uri": "note://plain"})
    await until(lambda: "notifications/resources/updated" in seen["changes"])
    await session.call_tool("add_tool", {})
    await until(lambda: "notifications/tools/list_changed" in seen["changes"])
    done["changes"] = "heard"
    try:
        await session.call_tool("slow", {"seconds": 60}, timedelta(seconds=0.3))
    except McpError as error:
        done["cancel"] = f"ended: {'Timed out' in str(error)}".lower()
    echo = await session.call_tool("echo", {"text": "still here"})
    done["after"] = text(echo.content)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.loads(sys.argv[1])))))
