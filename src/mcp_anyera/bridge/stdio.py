"""The bridge as a server on stdin and stdout.

stdout carries the protocol and nothing else: whatever prints by accident prints to
stderr. The bridge ends when either side does: with status 0 when the client is gone,
1 when the server is.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, cast

import anyio

from mcp_anyera.bridge.batches import Batches
from mcp_anyera.bridge.flow import GatedWire
from mcp_anyera.bridge.lines import LineReader, LineWriter
from mcp_anyera.bridge.options import BridgeOptions
from mcp_anyera.bridge.session import Session
from mcp_anyera.bridge.writing import written
from mcp_anyera.engine import Message, ToClient, jsonrpc
from mcp_anyera.engine.failures import INTERNAL_ERROR, INVALID_REQUEST
from mcp_anyera.transports.wire import Malformed, from_json

PARSE_ERROR: Final = -32700
DRAIN_TIMEOUT: Final = 2.0
"""Seconds at the end for the last lines to reach the client."""
COMPLAINT_TIMEOUT: Final = 5.0
"""Seconds to wait for a request that can be told why there is no server."""
SIGNALLED: Final = 128
ENDING: Final = tuple(
    one for one in signal.Signals if one.name in {"SIGINT", "SIGTERM", "SIGHUP"}
)
"""Signals that end the bridge, and its servers before it."""


def serve(options: BridgeOptions) -> int:
    """Serve one client on stdin and stdout until either side ends.

    Args:
        options: The server, and how to deal with it.

    Returns:
        The exit status: 0 when the client has left, 1 when the server is gone or
        could not be started, 128 and the number of the signal that ended it.
    """
    return anyio.run(_StdioServer(options).run)


class _StdioServer:
    def __init__(self, options: BridgeOptions) -> None:
        self._options = options
        self._status = 0
        self._stop = anyio.Event()
        self._batches = Batches()
        self._session: Session | None = None
        self._refusal: str | None = None
        self._reader = LineReader(0, self._line, self._client_left)
        # What prints by accident must not get between the lines.
        self._writer = LineWriter(os.dup(1), self._unread, self._client_left)
        os.dup2(2, 1)

    async def run(self) -> int:
        self._watch_signals()
        self._wire = GatedWire(self._options.wire, self._reader)
        await self._writer.start()
        self._session = Session(self._options, self._wire, self)
        try:
            await self._session.run(self._begin, self._stop)
        except OSError as error:
            await self._complain(error)
        await self._writer.drain(DRAIN_TIMEOUT)
        self._reader.close()
        self._writer.close()
        return self._status

    def _begin(self) -> None:
        self._tasks = asyncio.ensure_future(self._reader.start())

    def _watch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in ENDING:
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, self._end, SIGNALLED + number)

    def _end(self, status: int) -> None:
        if not self._stop.is_set():
            self._status = status
            self._stop.set()

    # -- the client ------------------------------------------------------------------

    def _line(self, line: bytes) -> None:
        message = from_json(line)
        self._wire.said(len(line))
        if isinstance(message, Malformed):
            text = f"Parse error: the line is no JSON ({message.error})"
            self._send(jsonrpc.error(None, {"code": PARSE_ERROR, "message": text}))
        elif isinstance(message, list):
            self._batch(cast("list[object]", message))
        else:
            self._take(message)

    def _batch(self, parts: list[object]) -> None:
        if not parts or not self._batches.legal:
            text = "Invalid Request: a batch is legal at 2025-03-26 only, and not empty"
            self._send(jsonrpc.error(None, {"code": INVALID_REQUEST, "message": text}))
            return
        self._batches.begin(parts)
        for part in parts:
            self._take(part)

    def _take(self, message: object) -> None:
        if self._refusal is not None:
            self._refuse(message, self._refusal)
            return
        assert self._session is not None
        self._session.take(message)
        self._send_all(self._batches.said(message))

    def _client_left(self) -> None:
        self._end(0)

    # -- what the client hears -------------------------------------------------------

    def hear(self, effect: ToClient) -> None:
        """Write a message, or keep it for the batch that it belongs to."""
        kept, complete = self._batches.hold(effect.message)
        if not kept:
            self._send(effect.message)
        self._send_all(complete)

    def server_gone(self) -> None:
        """End with it, as a server does that has come to its end."""
        self._end(1)

    def _send(self, message: Message | Sequence[Message]) -> None:
        line = written(message)
        if line is not None:
            self._writer.write(line.encode() + b"\n")

    def _send_all(self, messages: Sequence[Message] | None) -> None:
        if messages is not None:
            self._send(messages)

    def _unread(self, full: bool) -> None:  # noqa: FBT001 - a callback
        self._wire.unread(full=full)

    # -- no server -------------------------------------------------------------------

    async def _complain(self, error: OSError) -> None:
        self._refusal = f"{self._options.target} cannot be started: {error}"
        print(f"anyera: {self._refusal}", file=sys.stderr, flush=True)  # noqa: T201
        self._status = 1
        await self._reader.start()
        with anyio.move_on_after(COMPLAINT_TIMEOUT):
            await self._stop.wait()

    def _refuse(self, message: object, reason: str) -> None:
        if jsonrpc.is_object(message) and jsonrpc.is_id(message.get("id")):
            body = {"code": INTERNAL_ERROR, "message": reason}
            self._send(jsonrpc.error(message["id"], body))
            self._end(1)
