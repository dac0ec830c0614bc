"""One client stack in front of one server: every scenario, in few processes."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mcp_anyera.matrix import transcript
from mcp_anyera.matrix.environments import Environment
from mcp_anyera.matrix.peers import Peer
from mcp_anyera.matrix.processes import NotStartedError, end_process, started, tail
from mcp_anyera.matrix.scenarios import Scenario, Scenarios
from mcp_anyera.matrix.stages import PROGRAMS, Server, Stage, staged, tapped

GRACE: Final = 25.0
"""Seconds beyond the limit of a scenario: closing, and starting a server again."""
MOST_STARTS: Final = 4
"""Processes that a client stack gets for its scenarios."""

Told = Callable[[str, "Cell"], None]


@dataclass
class Cell:
    """What came of one scenario."""

    verdict: str
    """``"pass"``, ``"fail"``, ``"unsupported"`` or ``"error"``."""
    outcome: str
    """What the program said, or why nothing could be said."""
    seconds: float = 0.0
    revision: str | None = None


@dataclass
class Client:
    """A client stack and where it runs."""

    peer: Peer
    environment: Environment | None = None
    """``None`` for a program that the user brings, and until it is made."""

    def command(self, plan: Path) -> list[str]:
        """Return the command that runs a plan."""
        if self.environment is None:
            return [*self.peer.data["command"], str(plan)]
        if "program" in self.peer.data:
            program = self.peer.home / self.peer.data["program"]
        else:
            program = PROGRAMS / "main.py"
        stack = self.peer.data.get("stack", self.peer.name)
        return [*self.environment.command, str(program), stack, str(plan)]

    @property
    def variables(self) -> dict[str, str]:
        """What its environment has beside ours."""
        own = {} if self.environment is None else self.environment.variables
        paths = [own.get("PYTHONPATH", ""), str(PROGRAMS)]
        return {**own, "PYTHONPATH": os.pathsep.join(filter(None, paths))}

    @property
    def bridged(self) -> bool:
        """The stack meets the server through ``anyera bridge``."""
        return "bridge" in self.peer.data


@dataclass
class Pair:
    """A client stack, a server, and the way between them."""

    client: Client
    server: Server
    transport: str
    scenarios: Scenarios
    limit: float
    cells: dict[str, Cell] = field(default_factory=dict[str, Cell])
    begins: dict[str, float] = field(default_factory=dict[str, float])
    versions: dict[str, str] = field(default_factory=dict[str, str])
    records: dict[str, Any] = field(default_factory=dict[str, Any])
    seconds: float = 0.0

    @property
    def name(self) -> tuple[str, str, str]:
        """What tells it from other pairs."""
        return self.client.peer.name, self.server.peer.name, self.transport

    async def run(self, folder: Path, told: Told) -> None:
        """Run every scenario and keep what came of it.

        Args:
            folder: For the files of this pair.
            told: Hears of each cell when it is known.
        """
        start = time.monotonic()
        wanted = [name for name in self.scenarios if self._settled(name, told) is None]
        try:
            async with staged(self.server, self.transport, folder) as stage:
                await self._all(wanted, stage, told)
        except NotStartedError as error:
            self._rest(wanted, Cell("error", str(error)), told)
        finally:
            self.seconds = round(time.monotonic() - start, 2)
            self._keep(folder, start)

    def _settled(self, name: str, told: Told) -> Cell | None:
        """Settle what need not be tried."""
        scenario, server = self.scenarios[name], self.server.peer
        changes = server.changes(name)
        if not set(scenario.revisions) & set(server.revisions):
            reason = f"does not belong to {' or '.join(server.revisions)}"
        elif name not in server.data.get("only", [name]):
            reason = "this server is about something else"
        elif "order" in scenario.data and self.transport != "http":
            reason = "happens over HTTP only"
        elif "unsupported" in changes:
            reason = str(changes["unsupported"])
        elif (lacking := self.client.peer.lacks(name)) is not None:
            reason = lacking
        else:
            return None
        return self._tell(name, Cell("unsupported", reason), told)

    async def _all(self, wanted: list[str], stage: Stage, told: Told) -> None:
        left = list(wanted)
        for _ in range(MOST_STARTS):
            if left:
                await self._some(left, stage, told)
                left = [name for name in left if name not in self.cells]
        ended = Cell("error", "the program ended too often to be started again")
        self._rest(left, ended, told)

    async def _some(self, wanted: list[str], stage: Stage, told: Told) -> None:
        """Run scenarios in one process, until it is done or has to be ended."""
        plan = stage.folder / "plan.json"
        plan.write_text(json.dumps(self._plan(wanted, stage)), "utf-8")
        errors = stage.folder / "client.err"
        command, current = self.client.command(plan), None
        async with started(command, self.client.variables, errors) as process:
            assert process.stdout is not None
            async for line in self._lines(process.stdout):
                if "begin" in line:
                    current = self.begins.setdefault(line["begin"], line["at"])
                    current = str(line["begin"])
                elif line.get("id") in wanted:
                    self._judged(line, told)
                    current = None
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), 1)
            status = process.returncode
        self._broken(current, wanted, status, tail(errors), told)

    async def _lines(
        self, stream: asyncio.StreamReader
    ) -> AsyncGenerator[dict[str, Any]]:
        """Yield what the program says, until it ends or says nothing for too long."""
        with suppress(TimeoutError):
            while True:
                limit = self.limit + GRACE
                line = await asyncio.wait_for(stream.readline(), limit)
                if not line:
                    return
                with suppress(ValueError):
                    said = json.loads(line)
                    if isinstance(said, dict):
                        yield said

    def _broken(
        self,
        current: str | None,
        wanted: list[str],
        status: int | None,
        said: str,
        told: Told,
    ) -> None:
        """Settle what a program leaves behind that did not come to its end."""
        how = "hung" if status is None else f"ended with status {status}"
        if current is not None:
            self._tell(current, Cell("fail", f"the client {how}: {said}"), told)
        elif not any(name in self.cells for name in wanted):
            self._rest(wanted, Cell("error", f"the client {how}: {said}"), told)

    def _plan(self, wanted: list[str], stage: Stage) -> dict[str, Any]:
        steps = [
            self.scenarios[name].step(self.server.peer.changes(name)) for name in wanted
        ]
        target, face = stage.target, str(stage.folder / "face.jsonl")
        if self.client.bridged:
            target = self._through_bridge(stage)
        return {
            "target": target,
            "control": stage.control,
            "log": None if stage.log is None else str(stage.log),
            "face": face,
            "revision": self._spoken(),
            "limit": self.limit,
            "scenarios": steps,
        }

    def _spoken(self) -> str | None:
        """Return the revision on the wire where the program cannot see it."""
        speaks = self.client.peer.data.get("speaks")
        choice = {"newest": max, "oldest": min}.get(str(speaks))
        return None if choice is None else choice(self.server.peer.revisions)

    def _through_bridge(self, stage: Stage) -> dict[str, Any]:
        assert self.client.environment is not None
        bridge = [*self.client.environment.command, *self.client.peer.data["bridge"]]
        beyond = stage.target.get("command") or [stage.target["url"]]
        command = tapped(stage.folder / "face.jsonl", [*bridge, *beyond])
        variables = {**self.client.variables, **stage.target.get("env", {})}
        return {"command": command, "env": variables}

    def _judged(self, line: Mapping[str, Any], told: Told) -> None:
        name = line["id"]
        seconds, revision = float(line.get("seconds", 0)), line.get("revision")
        if self._contradicts(revision):
            known = " and ".join(self.server.peer.revisions)
            reason = f"the server speaks {revision}, its peer.toml says {known}"
            cell = Cell("error", reason, seconds, revision)
        elif "unsupported" in line:
            reason = str(line["unsupported"])
            cell = Cell("unsupported", reason, seconds, revision)
        else:
            outcome = str(line["outcome"])
            verdict = self._verdict(self.scenarios[name], outcome)
            cell = Cell(verdict, outcome, seconds, revision)
        self._tell(name, cell, told)

    def _contradicts(self, revision: str | None) -> bool:
        # What a user's client names may be what a layer in it shows, not the wire's.
        ours = self.client.peer.data.get("group") != "yours"
        return ours and revision not in {None, *self.server.peer.revisions}

    def _verdict(self, scenario: Scenario, outcome: str) -> str:
        changes = self.server.peer.changes(scenario.id)
        return "pass" if scenario.passed(outcome, changes) else "fail"

    def _tell(self, name: str, cell: Cell, told: Told) -> Cell:
        cell.outcome = str(transcript.shortened(cell.outcome))
        self.cells[name] = cell
        told(name, cell)
        return cell

    def _rest(self, wanted: list[str], cell: Cell, told: Told) -> None:
        for name in wanted:
            if name not in self.cells:
                self._tell(name, Cell(cell.verdict, cell.outcome), told)

    def _keep(self, folder: Path, start: float) -> None:
        """Keep what passed, and end what a killed client has left behind."""
        for side in ("wire", "face"):
            records = transcript.read(folder / f"{side}.jsonl")
            for record in records:
                if "pid" in record:
                    end_process(int(record["pid"]))
            if records:
                self.records[side] = transcript.cut(records, self.begins, start)

    @property
    def revision(self) -> str | None:
        """The revision that was spoken on the wire."""
        spoken = [cell.revision for cell in self.cells.values() if cell.revision]
        return max(spoken, default=None)


__all__ = ["Cell", "Client", "Pair"]
