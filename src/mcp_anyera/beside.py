"""A legacy connection beside a modern one, for tools that call the client back.

A dual-era server over HTTP serves both eras at once, so a tool that was written for
the old way gets a session of its own, opened when it is first needed. It shares the
callbacks; changes of lists are heard on the modern connection already.

Spec: 2026-07-28 ``basic/versioning`` § Compatibility Matrix (dual-era servers).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio

from mcp_anyera._sdk import SDKError
from mcp_anyera.callbacks import MessageHandler
from mcp_anyera.engine import (
    Connected,
    Downgraded,
    Event,
    Message,
    backchannel,
    metadata,
    results,
)
from mcp_anyera.engine.subscriptions import LISTS
from mcp_anyera.transports.background import Background
from mcp_anyera.transports.wire import Wire

if TYPE_CHECKING:
    from mcp_anyera.connection import Connection, ConnectionOptions

logger: logging.Logger = logging.getLogger("mcp_anyera")

_HEARD_ALREADY = {notification for _, notification in LISTS.values()} | {
    "notifications/resources/updated"
}


class Beside:
    """The legacy connection of one client, and the tools that go there."""

    def __init__(
        self,
        make_wire: Callable[[], Wire],
        options: ConnectionOptions,
        notice: Callable[[Event], None],
    ) -> None:
        """Prepare; nothing is opened before it is needed.

        Args:
            make_wire: Leads to the same server again.
            options: Those of the modern connection.
            notice: Hears what happens.
        """
        self._make_wire = make_wire
        self._notice = notice
        self._options = _as_legacy(options, self._hear)
        self._tools = set(options.config.legacy_tools)
        self._lock = anyio.Lock()
        self._background: Background | None = None
        self._connection: Connection | None = None

    def knows(self, method: str, params: Mapping[str, Any] | None) -> bool:
        """Tell whether a call is of a tool that calls back."""
        return method == "tools/call" and (params or {}).get("name") in self._tools

    def wants(self, method: str, reply: Message) -> bool:
        """Tell whether a reply says that the tool would have to call back."""
        return method == "tools/call" and backchannel.missing(reply)

    async def request(
        self, method: str, params: Mapping[str, Any] | None, **how: Any
    ) -> dict[str, Any] | None:
        """Send a call on the legacy connection.

        Args:
            method: ``"tools/call"``.
            params: Its params.
            how: As `Connection.request` takes it.

        Returns:
            The result as a modern session reads it; ``None`` when the server does
            not shake hands, so that there is no such connection.

        Raises:
            Exception: Whatever the call comes to.
        """
        tool = str((params or {}).get("name"))
        connection = await self._open(tool)
        if connection is None:
            return None
        plain = None if params is None else metadata.unstamped(params)
        result = await connection.request(method, plain, **how)
        return results.for_native_face(method, result)

    async def _open(self, tool: str) -> Connection | None:
        async with self._lock:
            if self._connection is None and not await self._connect():
                return None
        if tool not in self._tools:
            self._tools.add(tool)
            text = f"the tool {tool!r} calls the client back, which is legacy"
            self._notice(Downgraded(text, tool))
        return self._connection

    async def _connect(self) -> bool:
        from mcp_anyera.connection import Connection  # noqa: PLC0415 - it imports us

        connection = Connection(self._make_wire(), self._options)
        background = Background(connection.run)
        try:
            await background.start()
        except (SDKError, OSError) as error:
            logger.warning("a tool calls back and the server is not legacy: %s", error)
            return False
        self._connection, self._background = connection, background
        return True

    async def close(self) -> None:
        """Close the connection, if it was opened."""
        if self._background is not None:
            await self._background.stop()

    def _hear(self, event: Event) -> None:
        if not isinstance(event, Connected):
            self._notice(event)


def _as_legacy(
    options: ConnectionOptions, hear: Callable[[Event], None]
) -> ConnectionOptions:
    config = replace(
        options.config, mode="legacy", prefix=f"{options.config.prefix}-legacy"
    )
    callbacks = options.callbacks
    handler = callbacks.message_handler
    if handler is not None:
        callbacks = replace(callbacks, message_handler=_without_changes(handler))
    return replace(
        options, config=config, callbacks=callbacks, on_event=hear, known=None
    )


def _without_changes(handler: MessageHandler) -> MessageHandler:
    async def handle(message: Any) -> None:
        if getattr(message, "method", None) not in _HEARD_ALREADY:
            await handler(message)

    return handle
