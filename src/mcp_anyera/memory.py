"""What was found out about servers, for the next time.

A verdict saves the question at the next connect: a modern server is not asked at
all, a legacy one gets its handshake at once. It is a guess all the same. A wrong
one is found out by the engine, dropped here, and made good within the connection.

Spec: 2026-07-28 ``basic/versioning`` § Backward Compatibility (caching).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from json import dumps
from os import PathLike
from pathlib import Path
from typing import Any, Final

from mcp_anyera.engine import (
    AnsweredLate,
    Connected,
    Downgraded,
    Event,
    FellBack,
    Mistaken,
    Remembered,
    Verdict,
)
from mcp_anyera.eras import Era, era_of
from mcp_anyera.memoryfile import VERSION, Content, MemoryFile

LEGACY_TTL: Final = 7 * 24 * 3600.0
"""Seconds that a legacy verdict is good for. It never fails loudly: a server that
has learned the modern revision still shakes hands."""
_MARGIN: Final = 2.0
"""How many times as long as it took is a slow server waited for the next time."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which server, and who asks it; no part of it is kept as it is."""

    transport: str
    name: str
    """For people: without arguments, user, query or anything else that is private."""
    place: Any = field(repr=False)
    """The full command or URL."""
    caller: Any = field(default=None, repr=False)
    """What a server may tell callers apart by: environment, headers, login."""


class EraMemory:
    """Verdicts about servers, in this process or in a file.

    One memory may serve many clients, and one file many processes.
    """

    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        legacy_ttl: float = LEGACY_TTL,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Prepare; a file is read when it is first needed.

        Args:
            path: The file to keep the verdicts in; memory of this process when
                omitted. One that cannot be read is set aside, with a warning.
            legacy_ttl: Seconds that a legacy verdict is good for.
            clock: The time, in seconds since 1970.
        """
        self._file = None if path is None else MemoryFile(Path(path), _empty)
        self._content = _empty()
        self._ttl = legacy_ttl
        self._clock = clock

    def recall(self, identity: Identity) -> Recollection:
        """Return what is known of a server, and what keeps it up to date.

        Args:
            identity: The server and the caller.
        """
        content = self._content if self._file is None else self._file.read()
        entry = content["servers"].get(_key(content["salt"], identity), {})
        return Recollection(self, identity, entry if self._is_good(entry) else {})

    def forget(self, identity: Identity) -> None:
        """Drop what is known of a server."""

        def drop(content: Content) -> None:
            content["servers"].pop(_key(content["salt"], identity), None)

        self._change(drop)

    def clear(self) -> None:
        """Drop everything."""
        self._change(lambda content: content["servers"].clear())

    def servers(self) -> list[dict[str, Any]]:
        """Return every entry as JSON: name, era, revision, evidence, time."""
        content = self._content if self._file is None else self._file.read()
        return list(content["servers"].values())

    def update(self, identity: Identity, members: Mapping[str, Any]) -> None:
        """Add to what is known of a server.

        Args:
            identity: The server and the caller.
            members: Members of the entry, as JSON.
        """

        def edit(content: Content) -> None:
            key = _key(content["salt"], identity)
            old = content["servers"].get(key, {})
            about = {"name": identity.name, "transport": identity.transport}
            content["servers"][key] = {**old, **about, **members}

        self._change(edit)

    def now(self) -> float:
        """Return the time, in seconds since 1970."""
        return self._clock()

    def _change(self, edit: Callable[[Content], None]) -> None:
        if self._file is None:
            edit(self._content)
        else:
            self._file.change(edit)

    def _is_good(self, entry: Mapping[str, Any]) -> bool:
        known = era_of(str(entry.get("revision")))
        if known is None or entry.get("era") != known.value:
            return False
        age = self._clock() - entry.get("learned_at", 0.0)
        return known is Era.MODERN or 0 <= age < self._ttl


class Recollection:
    """What is known of one server, while a connection to it goes on."""

    def __init__(
        self, memory: EraMemory, identity: Identity, entry: Mapping[str, Any]
    ) -> None:
        self._memory = memory
        self._identity = identity
        self._entry = entry
        self._quiet = False
        """Whether the next verdict is none about the server as such."""

    @property
    def entry(self) -> dict[str, Any]:
        """The entry as JSON; empty when nothing is known that is still good."""
        return dict(self._entry)

    def options(self) -> dict[str, Any]:
        """Return what the engine's configuration takes from it."""
        tools = frozenset(map(str, self._entry.get("tools", ())))
        return {"remembered": self._remembered(), "legacy_tools": tools}

    def _remembered(self) -> Remembered | None:
        entry = self._entry
        if "era" not in entry:
            return None
        return Remembered(
            era=Era(entry["era"]),
            revision=entry["revision"],
            discover=entry.get("discover"),
            patience=entry.get("patience"),
        )

    def hear(self, event: Event) -> None:
        """Take note of what a connection has found out."""
        match event:
            case Connected(verdict) if not self._quiet:
                self._learn(verdict)
            case AnsweredLate(seconds):
                self._memory.update(self._identity, {"patience": seconds * _MARGIN})
            case Mistaken():
                self._entry = {}
                self._memory.forget(self._identity)
            case Downgraded(tool=str(tool)):
                self._quiet = True
                tools = sorted({*self._entry.get("tools", ()), tool})
                self._memory.update(self._identity, {"tools": tools})
            case FellBack():
                self._quiet = True
            case _:
                return

    def _learn(self, verdict: Verdict) -> None:
        # A legacy verdict that is met again is no younger for it: nobody has asked.
        if verdict.era.value == self._entry.get("era"):
            return
        members: dict[str, Any] = {
            "era": verdict.era.value,
            "revision": verdict.revision,
            "learned_at": self._memory.now(),
            "evidence": [asdict(step) for step in verdict.evidence],
            "discover": verdict.discover,
        }
        self._entry = {**self._entry, **members}
        self._memory.update(self._identity, members)


def _empty() -> Content:
    return {"version": VERSION, "salt": secrets.token_hex(16), "servers": {}}


def _key(salt: str, identity: Identity) -> str:
    # Salted and short: it tells servers apart and gives nothing away.
    about = [identity.transport, identity.place, identity.caller]
    text = dumps(about, sort_keys=True, default=str)
    return blake2b(text.encode(), key=salt.encode(), digest_size=12).hexdigest()
