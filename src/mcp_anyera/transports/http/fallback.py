"""The HTTP+SSE transport of 2024-11-05, as the SDK has it, below our wire.

It is the last resort for a URL, and stays the SDK's own transport. The SDK opens
it in the task that must also close it, so it has a task of its own here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import anyio
import anyio.abc

from mcp_anyera.engine import ToServer
from mcp_anyera.transports.background import plain
from mcp_anyera.transports.http.clients import CONNECT_TIMEOUT, READ_TIMEOUT, Borrowed
from mcp_anyera.transports.wire import WireClosed


class SseFallback:
    """An SSE transport of the SDK, and the task that it lives in."""

    def __init__(
        self, url: str, client: Borrowed, put: Callable[[object], None]
    ) -> None:
        """Prepare it.

        Args:
            url: The endpoint of the event stream.
            client: The client to make requests with; it stays open.
            put: Takes what arrives.
        """

        def lend(headers: Any = None, timeout: Any = None, auth: Any = None) -> Any:
            del headers, timeout, auth
            return client

        # Few URLs get here, and the rest need not wait for the SDK to load.
        from mcp_anyera._sdk import sse_client  # noqa: PLC0415
        from mcp_anyera.transports.streams import StreamsWire  # noqa: PLC0415

        transport = sse_client(
            url,
            timeout=CONNECT_TIMEOUT,
            sse_read_timeout=READ_TIMEOUT,
            httpx_client_factory=lend,
        )
        self._wire = StreamsWire(transport)
        self._put = put
        self._ready = anyio.Event()
        self._stop = anyio.Event()
        self._done = anyio.Event()
        self._error: BaseException | None = None

    async def start(self, tasks: anyio.abc.TaskGroup) -> None:
        """Open it.

        Raises:
            OSError: The server has no such transport here.
        """
        tasks.start_soon(self._run)
        await self._ready.wait()
        if self._error is not None:
            raise OSError(_said(self._error)) from self._error

    async def stop(self) -> None:
        """Close it, and wait until it is closed."""
        self._stop.set()
        await self._done.wait()

    async def send(self, messages: Sequence[ToServer]) -> None:
        """Write messages in order."""
        await self._wire.send(messages)

    async def _run(self) -> None:
        try:
            async with self._wire, anyio.create_task_group() as tasks:
                self._ready.set()
                tasks.start_soon(self._read)
                await self._stop.wait()
                tasks.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001 - told to whoever waits
            self._error = plain(error)
        finally:
            self._ready.set()
            self._done.set()

    async def _read(self) -> None:
        while True:
            try:
                self._put(await self._wire.receive())
            except WireClosed as closed:
                self._put(closed)
                return


def _said(error: BaseException) -> str:
    # The library's own text has the whole URL in it, whose query may be a secret.
    response = getattr(error, "response", None)
    if response is None:
        return str(error)
    return f"HTTP {response.status_code} {response.reason_phrase}".rstrip()
