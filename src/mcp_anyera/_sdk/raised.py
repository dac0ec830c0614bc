"""The exceptions above the engine's failures; `mcp_anyera.errors` draws the tree."""

from __future__ import annotations

from typing import Any, Final

from mcp_anyera._sdk import SDK1, ErrorData, SDKError, make_error
from mcp_anyera.engine import Failure, Fault, Step
from mcp_anyera.errors import AnyEraError


class _Raised(AnyEraError, SDKError):  # noqa: N818 - the base of what is raised
    """One failure as an exception of ours and of the installed SDK.

    Attributes:
        failure: What went wrong, as data.
        code: The JSON-RPC error code.
        message: One sentence for people.
        data: What came with it, or ``None``.
        status: The HTTP status that it came with, or ``None``.
        challenge: ``WWW-Authenticate``, or ``None``.
        retry_after: ``Retry-After``, or ``None``.
    """

    def __init_subclass__(cls) -> None:
        """Let a traceback name the class as it is imported."""
        cls.__module__ = "mcp_anyera"

    def __init__(self, failure: Failure) -> None:
        """Build the SDK's half from the failure."""
        self.failure = failure
        error = failure.as_error()
        # The class says what the mark in the JSON-RPC error says on the wire.
        error["data"] = failure.data
        if SDK1:
            SDKError.__init__(self, ErrorData(**error))
        else:
            SDKError.__init__(self, **error)
        self.args: tuple[Any, ...] = (failure,)

    @property
    def code(self) -> int:
        """The JSON-RPC error code."""
        return self.error.code

    @property
    def message(self) -> str:
        """One sentence for people."""
        return self.error.message

    @property
    def data(self) -> Any:
        """What came with the error, or ``None``."""
        return self.error.data

    @property
    def status(self) -> int | None:
        """The HTTP status that it came with, or ``None``."""
        return self.failure.http.status

    @property
    def challenge(self) -> str | None:
        """``WWW-Authenticate`` of a 401 or 403, or ``None``."""
        return self.failure.http.challenge

    @property
    def retry_after(self) -> str | None:
        """``Retry-After`` as it came, seconds or a date, or ``None``."""
        return self.failure.http.retry_after

    def __str__(self) -> str:
        """Return the sentence."""
        return self.failure.message


class ConnectError(_Raised, ConnectionError):
    """No connection came about; the message names each step and its outcome.

    A traceback shows the steps once more with the time that each took.

    Attributes:
        steps: What was tried, with the outcome and the seconds of each.
    """

    def __init__(self, failure: Failure) -> None:
        """Add the report to what a traceback shows."""
        super().__init__(failure)
        if failure.steps:
            self.add_note("\n".join(_report(failure.steps)))

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was tried, with the outcome and the seconds of each."""
        return self.failure.steps


def _report(steps: tuple[Step, ...]) -> list[str]:
    tried = [
        f"  {number}. {step} ({step.seconds:.2f} s)"
        for number, step in enumerate(steps, 1)
    ]
    hint = "  To try it by hand, and to see every answer: anyera probe TARGET"
    return ["What was tried:", *tried, hint]


class QuestionRefused(_Raised):
    """The server asked what nothing registered can, or may, answer."""


class QuestionDeclined(_Raised):
    """The user said no, and the server needs a yes."""


class CallbackError(_Raised):
    """A callback raised (see ``__cause__``) or returned what is no answer."""


class CallTimeout(_Raised, TimeoutError):  # noqa: N818
    """A call, or an answer, took longer than allowed."""


class RoundsExceeded(_Raised):
    """The server kept asking.

    Attributes:
        questions: The last questions, as the server sent them.
    """

    @property
    def questions(self) -> tuple[dict[str, Any], ...]:
        """The last questions, as the server sent them."""
        return self.failure.questions


class ProtocolViolation(_Raised):
    """The server sent what the protocol does not allow."""


class ConnectionLost(_Raised, ConnectionError):  # noqa: N818
    """The connection ended while the call was open, or before it was sent."""


class HttpStatusError(_Raised):
    """The server answered with an HTTP status and nothing that JSON-RPC knows."""


class RequestRejected(_Raised):
    """The request cannot be sent as it is."""


_CLASSES: Final[dict[Fault, type[_Raised]]] = {
    Fault.REFUSED: QuestionRefused,
    Fault.DECLINED: QuestionDeclined,
    Fault.CALLBACK: CallbackError,
    Fault.TIMEOUT: CallTimeout,
    Fault.ROUNDS: RoundsExceeded,
    Fault.VIOLATION: ProtocolViolation,
    Fault.LOST: ConnectionLost,
    Fault.CONNECT: ConnectError,
    Fault.HTTP: HttpStatusError,
    Fault.BAD_REQUEST: RequestRejected,
}


def exception_for(failure: Failure) -> AnyEraError:
    """Return the exception that stands for a failure, with its cause."""
    error = _CLASSES[failure.fault](failure)
    error.__cause__ = _cause(failure)
    return error


def _cause(failure: Failure) -> BaseException | None:
    cause = failure.cause
    if isinstance(cause, Failure):
        return exception_for(cause)
    return make_error(cause) if isinstance(cause, dict) else cause
