"""A no is a no: what becomes of a question that was declined and comes again.

Servers that need a yes ask until they get one, and a person should be asked once.
Within one call the identical question is answered as before, once; when it comes
a third time the call fails. Identical means the same method and the same params,
whatever the key or the id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mcp_anyera.engine.failures import Failure, Fault

_NO = frozenset({"decline", "cancel"})


class Repeats:
    """The questions of one call that got a no."""

    def __init__(self) -> None:
        self._said: dict[str, dict[str, Any]] = {}
        self._repeated: set[str] = set()

    def note(
        self, method: str, params: Mapping[str, Any], answer: dict[str, Any]
    ) -> None:
        """Remember an answer if it is a no."""
        if method == "elicitation/create" and answer.get("action") in _NO:
            self._said[_fingerprint(method, params)] = answer

    def again(
        self, method: str, params: Mapping[str, Any]
    ) -> dict[str, Any] | Failure | None:
        """Look a question up before anybody is asked.

        Returns:
            The answer to repeat, the failure of a call that insists, or ``None``
            for a question that has not been declined.
        """
        if not self._said:
            return None
        print_ = _fingerprint(method, params)
        answer = self._said.get(print_)
        if answer is None or print_ not in self._repeated:
            self._repeated.add(print_)
            return answer
        action = answer["action"]
        text = f"the server asks again what was answered with {action!r} twice"
        return Failure(Fault.DECLINED, text)


def _fingerprint(method: str, params: Mapping[str, Any]) -> str:
    bare = {key: value for key, value in params.items() if key != "elicitationId"}
    return method + json.dumps(bare, sort_keys=True, default=str)
