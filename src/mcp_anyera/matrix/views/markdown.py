"""The result as Markdown: a page of the documentation, an excerpt for the README."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from mcp_anyera.matrix.result import Json, counted

_SHOWN: Final = {"pass": "✓", "gap": "◐", "fail": "✗", "error": "!"}
_GROUPS: Final = {
    "sdk": "the SDK alone",
    "anyera": "with mcp-anyera",
    "bridge": "through `anyera bridge`",
    "frameworks": "frameworks",
}
_ERAS: Final = {"legacy": "legacy", "dual": "dual-era", "modern": "modern only"}
_VERSIONS: Final = ("mcp", "mcp-types", "fastmcp", "mcp-anyera", "node")
BEGIN: Final = "<!-- compat matrix: written by `make matrix` -->"
END: Final = "<!-- end of the compat matrix -->"


def rendered(data: Json) -> str:
    """Return a page: every pair with its counts, the gaps and the versions."""
    parts = [_head(data), _pairs(data), _gaps(data), _scenarios(data), _peers(data)]
    return "\n\n".join(parts) + "\n"


def excerpt(data: Json) -> str:
    """Return a table for the README: how much passes, by kind of server."""
    header = ["client stack", *(f"{each} servers" for each in _ERAS.values())]
    rows = [
        [about["title"], *(_share(data, name, era) for era in _ERAS)]
        for name, about in data["clients"].items()
        if about["group"] in _GROUPS
    ]
    day = data["started"][:10]
    said = f"Scenarios passed of those tried, {day}; ◐ are known gaps, with reasons."
    return f"{_table(header, rows)}\n\n{said}"


def inserted(text: str, data: Json) -> str:
    """Return a text with the excerpt between its two markers.

    Raises:
        ValueError: It has no markers.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"no place for the table: {BEGIN} … {END}")
    return f"{before}{begin}\n\n{excerpt(data)}\n\n{end}{after}"


def _share(data: Json, client: str, era: str) -> str:
    pairs = [
        pair
        for pair in data["pairs"]
        if pair["client"] == client and data["servers"][pair["server"]]["era"] == era
    ]
    counts = counted(cell for pair in pairs for cell in pair["cells"].values())
    tried = counts["pass"] + counts["gap"] + counts["fail"] + counts["error"]
    gaps = f" (◐ {counts['gap']})" if counts["gap"] else ""
    return f"{counts['pass']} of {tried}{gaps}" if tried else "–"


def _head(data: Json) -> str:
    day, minutes = data["started"][:10], max(1, round(data["seconds"] / 60))
    cells = [cell for pair in data["pairs"] for cell in pair["cells"].values()]
    counts = counted(cells)
    said = ", ".join(f"{number} {name}" for name, number in counts.items())
    return f"""# The compat matrix

Written by `make matrix` from `compat-matrix/results/latest.json`; do not edit it.
Run on {day} in {minutes} minutes, Python {data["python"]}, {data["platform"]}: {said}.

✓ pass, ◐ known gap, ✗ fail, ! could not be tried. What does not apply is left out.
`compat-matrix/results/latest.html` has every cell with what went over the wire."""


def _pairs(data: Json) -> str:
    places = list(dict.fromkeys((p["server"], p["transport"]) for p in data["pairs"]))
    found = {(p["client"], p["server"], p["transport"]): p for p in data["pairs"]}
    parts: list[str] = []
    for group, title in _GROUPS.items():
        clients = [n for n, each in data["clients"].items() if each["group"] == group]
        if not clients:
            continue
        header = ["server", "", *(data["clients"][name]["title"] for name in clients)]
        rows = [
            [
                data["servers"][server].get("title", server),
                transport,
                *(_counts(found.get((name, server, transport))) for name in clients),
            ]
            for server, transport in places
        ]
        parts.append(f"## Client stacks: {title}\n\n{_table(header, rows)}")
    return "\n\n".join(parts)


def _counts(pair: Json | None) -> str:
    if pair is None:
        return ""
    counts = counted(pair["cells"].values())
    # A mark and its number stay on one line, however narrow the column.
    marks = (
        f"{mark}\N{NO-BREAK SPACE}{counts[name]}"
        for name, mark in _SHOWN.items()
        if counts[name]
    )
    return " ".join(marks) or "–"


def _gaps(data: Json) -> str:
    used: dict[int, list[tuple[str, str, str]]] = {}
    for pair in data["pairs"]:
        for name, cell in pair["cells"].items():
            if "gap" in cell:
                where = (pair["client"], pair["server"], name)
                used.setdefault(cell["gap"], []).append(where)
    lines = ["## Known gaps of the stacks with mcp-anyera", ""]
    for number, cells in sorted(used.items()):
        gap = data["gaps"][number]
        links = " ".join(f"<{each}>" for each in gap["links"])
        ids = _listed(scenario for _, _, scenario in cells)
        clients = _listed(client for client, _, _ in cells)
        servers = _listed(server for _, server, _ in cells)
        lines += [
            f"- {ids} ({len(cells)} cells): {' '.join(gap['reason'].split())} {links}",
            f"  Client stacks: {clients}. Servers: {servers}.",
        ]
    return "\n".join(lines if used else [*lines, "None."])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))


def _scenarios(data: Json) -> str:
    def row(name: str, each: Json) -> list[str]:
        links = ", ".join(f"[{link.split('/')[4]}]({link})" for link in each["links"])
        return [f"`{name}`", each["sentence"], links]

    rows = [row(name, each) for name, each in data["scenarios"].items()]
    return f"## Scenarios\n\n{_table(['id', 'what must be true', 'spec'], rows)}"


def _peers(data: Json) -> str:
    parts = ["## Versions"]
    for kind in ("clients", "servers"):
        rows = [
            [f"`{name}`", about.get("title", name), _versions(about["versions"])]
            for name, about in data[kind].items()
        ]
        parts.append(_table([kind, "", "what it runs on"], rows))
    return "\n\n".join(parts)


def _versions(versions: dict[str, str]) -> str:
    shown = [
        f"{name} {version}"
        for name, version in versions.items()
        if name.lower() in _VERSIONS or name.startswith("@modelcontextprotocol/")
    ]
    return ", ".join(shown)


def _table(header: list[Any], rows: list[list[Any]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
