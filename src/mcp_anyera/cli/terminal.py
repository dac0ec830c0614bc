"""Questions of a server, put to the person at the terminal.

Nothing is sent, opened or answered before a key was pressed for it, and to
decline and to cancel are always among the choices.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any, Final

import anyio
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from mcp_anyera.cli.answers_file import Asked
from mcp_anyera.cli.clean import clean, clean_line
from mcp_anyera.cli.contents import sampled, text_of
from mcp_anyera.cli.display import Display
from mcp_anyera.cli.form_filling import Form
from mcp_anyera.cli.prompting import Back, Option, Prompts

OPEN_TIMEOUT: Final = 5.0
"""Seconds to wait for a browser to say that it cannot be opened."""
_OPEN: Final = (
    "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1], new=2))"
)
_WHAT: Final = "What do you want to do?"
_DECLINE: Final = Option("decline", "Decline", "– say no")
_CANCEL: Final = Option("cancel", "Cancel", "– close it without an answer")


class Terminal:
    """Puts questions, one at a time."""

    def __init__(self, display: Display, prompts: Prompts) -> None:
        """Use a display for what is read, and prompts for what is typed."""
        self._display = display
        self._prompts = prompts

    # -- forms ---------------------------------------------------------------------

    async def form(self, asked: Asked) -> dict[str, Any]:
        """Put a form, and return an ``ElicitResult``."""
        form = Form(asked.params)
        self._head(asked, "asks", Text(clean(asked.message)))
        options = [Option("answer", "Answer"), _DECLINE, _CANCEL]
        choice = await self._menu(options)
        while choice in {"answer", "change"}:
            filled = await form.fill(self._prompts)
            choice = await (self._review(form) if filled else self._menu(options))
        given = {"content": form.content} if choice == "accept" else {}
        return {"action": choice, **given}

    async def _review(self, form: Form) -> str:
        # One field has just been read and typed; more are worth a second look.
        if len(form.fields) <= 1:
            return "accept"
        table = Table.grid(padding=(0, 2))
        for title, value in form.rows():
            table.add_row(Text(title, style="dim"), Text(value))
        self._display.console.print(Panel(table, title="Your answer", expand=False))
        options = [Option("accept", "Send"), Option("change", "Change")]
        return await self._menu([*options, _DECLINE, _CANCEL])

    async def _menu(self, options: list[Option]) -> Any:
        while True:
            choice = await self._prompts.one(_WHAT, options, hint="(arrows and Enter)")
            if not isinstance(choice, Back):
                return choice

    # -- pages ---------------------------------------------------------------------

    async def page(self, asked: Asked) -> dict[str, Any]:
        """Put a question that is answered on a web page."""
        url = str(asked.params.get("url", ""))
        self._head(asked, "wants you to visit a page", _page(asked, url))
        while True:
            choice = await self._menu(
                [
                    Option("open", f"Open {asked.host} in the browser"),
                    Option("accept", "I will open it myself", "– tell the server yes"),
                    _DECLINE,
                    _CANCEL,
                ]
            )
            if choice != "open":
                return {"action": choice}
            if await _opened(url):
                return {"action": "accept"}
            self._display.console.print(
                Text("No browser could be opened; the address is above.", "yellow")
            )

    # -- models --------------------------------------------------------------------

    async def sampling(self, asked: Asked) -> dict[str, Any] | None:
        """Put a prompt that is meant for a model; ``None`` when it is declined."""
        self._head(asked, "wants an answer of a model", _prompt(asked.params))
        while True:
            choice = await self._menu([Option("answer", "Answer yourself"), _DECLINE])
            if choice == "decline":
                return None
            text = await self._prompts.line(
                "Answer:",
                default="",
                hint="(Enter sends it, Esc goes back)",
                validate=lambda text: None if text.strip() else "say something",
            )
            if not isinstance(text, Back):
                return sampled(text)

    def _head(self, asked: Asked, wants: str, body: RenderableType) -> None:
        who = clean_line(asked.caller or "the server")
        title = f"{who} {wants}"
        if asked.round > 1:
            title += f" · round {asked.round}"
        parts = [body]
        if asked.problem is not None:
            text = f"The last answer did not fit: {clean_line(asked.problem)}"
            parts.append(Text(text, "red"))
        panel = Panel(Group(*parts), title=Text(title, "bold"), title_align="left")
        self._display.console.print()
        self._display.console.print(panel)


def _page(asked: Asked, url: str) -> RenderableType:
    parts: list[RenderableType] = [
        Text(clean(asked.message)),
        Text(),
        Text(asked.host, style="bold reverse"),
        Text(clean_line(url), style="dim", overflow="fold"),
    ]
    disguise = _disguise(asked.host)
    if disguise is not None:
        parts.append(Text(disguise, "yellow"))
    parts.append(Text())
    parts.append(Text("Nothing is opened unless you say so.", "italic"))
    return Group(*parts)


def _disguise(host: str) -> str | None:
    # Letters of other alphabets look like ours, and a browser may show them.
    if host.isascii() and "xn--" not in host:
        return None
    try:
        other = host.encode("ascii").decode("idna")
    except UnicodeError:
        other = host.encode("idna", "replace").decode("ascii", "replace")
    return f"Careful: this name can also be read as {clean_line(other)}"


async def _opened(url: str) -> bool:
    # In a process of its own: some browsers print, and stdout is for the result.
    command = [sys.executable, "-c", _OPEN, url]
    process = await anyio.open_process(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with anyio.move_on_after(OPEN_TIMEOUT):
        return await process.wait() == 0
    return True  # it has not given up, so something is open


def _prompt(params: dict[str, Any]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    if params.get("systemPrompt"):
        table.add_row(Text("system", "dim"), Text(clean(params["systemPrompt"])))
    for message in params.get("messages", []):
        said = Text(clean(text_of(message.get("content"))))
        table.add_row(Text(clean_line(str(message.get("role"))), "dim"), said)
    limit = params.get("maxTokens")
    if limit is not None:
        table.add_row(Text("limit", "dim"), Text(f"{limit} tokens", "dim"))
    return table
