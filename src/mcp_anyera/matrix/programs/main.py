"""Run scenarios with one client stack against one server.

Usage: ``python main.py STACK PLAN``. The plan is a JSON file; docs in the README of
the compat matrix. One JSON line on stdout tells that a scenario begins, and one what
came of it. This folder needs the SDK only; the stacks with ``mcp_anyera`` need that.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from desk import Desk, Recorder
from plays import PLAYS, Stage, Step, UnsupportedError, described, needs, tools
from verbs import Session

PATIENCE = 3.0
"""Seconds that a connection may take to close."""


SETTLE = 0.25
"""Seconds for an HTTP client to open the stream on which the server speaks first.

What a server sends there before it is open is lost, for every client alike.
"""


class Connection:
    """One connection, open in a task of its own so that any other can use it."""

    def __init__(self, made: Any, desk: Desk, settle: float, level: str | None) -> None:
        self.level = level
        self._made = made
        self._settle = settle
        self._desk = desk
        self._ready, self._stop = asyncio.Event(), asyncio.Event()
        self._task = asyncio.ensure_future(self._own())
        self._failure: BaseException | None = None
        self.session: Session | None = None

    async def opened(self) -> Session:
        """Wait until it is open.

        Raises:
            ConnectionError: It could not be opened; the message says why.
        """
        await self._ready.wait()
        if self.session is None:
            assert self._failure is not None
            if isinstance(self._failure, UnsupportedError):
                raise self._failure
            raise ConnectionError(described(self._failure))
        return self.session

    async def close(self) -> None:
        """Close it, by force if it does not go."""
        self._stop.set()
        for end in (lambda: None, self._task.cancel):
            end()
            done, _ = await asyncio.wait([self._task], timeout=PATIENCE)
            if done:
                return

    async def _own(self) -> None:
        try:
            async with self._made as session:
                await asyncio.sleep(self._settle)
                self.session = self._desk.session = session
                self._ready.set()
                await self._stop.wait()
        except BaseException as error:  # noqa: BLE001 - SDK 1.x lets anything out
            self._failure = error
        finally:
            self._ready.set()


class Run:
    """The scenarios of a plan, one after another."""

    def __init__(self, connect: Any, plan: dict[str, Any], *, telling: bool) -> None:
        self._connect = connect
        self._plan = plan
        self._recorder = Recorder(plan.get("face"))
        self._desk = Desk(self._recorder, telling=telling)
        self._shared: Connection | None = None
        self._refused: str | None = None
        self._tools: list[str] | None = None

    async def all(self) -> None:
        """Run them all and print what comes of each."""
        for step in self._plan["scenarios"]:
            began = time.monotonic()
            say({"begin": step["id"], "at": began})
            told = await self._one(step)
            ended = time.monotonic()
            seconds = round(ended - began, 3)
            say({"id": step["id"], "at": ended, "seconds": seconds, **told})
        await self._drop()

    async def _one(self, step: Step) -> dict[str, Any]:
        play = PLAYS.get(step["play"])
        if play is None:
            return {"unsupported": f"this program has no play {step['play']!r}"}
        if self._refused is not None:
            return {"outcome": self._refused, "refused": True}
        self._desk.prepare(step)
        limit = step.get("limit", self._plan["limit"])
        try:
            async with asyncio.timeout(limit):
                return await self._played(play, step)
        except UnsupportedError as absent:
            if self._shared is not None and self._shared.session is None:
                await self._drop()
            return {"unsupported": str(absent), **self._revision()}
        except TimeoutError:
            said = f"nothing within {limit:g} s"
            if self._shared is not None and self._shared.session is None:
                said = self._refused = f"not connected: {said}"
            await self._drop()
        except Exception as error:  # noqa: BLE001 - it is what came
            await self._drop()
            said = described(error)
        return {"outcome": said, **self._revision()}

    async def _played(self, play: Any, step: Step) -> dict[str, Any]:
        self._needed(step)  # nobody connects for what is known not to be there
        connection = await self._connected(step.get("level"), step)
        try:
            session = await connection.opened()
        except ConnectionError as error:
            said = f"not connected: {error}"
            self._refused = said if connection.level is None else None
            await self._drop()
            return {"outcome": said}
        self._desk.session = session
        self._in_window(step, session)
        if "tool" in step and self._tools is None:
            self._tools = await session.names("tools")
            self._needed(step)
        said = await play(Stage(session, self._desk, step, self._plan))
        # The next scenario deserves a connection that nothing has happened to.
        if step["play"] in {"control", "cancel"} or said.startswith("raised"):
            await self._drop()
        return {"outcome": said, **self._revision(session)}

    def _needed(self, step: Step) -> None:
        for tool in () if self._tools is None else tools(step):
            needs(tool, self._tools)

    def _in_window(self, step: Step, session: Session) -> None:
        spoken = self._plan.get("revision") or session.revision
        if spoken not in step.get("revisions", [spoken]):
            raise UnsupportedError(f"does not belong to {spoken}")

    def _revision(self, session: Session | None = None) -> dict[str, Any]:
        if session is None and self._shared is not None:
            session = self._shared.session
        spoken = self._plan.get("revision") or (session and session.revision)
        return {"revision": spoken} if spoken else {}

    async def _connected(self, level: str | None, step: Step) -> Connection:
        """Return the connection that is open, or a new one with another log level."""
        other = self._shared is not None and self._shared.level != level
        if other and "order" not in step:
            await self._drop()
        if self._shared is None:
            target, desk = self._plan["target"], self._desk
            made = self._connect(target, desk, self._recorder, level)
            settle = SETTLE if "url" in target else 0
            self._shared = Connection(made, desk, settle, level)
        return self._shared

    async def _drop(self) -> None:
        if self._shared is not None:
            await self._shared.close()
            self._shared = None


def say(line: dict[str, Any]) -> None:
    """Print one line for whoever runs this program."""
    print(json.dumps(line), flush=True)


def main(*words: str, find: Callable[[str], Any] | None = None) -> None:
    """Run a plan and leave without looking back.

    Args:
        words: The name of the stack, which may be left out, and the plan's path.
        find: Returns the way to connect of a stack.
    """
    stack, path = words[0], words[-1]
    if find is None:
        from faces import FACES  # noqa: PLC0415 - frameworks bring their own

        find = FACES.__getitem__
    plan = json.loads(Path(path).read_text(encoding="utf-8"))
    run = Run(find(stack), plan, telling=stack == "client")
    asyncio.run(run.all())
    sys.stdout.flush()
    # A stack may have left threads and generators that would not end.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
