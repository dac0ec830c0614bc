"""The client under test: one program for both SDK lines.

The suite starts it with the URL of its server as the last argument and says in
the environment what to do. Nothing in here asks for an era: finding out is what is
tested. An answer that cannot be is an exception; its last word is ``DONE`` otherwise.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import anyio
from authorization import provider
from mcp.types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    TextContent,
)
from verdicts import DONE

from mcp_anyera import Client

try:
    from mcp import MCPError
except ImportError:  # SDK 1.x
    from mcp import McpError as MCPError

CONTEXT: Final[dict[str, Any]] = json.loads(
    os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")
)
"""What the scenario lets the client know beforehand."""


# -- callbacks ---------------------------------------------------------------------


async def accept_defaults(_context: object, params: Any) -> ElicitResult:
    """Send a form back as the server has filled it in."""
    fields = dumped(params)["requestedSchema"]["properties"]
    content = {
        name: field["default"] for name, field in fields.items() if "default" in field
    }
    return ElicitResult(action="accept", content=content)


async def confirm(_context: object, _params: Any) -> ElicitResult:
    """Say yes."""
    return ElicitResult(action="accept", content={"confirmed": True})


async def sample(_context: object, _params: Any) -> CreateMessageResult:
    """Stand in for a model."""
    text = TextContent(type="text", text="ok")
    return CreateMessageResult(role="assistant", content=text, model="none")


async def no_roots(_context: object) -> ListRootsResult:
    """Share no folder."""
    return ListRootsResult(roots=[])


# -- scenarios ---------------------------------------------------------------------


async def list_tools(url: str) -> None:
    """Connect and read the list of tools."""
    async with Client(url) as client:
        await client.list_tools()


async def add(url: str) -> None:
    """Call a tool with arguments."""
    async with Client(url) as client:
        await client.list_tools()
        result = await client.call_tool("add_numbers", {"a": 5, "b": 3})
        assert "8" in text_of(result)


async def reconnect(url: str) -> None:
    """Call a tool whose stream breaks off before the result."""
    async with Client(url) as client:
        await client.list_tools()
        await client.call_tool("test_reconnection")


async def fill_in(url: str) -> None:
    """Call a tool that asks, and accept what its form proposes."""
    async with Client(url, elicitation_callback=accept_defaults) as client:
        await client.list_tools()
        await client.call_tool("test_client_elicitation_defaults")


async def echo_schema(url: str) -> None:
    """Send the schema of a tool back as it was received."""
    async with Client(url) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        schema = dumped(tools["json_schema_2020_12_tool"])["inputSchema"]
        await client.call_tool("json_schema_echo", {"schema": schema})


async def declare_everything(url: str) -> None:
    """Register each kind of callback, so that each capability is declared."""
    async with Client(
        url,
        elicitation_callback=accept_defaults,
        sampling_callback=sample,
        list_roots_callback=no_roots,
    ) as client:
        await client.list_tools()
        await client.call_tool("add_numbers", {"a": 5, "b": 3})


async def answer_rounds(url: str) -> None:
    """Call tools that ask with a state and without, and one that does not ask."""
    async with Client(url, elicitation_callback=confirm) as client:
        await client.list_tools()
        await client.call_tool("test_mrtr_echo_state")
        await client.call_tool("test_mrtr_unrelated")
        await client.call_tool("test_mrtr_no_state")
        # The suite counts this as passed before the result has been read.
        result = await client.call_tool("test_mrtr_no_result_type")
        assert text_of(result) == "no-result-type-test-ok"


async def use_everything(url: str) -> None:
    """Send one request for each thing that the server has."""
    async with Client(url) as client:
        for tool in (await client.list_tools()).tools:
            await client.call_tool(tool.name)
        for resource in (await client.list_resources()).resources:
            await client.read_resource(str(resource.uri))
        for prompt in (await client.list_prompts()).prompts:
            await client.get_prompt(prompt.name)


async def call_valid_tools(url: str) -> None:
    """Call each tool that the client lets through."""
    async with Client(url) as client:
        for tool in (await client.list_tools()).tools:
            required = dumped(tool)["inputSchema"].get("required", [])
            await client.call_tool(tool.name, dict.fromkeys(required, "x"))


async def replay_calls(url: str) -> None:
    """Make the calls that the scenario dictates."""
    async with Client(url) as client:
        await client.list_tools()
        for call in CONTEXT["toolCalls"]:
            await client.call_tool(call["name"], call["arguments"])


async def authorize(url: str) -> None:
    """Call a tool of a server that wants a token, of more than one kind perhaps."""
    async with Client(url, auth=provider(url, CONTEXT)) as client:
        tools = (await client.list_tools()).tools
        await client.call_tool(tools[0].name)


async def give_up(url: str) -> None:
    """Meet a server that must not get a token, or that never is content with one.

    Raises:
        AssertionError: The client went along with it.
    """
    try:
        await authorize(url)
    except MCPError as error:
        print(error, file=sys.stderr)
    else:
        raise AssertionError("the client saw nothing wrong")


SCENARIOS: Final[dict[str, Callable[[str], Awaitable[None]]]] = {
    "initialize": list_tools,
    "tools_call": add,
    "sse-retry": reconnect,
    "elicitation-sep1034-client-defaults": fill_in,
    "json-schema-2020-12-preservation": echo_schema,
    "json-schema-ref-no-deref": list_tools,
    "request-metadata": declare_everything,
    "sep-2322-client-request-state": answer_rounds,
    "http-standard-headers": use_everything,
    "http-invalid-tool-headers": call_valid_tools,
    "http-custom-headers": replay_calls,
    "auth/iss-normalized": give_up,
    "auth/iss-supported-missing": give_up,
    "auth/iss-unexpected": give_up,
    "auth/iss-wrong-issuer": give_up,
    "auth/metadata-issuer-mismatch": give_up,
    "auth/resource-mismatch": give_up,
    "auth/scope-retry-limit": give_up,
}
"""All but those in which a client gets a token, which are ``auth/`` and any name."""


# -- plumbing ----------------------------------------------------------------------


def dumped(model: Any) -> dict[str, Any]:
    """Return an object of the SDK as JSON; the lines name its fields differently."""
    return model.model_dump(mode="json", by_alias=True)


def text_of(result: Any) -> str:
    """Return the text of a result that is nothing but one."""
    assert not dumped(result)["isError"]
    (content,) = result.content
    return content.text


def main(arguments: Sequence[str]) -> None:
    """Run the scenario that the environment names.

    Raises:
        SystemExit: The scenario is unknown to this program.
    """
    name = os.environ["MCP_CONFORMANCE_SCENARIO"]
    scenario = SCENARIOS.get(name, authorize if name.startswith("auth/") else None)
    if scenario is None:
        sys.exit(f"no such scenario in client.py: {name}")
    anyio.run(scenario, arguments[-1])
    print(DONE)


if __name__ == "__main__":
    main(sys.argv)
