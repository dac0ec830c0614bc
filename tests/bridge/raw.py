"""A client that is nothing but lines, for what no SDK does on purpose."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc

from tests.interop.faces import bridge

CLIENT = {"name": "raw", "version": "1"}
ALL: dict[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}},
    "roots": {},
}


class Raw:
    """The bridge's process, its lines in and out."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self.process = process
        self._buffer = b""
        self._last_id = 0
        self.heard: list[dict[str, Any]] = []
        """What came while an answer was awaited."""

    async def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send(data)

    async def send(self, message: Any) -> None:
        await self.write(json.dumps(message).encode() + b"\n")

    async def line(self) -> bytes:
        assert self.process.stdout is not None
        with anyio.fail_after(20):
            while b"\n" not in self._buffer:
                self._buffer += await self.process.stdout.receive()
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    async def receive(self) -> Any:
        return json.loads(await self.line())

    async def start_request(self, method: str, params: Any = None) -> int:
        self._last_id += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._last_id}
        message["method"] = method
        await self.send(message if params is None else {**message, "params": params})
        return self._last_id

    async def answer_to(self, request_id: Any) -> Any:
        while True:
            message = await self.receive()
            if "method" not in message and message["id"] == request_id:
                return message
            self.heard.append(message)

    async def request(self, method: str, params: Any = None) -> Any:
        return await self.answer_to(await self.start_request(method, params))

    async def call(self, name: str, **arguments: Any) -> Any:
        params = {"name": name, "arguments": arguments}
        return await self.request("tools/call", params)

    async def initialize(
        self, version: str = "2025-11-25", capabilities: Any = None
    ) -> Any:
        params: dict[str, Any] = {
            "protocolVersion": version,
            "capabilities": ALL if capabilities is None else capabilities,
            "clientInfo": CLIENT,
        }
        answer = await self.request("initialize", params)
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    async def end(self) -> int:
        """Close stdin, as a client does that leaves; return the exit status."""
        assert self.process.stdin is not None
        await self.process.stdin.aclose()
        return await self.status()

    async def status(self) -> int:
        with anyio.fail_after(20):
            while self.process.returncode is None:
                await anyio.sleep(0.01)
        return self.process.returncode


@asynccontextmanager
async def raw(
    *arguments: str, env: dict[str, str] | None = None
) -> AsyncGenerator[Raw]:
    """Start the bridge, and kill it if the test has left it running."""
    process = await anyio.open_process(
        bridge(*arguments),
        env={**os.environ, **(env or {})},
        stderr=subprocess.PIPE,
    )
    async with process:
        try:
            yield Raw(process)
        finally:
            if process.returncode is None:
                process.kill()


async def stderr(client: Raw) -> str:
    """Return all of what the bridge has logged; it must have ended."""
    assert client.process.stderr is not None
    data = b""
    try:
        while True:
            data += await client.process.stderr.receive()
    except anyio.EndOfStream:
        return data.decode()
