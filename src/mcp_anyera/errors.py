"""What this library raises, and where in a conversation each belongs.

::

    Exception
    └── AnyEraError
        ├── ConnectError        connecting   no connection came about
        │                                    (also a ConnectionError)
        ├── QuestionRefused     asking       nothing may answer this question
        ├── QuestionDeclined    asking       the user said no, the server insists
        ├── CallbackError       answering    a callback raised, or gave no answer
        ├── CallTimeout         waiting      it took too long (also a TimeoutError)
        ├── RoundsExceeded      retrying     the server keeps asking
        ├── ProtocolViolation   hearing      the server broke the protocol
        ├── ConnectionLost      any time     the connection ended
        │                                    (also a ConnectionError)
        ├── HttpStatusError     any time     an HTTP status, and no JSON-RPC answer
        └── RequestRejected     sending      the request cannot be sent as it is

Each of them is also an instance of the installed SDK's own error class, so an
``except McpError`` (SDK 1.x) or ``except MCPError`` (2.x) still catches it. Errors
that the server sent stay what they are: plain errors of the SDK.

The classes below `AnyEraError` need the SDK and live in ``mcp_anyera``; this
module needs nothing.
"""

from __future__ import annotations


class AnyEraError(Exception):
    """The base of everything that this library raises by itself."""
