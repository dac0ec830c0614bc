"""A server in memory: it does at once what the script says, in the era it is of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream

from mcp_anyera._sdk import SessionMessage, to_session_message
from mcp_anyera.engine import Message, jsonrpc
from mcp_anyera.engine.config import LOG_LEVELS
from mcp_anyera.engine.failures import INTERNAL_ERROR, INVALID_PARAMS
from mcp_anyera.eras import Era
from mcp_anyera.testing.calls import (
    Call,
    Handler,
    described,
    steps_of,
    tool_steps,
)
from mcp_anyera.testing.inbox import Inbox
from mcp_anyera.testing.legacy import Legacy
from mcp_anyera.testing.manners import Manners
from mcp_anyera.testing.modern import Modern
from mcp_anyera.testing.steps import SILENCE, Script, ServerError, Told
from mcp_anyera.testing.transcript import Entry, Transcript


class ScriptedServer:
    """A server in memory; a transport that yields ``(read, write)``.

    It serves one client at a time, and one after another.

    Attributes:
        era: The era that it speaks; it refuses the other as real servers do.
        transcript: Everything that was said, over all its connections.
    """

    def __init__(
        self,
        era: Era = Era.MODERN,
        *,
        tools: Iterable[Handler] = (),
        methods: Mapping[str, Handler] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        name: str = "scripted",
    ) -> None:
        """Describe a server; it runs while a client is connected.

        Args:
            era: The era that it speaks.
            tools: Functions that are called with the arguments of the call. What one
                returns becomes a text, or is the result if it is a mapping. A
                generator may yield a question or a list of them (`form`, `page`,
                `sample`, `roots`), news (`log`, `progress`), or `SILENCE`.
            methods: Answers to other requests: by method, functions that are called
                with the params and return the result. They may yield as well, and
                take the place of what the server would answer itself.
            capabilities: What it declares; ``{"tools": {}}`` when omitted.
            name: What it calls itself.
        """
        self.era = era
        self.transcript: Transcript = Transcript()
        self._about = {
            "capabilities": dict(
                {"tools": {}} if capabilities is None else capabilities
            ),
            "serverInfo": {"name": name, "version": "1"},
        }
        self._tools = {tool.__name__: tool for tool in tools}
        self._own = dict(methods or {})
        self._send: MemoryObjectSendStream[SessionMessage | Exception] | None = None
        self._open: dict[int | str, Call] = {}
        self._manners = self._fresh()

    def _fresh(self) -> Manners:
        kind = Legacy if self.era is Era.LEGACY else Modern
        return kind(self._say, self._about)

    # -- the transport -------------------------------------------------------------

    async def __aenter__(self) -> Any:
        """Start a connection.

        Returns:
            The streams, ``(read, write)``.

        Raises:
            RuntimeError: It serves a client already.
        """
        if self._send is not None:
            msg = "this ScriptedServer serves a client already"
            raise RuntimeError(msg)
        self._open, self._manners = {}, self._fresh()
        self._send, read = anyio.create_memory_object_stream[
            "SessionMessage | Exception"
        ](math.inf)
        return read, Inbox(self._receive)

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the connection."""
        self.stop()

    def stop(self) -> None:
        """End the connection from the server's side, as a crash does."""
        send, self._send = self._send, None
        if send is not None:
            send.close()

    # -- what a test tells it to say -----------------------------------------------

    def announce(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Tell of a change that no call is the cause of.

        A legacy server says it at once. A modern one says it to those who listen
        for it.

        Args:
            method: Such as ``"notifications/tools/list_changed"``.
            params: Its params.
        """
        for message in self._manners.news(method, dict(params or {})):
            self._say(message)

    def _say(self, message: Message) -> None:
        self.transcript.append(Entry("server", message))
        if self._send is not None:
            with suppress(anyio.BrokenResourceError):  # the client is gone
                self._send.send_nowait(to_session_message(message))

    # -- what the client says ------------------------------------------------------

    def _receive(self, message: Message) -> None:
        self.transcript.append(Entry("client", message))
        call = self._manners.resumed(message)
        if call is not None:
            self._open[call.id] = call
            self._go_on(call)
        elif "method" in message and "id" in message:
            self._begin(message)
        elif message.get("method") == "notifications/cancelled":
            self._cancel(message["params"]["requestId"])

    def _begin(self, message: Message) -> None:
        call = Call(message["id"], message.get("params") or {})
        self._open[call.id] = call
        call.steps = self._steps(message["method"], call)
        self._step(call, lambda: next(call.steps))

    def _steps(self, method: str, call: Call) -> Script:
        if method in self._own:
            return (yield from steps_of(self._own[method], call.params))
        if method == "tools/list":
            return {"tools": [described(tool) for tool in self._tools.values()]}
        if method == "tools/call":
            return (yield from self._tool_steps(call))
        standard = self._manners.methods().get(method)
        if standard is None:
            raise self._manners.unknown(method)
        return (yield from steps_of(standard, call))

    def _tool_steps(self, call: Call) -> Script:
        tool = self._tools.get(call.params["name"])
        if tool is None:
            raise ServerError(INVALID_PARAMS, f"Unknown tool: {call.params['name']}")
        return (yield from tool_steps(tool, call.params.get("arguments") or {}))

    def _go_on(self, call: Call) -> None:
        outcome = call.outcome()
        if isinstance(outcome, ServerError):
            self._step(call, lambda: call.steps.throw(outcome))
        else:
            self._step(call, lambda: call.steps.send(outcome))

    def _step(self, call: Call, move: Callable[[], Any]) -> None:
        try:
            step = move()
            while isinstance(step, Told):
                self._tell(call, step)
                step = next(call.steps)
        except StopIteration as end:
            self._end(call, jsonrpc.response(call.id, self._manners.finish(end.value)))
        except ServerError as error:
            self._end(call, jsonrpc.error(call.id, error.body()))
        except Exception as error:  # noqa: BLE001 - a server answers, whatever its tool does
            text = f"{type(error).__name__}: {error}"
            body = {"code": INTERNAL_ERROR, "message": text}
            self._end(call, jsonrpc.error(call.id, body))
        else:
            self._ask(call, step)

    def _ask(self, call: Call, step: Any) -> None:
        if step is not SILENCE:
            call.put(step)
            self._manners.ask(call)
            if self.era is Era.MODERN:  # the request is answered; a retry is another
                del self._open[call.id]

    def _tell(self, call: Call, told: Told) -> None:
        params = dict(told.params)
        if told.method == "notifications/progress":
            token = jsonrpc.meta_of(call.params).get("progressToken")
            if token is None:
                return
            params["progressToken"] = token
        elif told.method == "notifications/message":
            level = self._manners.log_level(call)
            if level is None or _severity(params["level"]) < _severity(level):
                return
        self._say(jsonrpc.notification(told.method, params))

    def _end(self, call: Call, answer: Message) -> None:
        del self._open[call.id]
        self._say(answer)

    def _cancel(self, request_id: int | str) -> None:
        call = self._open.pop(request_id, None)
        if call is not None:
            self._manners.cancel(call)
            call.steps.close()


def _severity(level: str) -> int:
    return LOG_LEVELS.index(level)
