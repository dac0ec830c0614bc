"""The ways to use the layer, behind one set of verbs.

``client`` is our `Client`; ``adapt`` is the SDK's unchanged session on adapted
streams; ``bridge`` and ``bridge-http`` are that session on the SDK's own transports,
with ``anyera bridge`` before the server. All have the verbs that the tests use under
the same names.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from typing import Any

import anyio
from mcp import ClientSession
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl

from mcp_anyera import Client, adapt
from mcp_anyera._sdk import SDK1, StdioServerParameters, types
from tests.interop.peers import command, listening, shared

FACES = ("client", "adapt")
ANSWERS: dict[str, Any] = {
    "name": "Ada",
    "first": "one",
    "second": "two",
    "go": True,
    "topic": "the sea",
    "page": "7",
}


@asynccontextmanager
async def connected(
    face: str,
    peer: str,
    env: dict[str, str] | None = None,
    at: Any = None,
    **options: Any,
) -> AsyncGenerator[Any]:
    """Connect to a peer, or to another place, in one of the two ways.

    A peer over HTTP is shared with other tests unless it gets an environment.
    """
    found = _place(peer, env) if at is None else nullcontext(at)
    # On trio, a test that hangs would hang the whole run in spite of its timeout.
    with anyio.fail_after(45), found as place:
        if face == "client":
            async with Client(place, **options) as client:
                yield client
            return
        if face.startswith("bridge"):
            level = options.pop("log_level", None)
            more = [] if level is None else ["--log-level", level]
            async with _bridged(face, place, env, more) as (read, write, *_):
                async with ClientSession(read, write, **options) as session:
                    await session.initialize()
                    yield session
            return
        transport = (
            streamable_http_client(place)
            if isinstance(place, str)
            else stdio_client(place)
        )
        level = options.pop("log_level", None)
        async with adapt(transport, log_level=level) as (read, write, *_):
            async with ClientSession(read, write, **options) as session:
                await session.initialize()
                yield session


@asynccontextmanager
async def _bridged(
    face: str, place: Any, env: dict[str, str] | None, options: list[str]
) -> AsyncGenerator[Any]:
    target = [place] if isinstance(place, str) else ["--", place.command, *place.args]
    if face == "bridge":
        program, *arguments = bridge(*options, *target)
        how = StdioServerParameters(command=program, args=arguments, env=env)
        async with stdio_client(how) as streams:
            yield streams
        return
    with listening_bridge(*options, *target, env=env) as url:
        async with streamable_http_client(url) as streams:
            yield streams


def bridge(*arguments: str) -> list[str]:
    """Return the command that starts the bridge in this environment."""
    return [sys.executable, "-m", "mcp_anyera", "bridge", *arguments]


@contextmanager
def listening_bridge(
    *arguments: str, env: dict[str, str] | None = None
) -> Generator[str]:
    """Start the bridge as an HTTP server on a free port and yield its URL."""
    process = subprocess.Popen(
        bridge("--http", "0", *arguments),
        env={**os.environ, **(env or {})},
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert "listening on" in line, line
            yield line.split()[-1]
        finally:
            process.terminate()
            process.communicate(timeout=20)


@contextmanager
def _place(peer: str, env: dict[str, str] | None) -> Generator[Any]:
    name = peer.removesuffix("@http")
    if name == peer:
        program, *arguments = command(peer)
        yield StdioServerParameters(command=program, args=arguments, env=env)
    elif env is None:
        yield shared(name)
    else:
        with listening(name, env) as url:
            yield url


async def elicit(context: Any, params: Any) -> types.ElicitResult:
    """Agree to everything, with the values of `ANSWERS`."""
    if params.mode == "url":
        return types.ElicitResult(action="accept")
    schema: dict[str, Any] = params.requestedSchema if SDK1 else params.requested_schema
    content = {name: ANSWERS[name] for name in schema["properties"]}
    return types.ElicitResult(action="accept", content=content)


async def sample(context: Any, params: Any) -> types.CreateMessageResult:
    """Stand in for a model."""
    text = types.TextContent(type="text", text="short")
    return types.CreateMessageResult(role="assistant", content=text, model="none")


async def list_roots(context: Any) -> types.ListRootsResult:
    """Share one folder."""
    return types.ListRootsResult.model_validate(
        {"roots": [{"uri": "file:///srv/books"}]}
    )


EVERYTHING: dict[str, Any] = {
    "elicitation_callback": elicit,
    "sampling_callback": sample,
    "list_roots_callback": list_roots,
    "sampling_capabilities": types.SamplingCapability.model_validate({"tools": {}}),
}


def text(result: Any) -> str:
    """Return the text of a tool result."""
    return result.content[0].text


def is_error(result: Any) -> bool:
    """Tell whether a tool result is an error, on either line."""
    return bool(result.isError if SDK1 else result.is_error)


def uri(value: str) -> Any:
    """Return a URI as the verbs of the installed line want it."""
    return AnyUrl(value) if SDK1 else value


async def until(condition: Any) -> None:
    """Wait for something that another process does."""
    with anyio.fail_after(10):
        while not condition():
            await anyio.sleep(0.01)
