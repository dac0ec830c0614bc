"""What is done in a scenario: each play does it and says in a few words what came."""

from __future__ import annotations

import asyncio
import json
import re
import time
import urllib.request
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from desk import Desk
from verbs import Session, ToolFailedError

Step = dict[str, Any]
Plan = dict[str, Any]
WAIT = 2.0
"""Seconds in which news must have come."""


class UnsupportedError(Exception):
    """The server, or this stack, does not have what the scenario is about."""


class Stage:
    """What a play has at hand."""

    def __init__(self, session: Session, desk: Desk, step: Step, plan: Plan) -> None:
        self.session = session
        self.desk = desk
        self.step = step
        self.plan = plan

    async def call(self, **options: Any) -> str:
        """Call the tool of the scenario."""
        arguments = self.step.get("arguments", {})
        return await self.session.call(self.step["tool"], arguments, **options)


async def connect(_stage: Stage) -> str:
    """Do nothing but be connected."""
    return "connected"


async def call(stage: Stage) -> str:
    """Call a tool; append what the scenario wants to know beside its text."""
    said = await outcome(stage.call(timeout=stage.step.get("timeout")))
    report = stage.step.get("report", "text")
    if report == "asked":
        said += f"; asked {stage.desk.asked}"
    elif report == "open":
        said += f"; {stage.desk.most_open} at once"
    elif report == "names":
        said = ",".join(json.loads(said))
    if stage.step.get("alive") and not said.startswith("raised"):
        again = await outcome(stage.session.call("echo", {"text": "still here"}))
        said += "" if again == "still here" else f"; then {again}"
    return said


async def lists(stage: Stage) -> str:
    """List everything that can be listed."""
    counts = [
        f"{what} {'yes' if await listed(stage, what) else 'none'}"
        for what in ("tools", "prompts", "resources")
    ]
    return ", ".join(counts)


async def prompt(stage: Stage) -> str:
    """Get a prompt."""
    needs(stage.step["prompt"], await listed(stage, "prompts"))
    return await outcome(stage.session.prompt(stage.step["prompt"]))


async def resource(stage: Stage) -> str:
    """Read a resource."""
    uri, there = stage.step["resource"], await listed(stage, "resources")
    if uri not in there:
        there = [uri for each in await listed(stage, "templates") if fits(uri, each)]
    needs(uri, there)
    return await outcome(stage.session.resource(stage.step["resource"]))


async def logs(stage: Stage) -> str:
    """Set a level if the scenario does, and collect what is logged."""
    if "later" in stage.step:
        await stage.session.set_level(stage.step["later"])
    await stage.call()
    await asyncio.sleep(0.3)
    return ",".join(stage.desk.logs) or "nothing"


async def progress(stage: Stage) -> str:
    """Collect the progress reports of a call."""
    seen: list[float] = []

    async def report(value: float, _total: object, _message: object) -> None:
        seen.append(value)

    said = await outcome(stage.call(progress=report))
    await asyncio.sleep(0.1)
    rising = all(earlier < later for earlier, later in pairwise(seen))
    return f"{said}; {len(seen)} reports, {'rising' if rising else 'not rising'}"


async def changed(stage: Stage) -> str:
    """Wait to hear of a change that a tool makes."""
    if "subscribe" in stage.step:
        await stage.session.subscribe(stage.step["subscribe"])
    await stage.call()
    return await heard(stage.desk, stage.step["news"])


async def ping(stage: Stage) -> str:
    """Send a ping."""
    await stage.session.ping()
    return "answered"


async def cancel(stage: Stage) -> str:
    """Cancel a call that is under way, and see whether the server learns of it."""
    if stage.plan.get("log") is None:
        raise UnsupportedError("the server does not say what it learns")
    before = noted(stage, "cancelled slow")
    task = asyncio.ensure_future(stage.call())
    await until(lambda: noted(stage, "started slow") > before)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    told = await until(lambda: noted(stage, "cancelled slow") > before)
    return "told" if told else "not told"


async def control(stage: Stage) -> str:
    """Call, let something happen to the server, and call again."""
    first = await outcome(stage.call())
    order = f"{stage.plan['control']}/{stage.step['order']}"
    done = await asyncio.to_thread(_post, order)
    if done == "none":
        raise UnsupportedError("there is no session that could be lost")
    second = await outcome(stage.call())
    return f"{first}, {second}"


def _post(url: str) -> str:
    request = urllib.request.Request(url, method="POST")  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310
        return str(reply.read().decode())


PLAYS: dict[str, Callable[[Stage], Awaitable[str]]] = {
    "connect": connect,
    "call": call,
    "lists": lists,
    "prompt": prompt,
    "resource": resource,
    "logs": logs,
    "progress": progress,
    "changed": changed,
    "ping": ping,
    "cancel": cancel,
    "control": control,
}


# -- parts -------------------------------------------------------------------------


def tools(step: Step) -> list[str]:
    """Return every tool that a scenario calls."""
    own = [step["tool"]] if "tool" in step else []
    beside = step.get("alive") or step.get("answer") == "reenter"
    return [*own, "echo"] if beside else own


def needs(name: str, there: list[str]) -> None:
    """Demand that the server has something.

    Raises:
        UnsupportedError: It has not.
    """
    if name not in there:
        raise UnsupportedError(f"the server has no {name}")


def fits(uri: str, template: str) -> bool:
    """Tell whether a URI may be one that a template stands for."""
    parts = re.split(r"\{[^}]*\}", template)
    return re.fullmatch("[^/]*".join(map(re.escape, parts)), uri) is not None


async def listed(stage: Stage, what: str) -> list[str]:
    """Return the names of all there are; a server may not know the method."""
    try:
        return await stage.session.names(what)
    except Exception as error:
        if "-32601" in described(error):
            return []
        raise


async def outcome(work: Awaitable[str]) -> str:
    """Say in one way what came of a request."""
    try:
        return await work
    except UnsupportedError:
        raise
    except ToolFailedError as failed:
        return f"tool error: {failed}"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what came
        return described(error)


def described(error: BaseException) -> str:
    """Describe an exception: an error of the protocol by its code."""
    data = getattr(error, "error", error)
    code = getattr(data, "code", None)
    if isinstance(code, int):
        return f"error {code}: {getattr(data, 'message', error)}"
    if isinstance(error, BaseExceptionGroup):
        parts = "; ".join(described(part) for part in error.exceptions)
        return f"raised {type(error).__name__} of {parts}"
    return f"raised {type(error).__name__}: {error}"


async def heard(desk: Desk, method: str) -> str:
    """Wait until a notification has come."""
    deadline = time.monotonic() + WAIT
    while method not in desk.heard:
        desk.changed.clear()
        left = deadline - time.monotonic()
        try:
            await asyncio.wait_for(desk.changed.wait(), max(left, 0.001))
        except TimeoutError:
            return "heard nothing"
    return "heard"


def noted(stage: Stage, line: str) -> int:
    """Count how often the server has written a line."""
    path = Path(stage.plan["log"])
    return path.read_text().splitlines().count(line) if path.exists() else 0


async def until(true: Callable[[], bool]) -> bool:
    """Wait until something in another process has happened."""
    deadline = time.monotonic() + WAIT
    while not true():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.05)
    return True
