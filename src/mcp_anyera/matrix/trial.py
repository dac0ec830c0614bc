"""A first look at a server, before any client stack meets it.

A server that does not start would fail every scenario of every stack, and each time
the client would be blamed.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

from mcp_anyera._sdk import httpx
from mcp_anyera.matrix.processes import NotStartedError, started, tail
from mcp_anyera.matrix.scenarios import LEGACY

ANSWERS_WITHIN: Final = 10.0
"""Seconds; a server that says nothing for longer is left to the scenarios."""
HANDSHAKE: Final[dict[str, Any]] = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": LEGACY,
        "capabilities": {},
        "clientInfo": {"name": "anyera matrix", "version": "1"},
    },
}


async def refused_by_command(command: Sequence[str]) -> bool:
    """Start a stdio server, and tell whether it refuses the legacy handshake.

    Raises:
        NotStartedError: It ended before it had answered.
    """
    with tempfile.TemporaryDirectory(prefix="anyera-matrix-") as scratch:
        errors = Path(scratch) / "stderr"
        with suppress(TimeoutError):
            async with started(command, {}, errors) as process:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(json.dumps(HANDSHAKE).encode() + b"\n")
                async with asyncio.timeout(ANSWERS_WITHIN):
                    answer = await _refused(process.stdout)
                    status = None if answer is not None else await process.wait()
            if answer is not None:
                return answer
            said = tail(errors) or "nothing"
            raise NotStartedError(
                f"the server ended with status {status} instead of answering; "
                f"on stderr: {said}"
            )
    return False


async def refused_by_url(url: str) -> bool:
    """Tell whether an HTTP server refuses the legacy handshake."""
    headers = {"accept": "application/json, text/event-stream"}
    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(ANSWERS_WITHIN), httpx.AsyncClient() as client:
            sent = client.stream("POST", url, json=HANDSHAKE, headers=headers)
            async with sent as reply:
                answer = await _refused(reply.aiter_lines())
            if session := reply.headers.get("mcp-session-id"):
                await client.delete(url, headers={"mcp-session-id": session})
            return bool(answer)
    return False


async def _refused(lines: AsyncIterable[str | bytes]) -> bool | None:
    """Tell whether the first answer is an error; ``None`` if there is no answer."""
    async for line in lines:
        text = line if isinstance(line, str) else line.decode("utf-8", "replace")
        with suppress(ValueError):
            said: Any = json.loads(text.removeprefix("data:"))
            if isinstance(said, dict) and {"result", "error"} & {*cast("Any", said)}:
                return "error" in said
    return None
