"""What a probe has found, as a page for people."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mcp_anyera.cli.clean import clean
from mcp_anyera.engine.jsonrpc import is_object

_NOTED: Final = {"warning": "yellow", "note": "cyan"}


def print_report(found: dict[str, Any], console: Console) -> None:
    """Print a report of `report.report`."""
    console.print(_headline(found), soft_wrap=True)
    console.print()
    for title, body in _sections(found):
        console.print(Text(title, style="bold"))
        console.print(Padding(body, (0, 0, 1, 2), expand=False))


def _headline(found: dict[str, Any]) -> Text:
    name = Text(clean(found["target"]), style="bold")
    if not found["reachable"]:
        return Text("✗ ", style="red") + name + Text(" cannot be reached", style="red")
    said = f" is {found['era']}, {found['revision']}"
    if found["handshake"] is not None:
        said = (
            f" is dual-era: modern, {found['revision']}; legacy, {found['handshake']}"
        )
    return Text("✓ ", style="green") + name + Text(said)


def _sections(found: dict[str, Any]) -> list[tuple[str, RenderableType]]:
    sections: list[tuple[str, RenderableType]] = []
    if found["error"] is not None:
        sections.append(("Why", _why(found["error"])))
    if found["reachable"]:
        sections.append(("Server", _server(found)))
    if found["reachable"] and found["instructions"]:
        sections.append(("Instructions", Text(clean(found["instructions"]))))
    if found["remembered"] is not None:
        sections.append(("Memory", _memory(found["remembered"])))
    if found["steps"]:
        sections.append(("Steps", _steps(found)))
    if found["answers"]:
        sections.append(("Answers on the way", _answers(found)))
    if found["oddities"]:
        sections.append(("Oddities", _oddities(found["oddities"])))
    if found["stderr"] and not found["reachable"]:
        lines = "\n".join(clean(line) for line in found["stderr"])
        sections.append(("The end of its stderr", Text(lines, style="dim")))
    return sections


def _why(error: dict[str, Any]) -> RenderableType:
    rows = [("", error["message"]), ("status", error["status"])]
    rows += [("challenge", error["challenge"]), ("cause", error["cause"])]
    return _table([row for row in rows if row[1] is not None])


def _server(found: dict[str, Any]) -> RenderableType:
    info: dict[str, Any] = found["server"] or {}
    name = " ".join(str(info[key]) for key in ("name", "version") if key in info)
    counts = found["counts"]
    shown = [
        f"{label.replace('_', ' ')} {'–' if number is None else number}"
        for label, number in counts.items()
    ]
    return _table(
        [
            ("name", name or "it does not say"),
            ("transport", found["transport"]),
            ("versions", ", ".join(found["versions"])),
            ("capabilities", _capabilities(found["capabilities"])),
            ("lists", ", ".join(shown)),
        ]
    )


def _memory(remembered: dict[str, Any]) -> RenderableType:
    if not remembered.get("era"):
        return Text("nothing is remembered of this server")
    learned = datetime.fromtimestamp(remembered["learned_at"], tz=UTC)
    rows = [
        ("remembered", f"{remembered['era']}, {remembered['revision']}"),
        ("found out", f"{learned:%Y-%m-%d %H:%M} UTC"),
        ("tools that call back", ", ".join(remembered.get("tools", []))),
    ]
    return _table([row for row in rows if row[1]])


def _capabilities(capabilities: dict[str, Any]) -> str:
    parts = [
        f"{name} ({', '.join(details)})" if details else name
        for name, value in capabilities.items()
        for details in [_switched_on(value)]
    ]
    return ", ".join(parts) or "none"


def _switched_on(value: Any) -> list[str]:
    if not is_object(value):
        return []
    return [str(name) for name, inner in value.items() if inner is not False]


def _steps(found: dict[str, Any]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    for step in found["steps"]:
        table.add_row(
            Text(_time(step["seconds"]), style="dim"),
            Text(step["what"], no_wrap=True),
            Text(clean(step["outcome"])),
        )
    table.add_row(
        Text(_time(found["seconds"]), style="dim"),
        Text("in all", no_wrap=True),
        Text(""),
    )
    return table


def _answers(found: dict[str, Any]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for answer in found["answers"]:
        seconds = answer["seconds"]
        table.add_row(
            Text(answer["to"], no_wrap=True),
            Text("" if seconds is None else _time(seconds), style="dim"),
            Text(_http(answer), no_wrap=True),
            Text(clean(_said(answer)), no_wrap=True, overflow="ellipsis"),
        )
    return table


def _http(answer: dict[str, Any]) -> str:
    http = answer.get("http")
    if http is None:
        return ""
    return f"HTTP {http['status']}" + (" + session" if http["session"] else "")


def _said(answer: dict[str, Any]) -> str:
    if "error" in answer:
        error = answer["error"]
        if is_object(error):
            return f"error {error.get('code')}: {error.get('message')}"
        return f"malformed error: {error!r}"
    if "failed" in answer:
        return answer["failed"]
    if "result" in answer:
        return json.dumps(answer["result"], ensure_ascii=False)
    return "no answer" if answer["to"] != "subscriptions/listen" else "stays open"


def _oddities(oddities: list[dict[str, Any]]) -> RenderableType:
    blocks: list[RenderableType] = []
    for oddity in oddities:
        colour = _NOTED[oddity["severity"]]
        head = Text(f"{oddity['severity']} ", style=colour)
        blocks.append(head + Text(clean(oddity["seen"]), style="bold"))
        blocks.append(
            Padding(Text(clean(oddity["meaning"])), (0, 0, 0, 2), expand=False)
        )
        advice = Text("→ " + clean(oddity["advice"]), style="italic")
        blocks.append(Padding(advice, (0, 0, 1, 2), expand=False))
    return Group(*blocks)


def _table(rows: list[tuple[str, Any]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    for name, value in rows:
        table.add_row(Text(name, style="dim"), Text(clean(str(value))))
    return table


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
