"""One client for any era of MCP server.

``Client`` connects to a server of either era; `adapt` and `mcp_anyera.transports`
do the same for a session of the SDK that somebody else builds. Callbacks are
registered once and have the same outcome everywhere.

Everything that needs the SDK is loaded when it is first used, so that
``mcp_anyera.engine`` can be embedded without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from mcp_anyera.eras import Era
from mcp_anyera.errors import AnyEraError

if TYPE_CHECKING:
    from mcp_anyera._sdk import CallbackContext
    from mcp_anyera._sdk.raised import (
        CallbackError,
        CallTimeout,
        ConnectError,
        ConnectionLost,
        HttpStatusError,
        ProtocolViolation,
        QuestionDeclined,
        QuestionRefused,
        RequestRejected,
        RoundsExceeded,
    )
    from mcp_anyera.answers import accept, cancel, decline, refuse
    from mcp_anyera.callbacks import Callbacks, MessageHandler, RawNotification
    from mcp_anyera.client import Client
    from mcp_anyera.memory import EraMemory
    from mcp_anyera.transports import adapt

_LAZY: Final = {
    "CallTimeout": "mcp_anyera._sdk.raised",
    "CallbackContext": "mcp_anyera._sdk",
    "CallbackError": "mcp_anyera._sdk.raised",
    "Callbacks": "mcp_anyera.callbacks",
    "Client": "mcp_anyera.client",
    "ConnectError": "mcp_anyera._sdk.raised",
    "ConnectionLost": "mcp_anyera._sdk.raised",
    "EraMemory": "mcp_anyera.memory",
    "HttpStatusError": "mcp_anyera._sdk.raised",
    "MessageHandler": "mcp_anyera.callbacks",
    "ProtocolViolation": "mcp_anyera._sdk.raised",
    "QuestionDeclined": "mcp_anyera._sdk.raised",
    "QuestionRefused": "mcp_anyera._sdk.raised",
    "RawNotification": "mcp_anyera.callbacks",
    "RequestRejected": "mcp_anyera._sdk.raised",
    "RoundsExceeded": "mcp_anyera._sdk.raised",
    "accept": "mcp_anyera.answers",
    "cancel": "mcp_anyera.answers",
    "decline": "mcp_anyera.answers",
    "refuse": "mcp_anyera.answers",
    "adapt": "mcp_anyera.transports",
}

__all__ = [
    "AnyEraError",
    "CallTimeout",
    "CallbackContext",
    "CallbackError",
    "Callbacks",
    "Client",
    "ConnectError",
    "ConnectionLost",
    "Era",
    "EraMemory",
    "HttpStatusError",
    "MessageHandler",
    "ProtocolViolation",
    "QuestionDeclined",
    "QuestionRefused",
    "RawNotification",
    "RequestRejected",
    "RoundsExceeded",
    "accept",
    "adapt",
    "cancel",
    "decline",
    "refuse",
]


def __getattr__(name: str) -> Any:
    """Load what needs the SDK when it is first used."""
    module = _LAZY.get(name)
    if module is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
