"""The verbs that the plays use, over a session or client of either SDK line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from desk import Recorder, dumped

MEMBERS = {
    "resources": ("resources", "uri"),
    "templates": ("resourceTemplates", "uriTemplate"),
}
"""What is listed → the member of the result, and what names an entry."""


class ToolFailedError(Exception):
    """A tool returned a result that is an error."""


@dataclass
class Session:
    """A connected session, spoken to in one way."""

    raw: Any
    """`ClientSession`, `mcp.Client` or `mcp_anyera.Client`."""
    revision: str
    """The revision that is spoken on the wire, where that can be known."""
    recorder: Recorder
    telling: bool = False
    old_session: bool = False
    """It is the session of SDK 1.x: durations and URIs are objects."""

    async def call(
        self,
        tool: str,
        arguments: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        progress: Any = None,
    ) -> str:
        """Call a tool and return its text.

        Raises:
            ToolFailedError: The result is an error.
        """
        options: dict[str, Any] = {}
        if timeout is not None:
            old = timedelta(seconds=timeout)
            options["read_timeout_seconds"] = old if self.old_session else timeout
        if progress is not None:
            options["progress_callback"] = progress
        self._tell("out", f"call_tool {tool}")
        result = dumped(await self.raw.call_tool(tool, arguments or {}, **options))
        text = " ".join(part.get("text", "") for part in result["content"])
        self._tell("in", f"result: {text}")
        if result.get("isError"):
            raise ToolFailedError(text)
        return text

    async def prompt(self, name: str) -> str:
        """Get a prompt and return its text."""
        self._tell("out", f"get_prompt {name}")
        result = dumped(await self.raw.get_prompt(name))
        return str(result["messages"][0]["content"]["text"])

    async def resource(self, uri: str) -> str:
        """Read a resource and return its text."""
        self._tell("out", f"read_resource {uri}")
        result = dumped(await self.raw.read_resource(self._uri(uri)))
        return str(result["contents"][0]["text"])

    async def names(self, what: str) -> list[str]:
        """Return the names of all tools or prompts, or the URIs of all resources.

        ``templates`` stands for the URIs of the resource templates.
        """
        verb = "resource_templates" if what == "templates" else what
        self._tell("out", f"list_{verb}")
        result = dumped(await getattr(self.raw, f"list_{verb}")())
        member, key = MEMBERS.get(what, (what, "name"))
        return [str(each[key]) for each in result[member]]

    async def ping(self) -> None:
        """Send a ping."""
        self._tell("out", "send_ping")
        await self.raw.send_ping()

    async def set_level(self, level: str) -> None:
        """Ask for less severe log messages, or for more severe ones only."""
        self._tell("out", f"set_logging_level {level}")
        await self.raw.set_logging_level(level)

    async def subscribe(self, uri: str) -> None:
        """Ask to hear when a resource changes."""
        self._tell("out", f"subscribe_resource {uri}")
        await self.raw.subscribe_resource(self._uri(uri))

    def _uri(self, uri: str) -> Any:
        if not self.old_session:
            return uri
        from pydantic import AnyUrl  # noqa: PLC0415 - the other line has strings

        return AnyUrl(uri)

    def _tell(self, direction: str, text: str) -> None:
        if self.telling:
            self.recorder.say(direction, text)
