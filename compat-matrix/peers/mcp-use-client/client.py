"""mcp-use, as an application uses it: one configuration, one session.

Usage: ``python client.py '{"command": ..., "args": [...]}'`` or ``'{"url": ...}'``.
What came of each thing is printed as one JSON object.
"""

import asyncio
import json
import os
import sys
from datetime import timedelta
from typing import Any

os.environ["MCP_USE_ANONYMIZED_TELEMETRY"] = "false"

from mcp import McpError, types
from mcp_use import MCPClient
from pydantic import AnyUrl

ANSWERS = {"name": "Ada", "first": "one", "second": "two", "go": True, "topic": "sea"}
ANSWERS["page"] = "7"
heard: dict[str, list[Any]] = {"logs": [], "changes": [], "progress": []}
WAIT = 10.0


async def elicit(context: Any, params: Any) -> types.ElicitResult:
    if params.mode == "url":
        return types.ElicitResult(action="accept")
    names = params.requestedSchema["properties"]
    return types.ElicitResult(action="accept", content={n: ANSWERS[n] for n in names})


async def sample(context: Any, params: Any) -> types.CreateMessageResult:
    content = types.TextContent(type="text", text="short")
    return types.CreateMessageResult(role="assistant", content=content, model="none")


async def roots(context: Any) -> types.ListRootsResult:
    root = {"uri": "file:///srv/books"}
    return types.ListRootsResult.model_validate({"roots": [root]})


async def log(params: Any) -> None:
    heard["logs"].append(params.level)


async def count(progress: float, total: float | None, message: str | None) -> None:
    heard["progress"].append(progress)


async def handle(message: Any) -> None:
    heard["changes"].append(getattr(getattr(message, "root", None), "method", ""))


async def until(condition: Any) -> None:
    async with asyncio.timeout(WAIT):
        while not condition():  # noqa: ASYNC110 - what is heard sets no event
            await asyncio.sleep(0.01)


async def main(place: dict[str, Any]) -> dict[str, Any]:
    client = MCPClient(
        {"mcpServers": {"peer": place}},
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=roots,
        logging_callback=log,
        message_handler=handle,
    )
    session = await client.create_session("peer")
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
    }
    done: dict[str, Any] = {}
    for name, arguments in calls.items():
        done[name] = (await session.call_tool(name, arguments)).content[0].text
    prompt = await session.get_prompt("asking_prompt", {})
    done["prompt"] = prompt.messages[0].content.text
    resource = await session.read_resource("note://asking")
    done["resource"] = resource.contents[0].text
    wire = session.connector.client_session
    counted = await wire.call_tool("count_and_ask", {"steps": 2}, None, count)
    done["count_and_ask"] = counted.content[0].text
    done["progress"] = heard["progress"]
    ref = types.PromptReference(type="ref/prompt", name="greeting")
    completed = await wire.complete(ref, {"name": "name", "value": "Al"})
    done["complete"] = completed.completion.values
    done["fail"] = (await session.call_tool("fail", {})).isError
    await wire.set_logging_level("warning")
    await session.call_tool("chatty", {})
    await wire.send_ping()
    await wire.subscribe_resource(AnyUrl("note://plain"))
    await session.call_tool("touch", {"uri": "note://plain"})
    await until(lambda: "notifications/resources/updated" in heard["changes"])
    await session.call_tool("add_tool", {})
    await until(lambda: "notifications/tools/list_changed" in heard["changes"])
    done["logs"] = heard["logs"]
    done["changes"] = "heard"
    try:
        await wire.call_tool("slow", {"seconds": 60}, timedelta(seconds=0.3))
    except McpError as error:
        done["cancel"] = f"ended: {'Timed out' in str(error)}".lower()
    echo = await session.call_tool("echo", {"text": "still here"})
    done["after"] = echo.content[0].text
    await client.close_all_sessions()
    return done


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.loads(sys.argv[1])))))
