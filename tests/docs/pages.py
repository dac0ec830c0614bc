"""The code of a page, and how it is run.

A page is one story: its Python blocks run in order in one name space, with ``await``
at the top level. A ``text`` block right after one is what it prints. The names in
`STAND_INS` mean a real server. A comment above a block changes what happens to it::

    <!-- fragment: why it cannot run -->
    <!-- only: sdk2 legacy -->             the blocks from here on; ``any`` ends it
    <!-- peers: modern -->                 the page; else a legacy and a modern one
    <!-- file: card.py -->                 the block is saved, not run
    <!-- run: card.py PEER -->             what was saved is run; the text is its output
                                           (URL, LEGACY, MODERN, DUAL: what they say;
                                           @peer-mcp-2.3/server.py: a saved server)
    <!-- run: guide-langchain/agent.py PEER -->     the same, in another environment
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from tests.interop.peers import DUAL, LEGACY, MODERN, ROOT, command, shared

PIECE = re.compile(
    r"^<!-- (?P<key>[a-z]+)(?:: (?P<value>.*?))? -->$"
    r"|^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
DIRECTIVES = {"fragment", "only", "peers", "file", "run"}


@dataclass(frozen=True)
class Piece:
    """A directive, or a block of code."""

    line: int
    key: str
    """What the directive is, or ``"code"``."""
    value: str
    language: str = ""


def pieces(text: str) -> list[Piece]:
    """Return the directives and the blocks of a page, in order."""
    found: list[Piece] = []
    for match in PIECE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["key"] is None:
            code = inspect.cleandoc("\n" + match["code"]) if match["indent"] else ""
            found.append(Piece(line, "code", code or match["code"], match["language"]))
        elif match["key"] in DIRECTIVES:
            found.append(Piece(line, match["key"], match["value"] or ""))
    return found


def eras_of(text: str) -> list[str]:
    """Return the peers that a page runs against."""
    named = [piece.value for piece in pieces(text) if piece.key == "peers"]
    kinds = named[0].split() if named else ["legacy", "modern"]
    return [PEERS[kind] for kind in kinds]


PEERS = {"legacy": LEGACY, "modern": MODERN, "dual": DUAL}


def stand_in(code: str, peer: str) -> str:
    """Put a real server where the page has one as an example."""
    python, *arguments = command(peer)
    code = code.replace('"python", "server.py"', f'"{python}", *{arguments!r}')
    code = code.replace('command="python"', f'command="{python}"')
    code = code.replace('args=["server.py"]', f"args={arguments!r}")
    if "https://example.com/mcp" in code:
        code = code.replace("https://example.com/mcp", shared(peer))
    return code


@dataclass
class Run:
    """One page on its way, against one peer."""

    page: Path
    peer: str
    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})
    printed: str | None = None
    """What the last block has printed, until somebody looks at it."""
    only: str = "any"

    async def all(self) -> None:
        """Run the page."""
        waiting: Piece | None = None
        for piece in pieces(self.page.read_text(encoding="utf-8")):
            if piece.key == "run" and self.meant(self.only):
                self.check_silence(piece)
                self.printed = self.program(piece)
            elif piece.key == "only":
                self.only = piece.value
            elif piece.key == "code":
                await self.block(piece, waiting)
            waiting = piece if piece.key in {"fragment", "file"} else None
        self.check_silence(None)

    async def block(self, piece: Piece, about: Piece | None) -> None:
        """Run a block, save it, or compare it with what was printed."""
        if not self.meant(self.only):
            return
        if piece.language == "text" and self.printed is not None:
            expected, printed, self.printed = piece.value, self.printed, None
            said, shown = printed.strip(), expected.strip()
            assert said == shown, f"{self.where(piece)}: it printed\n{said}"
        elif piece.language == "python":
            self.check_silence(piece)
            if about is None:
                await self.execute(piece)
            elif about.key == "file":
                (self.folder / about.value).write_text(piece.value, encoding="utf-8")
            else:
                assert len(about.value) > 20, f"{self.where(about)}: no reason"
                ast.parse(f"async def _():\n{indented(piece.value)}")

    def meant(self, words: str) -> bool:
        """Tell whether what is only for some is for this run."""
        here = {
            "any",
            f"sdk{sdk_line()}",
            "legacy" if self.peer == LEGACY else "modern",
        }
        return set(words.split()) <= here

    async def execute(self, piece: Piece) -> None:
        """Run a block in the page's name space."""
        source = stand_in(piece.value, self.peer)
        padded = "\n" * piece.line + source
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code = compile(padded, str(self.page), "exec", flags, dont_inherit=True)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), anyio.fail_after(40):
            outcome = eval(code, self.names)
            if inspect.isawaitable(outcome):
                await outcome
        self.printed = out.getvalue() or None

    def program(self, piece: Piece) -> str:
        """Run a saved program, and return what it prints."""
        path, *arguments = piece.value.split()
        environment, _, name = path.rpartition("/")
        python = ROOT / ".envs" / environment / "bin" / "python"
        words = [str(python) if environment else sys.executable, name]
        for argument in arguments:
            words += self.meaning(argument)
        done = subprocess.run(
            words,
            cwd=self.folder,
            env={**os.environ, "MCP_USE_ANONYMIZED_TELEMETRY": "false"},
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
        assert done.returncode == 0, f"{self.where(piece)}:\n{done.stderr}"
        return done.stdout

    def meaning(self, word: str) -> list[str]:
        """Return what a word of a command line stands for."""
        if word == "URL":
            return [shared(self.peer)]
        if word.startswith("@"):
            environment, _, name = word[1:].partition("/")
            return [str(ROOT / ".envs" / environment / "bin" / "python"), name]
        peer = self.peer if word == "PEER" else PEERS.get(word.lower())
        return [word] if peer is None or not word.isupper() else command(peer)

    def check_silence(self, piece: Piece | None) -> None:
        """Fail if something was printed that the page does not show."""
        shown = f"before {self.where(piece)}" if piece else f"at the end of {self.page}"
        assert not self.printed, f"{shown}, the page does not show:\n{self.printed}"

    def where(self, piece: Piece) -> str:
        """Return the place of a piece, as editors know it."""
        return f"{self.page}:{piece.line}"


def indented(code: str) -> str:
    """Return code one level deeper."""
    return "\n".join(f"    {line}" for line in code.splitlines()) or "    pass"


def sdk_line() -> int:
    """Return the major version of the installed SDK."""
    from mcp_anyera._sdk import SDK_LINE

    return SDK_LINE
