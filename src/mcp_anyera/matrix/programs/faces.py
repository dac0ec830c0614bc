"""The ways to connect: each stack is one of these, on whichever SDK is installed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import fields
from typing import Any

import mcp
from desk import Desk, Recorder, dumped
from mcp import ClientSession, StdioServerParameters
from mcp.types import SamplingCapability
from verbs import Session

Target = dict[str, Any]
OLD = not hasattr(mcp, "Client")
"""SDK 1.x is installed."""


def callbacks(desk: Desk) -> dict[str, Any]:
    """Return what every stack registers."""
    return {
        "elicitation_callback": desk.elicit,
        "sampling_callback": desk.sample,
        "sampling_capabilities": SamplingCapability.model_validate({"tools": {}}),
        "list_roots_callback": desk.list_roots,
        "logging_callback": desk.log,
        "message_handler": desk.hear,
    }


def stdio(target: Target) -> StdioServerParameters:
    """Return how a command is started."""
    program, *arguments = target["command"]
    return StdioServerParameters(command=program, args=arguments, env=target["env"])


def transport(target: Target) -> AbstractAsyncContextManager[Any]:
    """Return the SDK's own transport to a target."""
    if "url" in target:
        from mcp.client.streamable_http import (  # noqa: PLC0415
            streamable_http_client,
        )

        return streamable_http_client(target["url"])
    from mcp.client.stdio import stdio_client  # noqa: PLC0415

    return stdio_client(stdio(target))


async def asked_for(raw: Any, level: str | None) -> None:
    """Ask for a log level by hand, as one does without a layer.

    A server may have no such method, which the messages that come then show.
    """
    if level is not None:
        with suppress(Exception):
            await raw.set_logging_level(level)


@asynccontextmanager
async def session(
    target: Target, desk: Desk, recorder: Recorder, level: str | None
) -> AsyncGenerator[Session]:
    """Connect with the SDK's session, as most frameworks do."""
    async with (
        transport(target) as (read, write, *_),
        ClientSession(read, write, **callbacks(desk)) as raw,
    ):
        hello = dumped(await raw.initialize())
        await asked_for(raw, level)
        yield Session(raw, hello["protocolVersion"], recorder, old_session=OLD)


def sdk_client(mode: str) -> Any:
    """Return a way to connect with ``mcp.Client`` of SDK 2.x."""

    @asynccontextmanager
    async def connect(
        target: Target, desk: Desk, recorder: Recorder, level: str | None
    ) -> AsyncGenerator[Session]:
        server = target["url"] if "url" in target else transport(target)
        options = callbacks(desk)
        async with mcp.Client(server, mode=mode, log_level=level, **options) as raw:
            spoken = str(raw.protocol_version)
            await asked_for(raw, level if spoken < "2026" else None)
            yield Session(raw, spoken, recorder)

    return connect


@asynccontextmanager
async def client(
    target: Target, desk: Desk, recorder: Recorder, level: str | None
) -> AsyncGenerator[Session]:
    """Connect with ``mcp_anyera.Client``."""
    from mcp_anyera import Client  # noqa: PLC0415 - in some environments only

    def observe(event: Any) -> None:
        recorder.say("note", _words(event))

    server = target["url"] if "url" in target else stdio(target)
    options = callbacks(desk)
    async with Client(server, log_level=level, on_event=observe, **options) as raw:
        yield Session(raw, raw.protocol_version, recorder, telling=True)


@asynccontextmanager
async def adapted(
    target: Target, desk: Desk, recorder: Recorder, level: str | None
) -> AsyncGenerator[Session]:
    """Connect with the SDK's session on streams of ``mcp_anyera.adapt``."""
    from mcp_anyera import adapt  # noqa: PLC0415 - in some environments only

    wire: list[str] = []

    def observe(event: Any) -> None:
        verdict = getattr(event, "verdict", None)
        wire.extend([] if verdict is None else [verdict.revision])
        recorder.say("note", _words(event))

    layer = adapt(transport(target), log_level=level, on_event=observe)
    async with layer as (read, write, *_):
        heard, said = Tapped(read, recorder, "in"), Tapped(write, recorder, "out")
        async with ClientSession(heard, said, **callbacks(desk)) as raw:
            await raw.initialize()
            yield Session(raw, wire[-1], recorder, old_session=OLD)


class Tapped:
    """A stream whose messages are written down as they pass."""

    def __init__(self, stream: Any, recorder: Recorder, direction: str) -> None:
        self._stream = stream
        self._recorder = recorder
        self._direction = direction

    async def send(self, item: Any) -> None:
        """Pass on what the session says."""
        self._note(item)
        await self._stream.send(item)

    async def receive(self) -> Any:
        """Pass on what the session hears."""
        item = await self._stream.receive()
        self._note(item)
        return item

    def _note(self, item: Any) -> None:
        if hasattr(item, "message"):
            self._recorder.write(self._direction, dumped(item.message))

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> Any:
        """Iterate over what is received."""
        return self

    async def __anext__(self) -> Any:
        """Receive, or stop at the end."""
        from anyio import EndOfStream  # noqa: PLC0415 - beside its only use

        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Any:
        """Return the stream."""
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """Close the stream."""
        await self.aclose()


def _words(event: Any) -> str:
    """Say what the layer tells about itself in a few words."""
    verdict = getattr(event, "verdict", None)
    if verdict is not None:
        steps = "; ".join(str(step) for step in verdict.evidence)
        return f"{verdict.era.value}, {verdict.revision} ({steps})"
    words = [type(event).__name__]
    for field in fields(event):
        value = getattr(event, field.name)
        if isinstance(value, float):
            words.append(f"{value:.3f} s")
        elif isinstance(value, str | int | tuple):
            words.append(str(value))
    return " ".join(words)


FACES: dict[str, Any] = {
    "session": session,
    "sdk-auto": sdk_client("auto"),
    "sdk-legacy": sdk_client("legacy"),
    "client": client,
    "adapt": adapted,
}
