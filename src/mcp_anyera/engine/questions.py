"""Questions, and the gate that each one passes before anybody is asked.

A question in any dialect becomes the same value and meets the same checks: was
the capability declared, the mode too, is the URL one that may be shown. What
fails here never reaches user code.

Spec: 2026-07-28 and 2025-11-25 ``client/elicitation``, ``client/sampling``,
``client/roots``; ``basic/patterns/mrtr`` § Server Requirements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final
from urllib.parse import urlsplit

from mcp_anyera.engine.failures import INVALID_PARAMS, Failure, Fault
from mcp_anyera.engine.jsonrpc import is_object


class Dialect(Enum):
    """The way in which a server asks."""

    DIRECT = "direct"
    """A request from the server (legacy)."""
    INPUT = "input_requests"
    """An entry of an ``InputRequiredResult`` (modern)."""
    URL_REQUIRED = "url_required"
    """A page in an error -32042 (2025-11-25)."""


@dataclass(frozen=True, slots=True)
class CallInfo:
    """The call that a question belongs to."""

    method: str
    """The method of the call."""
    name: str | None
    """Tool or prompt name, or resource URI."""
    arguments: Any = field(default=None, repr=False)
    """Its arguments, as they were sent."""

    @classmethod
    def of(cls, method: str, params: Mapping[str, Any]) -> CallInfo:
        """Describe a call by its method and params."""
        name = params.get("name", params.get("uri"))
        return cls(
            method, name if isinstance(name, str) else None, params.get("arguments")
        )


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """One thing that a server asks of the client."""

    id: str
    """Unique on this connection."""
    key: str | int
    """The key in ``inputRequests``, or the id of the direct request."""
    method: str
    """What is asked, such as ``"elicitation/create"``."""
    params: dict[str, Any] = field(repr=False)
    """The params of the question, as they came."""
    dialect: Dialect
    """How it was asked."""
    round: int
    """1 for the first round of a call; 0 for a direct request."""
    call: CallInfo | None
    """``None`` where the wire cannot say which call it belongs to."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the callback gave: the bare result object of the question."""

    result: dict[str, Any] = field(repr=False)
    """The result; its shape is that of the question."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The callback gave no answer; the call that asked fails with this."""

    failure: Failure
    """What the call fails with."""
    to_server: dict[str, Any] | None = field(default=None, repr=False)
    """The JSON-RPC error for a legacy server, where it must learn less."""


REQUIRED: Final = {
    "elicitation/create": (
        "elicitation",
        "Elicitation not supported",
        "elicitation_callback=",
    ),
    "sampling/createMessage": (
        "sampling",
        "Sampling not supported",
        "sampling_callback=",
    ),
    "roots/list": ("roots", "List roots not supported", "list_roots_callback="),
}

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def refusal(
    method: str, params: Mapping[str, Any], declared: Mapping[str, Any]
) -> Failure | None:
    """Return why a question must not be asked, or ``None`` when it may.

    Args:
        method: One of `registry.QUESTION_METHODS`.
        params: Params of the question.
        declared: The ``ClientCapabilities`` that the server was told.

    Returns:
        A failure with the code that the specification gives for it.
    """
    key, sentence, keyword = REQUIRED[method]
    capability = declared.get(key)
    if not is_object(capability):
        message = f"{sentence}: the server sent {method}, and {keyword} is not set"
        return Failure(Fault.REFUSED, message)
    if method == "elicitation/create":
        return _elicitation_refusal(params, capability)
    if method == "sampling/createMessage":
        return _sampling_refusal(params, capability)
    return None


def _elicitation_refusal(
    params: Mapping[str, Any], capability: Mapping[str, Any]
) -> Failure | None:
    mode = params.get("mode", "form")
    # An empty capability is the 2025-06-18 way to say "form".
    modes = ["form"] if not capability else list(capability)
    if mode not in ("form", "url") or mode not in modes:
        return _invalid(
            f"elicitation mode {mode!r} was not declared (declared: {sorted(modes)}); "
            "the server must not use it"
        )
    return (
        _invalid(problem)
        if mode == "url" and (problem := url_problem(params))
        else None
    )


def _sampling_refusal(
    params: Mapping[str, Any], capability: Mapping[str, Any]
) -> Failure | None:
    wants = "tools" in params or "toolChoice" in params
    if not wants or is_object(capability.get("tools")):
        return None
    return _invalid(
        "sampling with tools was not declared; "
        "pass sampling_capabilities with tools to allow it"
    )


def url_problem(params: Mapping[str, Any]) -> str | None:
    """Return why the URL of a question must not be shown, or ``None``.

    Only https, or http on loopback, and no user name or password in it: our
    extension of the rule for authorization URLs to every URL that a server
    sends (security best practices § OAuth Authorization URL Validation). It is
    never fetched or resolved here.
    """
    url = params.get("url")
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
        host = parts.hostname if parts else None
    except ValueError:
        return "the server sent a URL that cannot be parsed"
    if parts is None or not host:
        return "the server sent a URL question without a usable URL"
    if parts.username is not None or parts.password is not None:
        return "the server sent a URL with user name or password in it"
    if parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK):
        return None
    return f"the server sent a URL with scheme {parts.scheme!r}; https is expected"


def _invalid(message: str) -> Failure:
    return Failure(Fault.REFUSED, message, INVALID_PARAMS)


def with_elicitation_id(params: dict[str, Any], name: str) -> dict[str, Any]:
    """Return params with an ``elicitationId``, if they are for a URL and have none."""
    # 2025-11-25 requires the id, 2026-07-28 has none; a session that validates
    # would refuse the question without it.
    if params.get("mode") != "url" or isinstance(params.get("elicitationId"), str):
        return params
    return {**params, "elicitationId": name}


def clean_answer(method: str, result: dict[str, Any]) -> dict[str, Any]:
    """Return an answer as the wire may carry it.

    ``content`` belongs to an accepted form only, and ``_meta`` to sampling only
    (2026-07-28 ``client/elicitation`` § Response Actions).
    """
    if method == "sampling/createMessage":
        return result
    unwanted = (
        {"_meta"} if result.get("action") in {None, "accept"} else {"_meta", "content"}
    )
    if unwanted.isdisjoint(result):
        return result
    return {key: value for key, value in result.items() if key not in unwanted}
