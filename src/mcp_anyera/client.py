"""The client: what ``mcp.Client`` of SDK 2.x takes, on both SDK lines, in both eras."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from mcp_anyera._sdk import (
    DEFAULT_CLIENT_INFO,
    SDK1,
    AnyServer,
    ClientSession,
    ElicitationFnT,
    Implementation,
    ListRootsFnT,
    LoggingFnT,
    SamplingFnT,
    StdioServerParameters,
    check_native,
    dump_discover,
    httpx,
    types,
)
from mcp_anyera.callbacks import (
    ELICITATION_MODES,
    Callbacks,
    DispatcherOptions,
    MessageHandler,
)
from mcp_anyera.connection import Connection, ConnectionOptions, fresh_prefix, spread
from mcp_anyera.engine import (
    EngineConfig,
    Event,
    Face,
    Questions,
    Verdict,
)
from mcp_anyera.engine.config import CONNECT_TIMEOUT, MAX_QUESTIONS, MAX_ROUNDS
from mcp_anyera.eras import Era
from mcp_anyera.memory import EraMemory
from mcp_anyera.target import Target
from mcp_anyera.transports.background import Background
from mcp_anyera.transports.http import HttpOptions
from mcp_anyera.transports.http.clients import MAX_MESSAGE_SIZE
from mcp_anyera.transports.wire import engine_options, recollection
from mcp_anyera.verbs import ClientVerbs

Server: TypeAlias = (
    str
    | StdioServerParameters
    | Sequence[str]
    | AbstractAsyncContextManager[Any]
    | tuple[Any, Any]
    | AnyServer
)

_UNSET: Final[Any] = object()


class Client(ClientVerbs):
    """A client of one MCP server, of any era.

    Use it as ``async with Client(server, elicitation_callback=...) as client``.
    It may be opened in one task and closed in another.
    """

    def __init__(
        self,
        server: Server,
        *,
        raise_exceptions: bool = False,
        read_timeout_seconds: float | None = None,
        sampling_callback: SamplingFnT | None = None,
        sampling_capabilities: types.SamplingCapability | None = None,
        list_roots_callback: ListRootsFnT | None = None,
        logging_callback: LoggingFnT | None = None,
        log_level: types.LoggingLevel | None = None,
        message_handler: MessageHandler | None = None,
        client_info: Implementation | None = None,
        mode: str = "auto",
        prior_discover: Any = None,
        elicitation_callback: ElicitationFnT | None = None,
        input_required_max_rounds: int = MAX_ROUNDS,
        extensions: Sequence[Any] | None = None,
        cache: Any = _UNSET,
        callbacks: Callbacks | None = None,
        elicitation_modes: Sequence[str] = ELICITATION_MODES,
        probe: str = "modern_first",
        handshake_ladder: bool = False,
        probe_timeout_seconds: float | None = None,
        connect_timeout_seconds: float | None = CONNECT_TIMEOUT,
        answer_timeout_seconds: float | None = None,
        total_timeout_seconds: float | None = None,
        max_questions: int = MAX_QUESTIONS,
        max_concurrent_questions: int | None = None,
        validate_answers: bool = True,
        no_back_channel: str = "legacy",
        restart: bool = False,
        memory: EraMemory | None = None,
        label: str | None = None,
        http_client: httpx.AsyncClient | None = None,
        headers: Mapping[str, str] | None = None,
        auth: Any = None,
        max_message_size: int | None = MAX_MESSAGE_SIZE,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        """Prepare a client; it connects when it is entered.

        Args:
            server: A URL, `StdioServerParameters`, ``[command, *args]``, a transport
                of the SDK or of ours, an open stream pair, or a server object of
                the installed SDK, which then runs in this process.
            raise_exceptions: For a server object: let its exceptions through.
            read_timeout_seconds: Machine time that one call may take, in seconds;
                stands still while a question of the call is open.
            sampling_callback: Answers ``sampling/createMessage``.
            sampling_capabilities: Declared beside it, such as the use of tools.
            list_roots_callback: Answers ``roots/list``.
            logging_callback: Hears log messages.
            log_level: The least severe log message that is wanted. Without it a
                modern server sends none, and a legacy one what it likes.
            message_handler: Hears every notification; see `MessageHandler`.
            client_info: Who the client says it is.
            mode: ``"auto"``, ``"legacy"``, ``"modern"``, or a revision of either
                era to pin.
            prior_discover: A ``DiscoverResult`` (on SDK 1.x its JSON) to start a
                pinned modern connection with, without asking the server.
            elicitation_callback: Answers ``elicitation/create``.
            input_required_max_rounds: Rounds that one call may take.
            extensions: Client extensions; SDK 2.x only.
            cache: Response cache configuration, or ``None`` for none; SDK 2.x only.
            callbacks: A registry to use in place of the single keywords.
            elicitation_modes: The modes that the elicitation callback can handle.
            probe: ``"modern_first"``, or ``"legacy_first"`` to shake hands before
                anything else and to ask only where that is refused.
            handshake_ladder: Whether a handshake that is refused, or not answered
                within 5 seconds, is tried again at each older revision.
            probe_timeout_seconds: Patience with ``server/discover``, in seconds; 0.9
                on a byte stream and 10 over HTTP when omitted.
            connect_timeout_seconds: Limit for the whole opening, in seconds.
            answer_timeout_seconds: Limit for one answer of a callback, in seconds.
            total_timeout_seconds: Limit for one call, humans included, in seconds.
            max_questions: Questions that one call may ask, over all its rounds and
                in either era.
            max_concurrent_questions: Questions put at the same time, over the whole
                connection; all at once when omitted.
            validate_answers: Whether an answer to a form is completed with the
                defaults of its schema and then held against it. One that does not
                fit is asked for once more, with ``context.problem``; if the next
                does not fit either, the server is told that it was cancelled.
            no_back_channel: What becomes of a call whose tool calls back on a modern
                connection of a dual-era server. ``"legacy"`` sends it again after a
                handshake: over HTTP beside the modern connection, on stdio after the
                process was started again, once nothing else is in flight. The tool
                has begun once before it failed; ``"raise"`` lets the error pass.
            restart: Whether a call starts a process again that has ended. Calls that
                were open when it did fail all the same.
            memory: Remembers the era of servers, so that the next connect need not
                ask; see `EraMemory`. Used in mode ``"auto"`` only.
            label: Your own name for the server; callbacks see it as
                ``context.server``.
            http_client: For a URL: your own client of the HTTP library that the
                installed SDK uses (httpx on 1.x, httpx2 on 2.x). It is used with
                all its settings and left open.
            headers: For a URL: sent with every request.
            auth: For a URL: what the HTTP library takes, such as the SDK's
                ``OAuthClientProvider``.
            max_message_size: For a URL: the longest JSON body or event that is
                read, in bytes; ``None`` for no limit.
            on_event: Is called with each event; must return at once.

        Raises:
            TypeError: ``callbacks`` was given beside a single callback, or a
                parameter that the installed SDK line has no use for.
            ValueError: ``mode``, ``probe``, ``no_back_channel``, ``log_level`` or
                ``elicitation_modes`` names nothing.
        """
        single = {
            "elicitation_callback": elicitation_callback,
            "sampling_callback": sampling_callback,
            "sampling_capabilities": sampling_capabilities,
            "list_roots_callback": list_roots_callback,
            "logging_callback": logging_callback,
            "message_handler": message_handler,
        }
        registered = _callbacks(callbacks, single, elicitation_modes)
        http = HttpOptions(
            client=http_client,
            headers=headers,
            auth=auth,
            max_message_size=max_message_size,
        )
        target = Target.of(server, http, raise_exceptions=raise_exceptions)
        self._wire = target.wire()
        known = recollection(self._wire, memory)
        config = EngineConfig(
            **engine_options(self._wire, mode, probe_timeout_seconds, known),
            probe=probe,
            handshake_ladder=handshake_ladder,
            no_back_channel=no_back_channel,
            restart=restart,
            target=target.name,
            face=Face.LEGACY if SDK1 else Face.NATIVE,
            questions=Questions.SHELL,
            connect_timeout=connect_timeout_seconds,
            max_rounds=input_required_max_rounds,
            max_questions=max_questions,
            log_level=log_level,
            list_changes=registered.message_handler is not None,
            prior_discover=None
            if prior_discover is None
            else dump_discover(prior_discover),
            translate_missing_resource=False,
            jitter=spread,
            prefix=fresh_prefix(),
        )
        self._options = ConnectionOptions(
            client_info=client_info or DEFAULT_CLIENT_INFO,
            callbacks=registered,
            config=config,
            dispatch=DispatcherOptions(
                answer_timeout=answer_timeout_seconds,
                max_concurrent=max_concurrent_questions,
                validate_answers=validate_answers,
                server=label,
            ),
            read_timeout=read_timeout_seconds,
            total_timeout=total_timeout_seconds,
            native=_native(extensions, cache),
            on_event=on_event,
            make_wire=target.wire if target.serves_both else None,
            known=known if mode == "auto" else None,
        )
        self._connection: Connection | None = None
        self._background: Background | None = None

    # -- life ----------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Connect.

        Returns:
            The client, connected.

        Raises:
            ConnectError: No connection came about; the message names each step.
            RuntimeError: It was entered before.

        Spec:
            2026-07-28 ``basic/versioning``.
        """
        if self._background is not None:
            msg = "this Client was entered before; make a new one to connect again"
            raise RuntimeError(msg)
        connection = Connection(self._wire, self._options)
        self._background = Background(connection.run)
        await self._background.start()
        self._connection = connection
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Disconnect; calls that are still open raise `ConnectionLost`."""
        if self._background is not None:
            await self._background.stop()

    # -- what was negotiated -------------------------------------------------------

    @property
    def era(self) -> Era:
        """The era of this connection."""
        return self._open.verdict.era

    @property
    def verdict(self) -> Verdict:
        """What detection concluded, with the evidence."""
        return self._open.verdict

    @property
    def protocol_version(self) -> str:
        """The protocol revision on the wire."""
        return self._open.verdict.revision

    @property
    def session(self) -> ClientSession:
        """The SDK's session, for what the client has no verb for."""
        return self._verbs.session

    @property
    def server_info(self) -> Implementation | None:
        """Who the server says it is; ``None`` when it does not say."""
        return self._verbs.server_info

    @property
    def server_capabilities(self) -> types.ServerCapabilities:
        """What the server can do."""
        return self._verbs.server_capabilities

    @property
    def instructions(self) -> str | None:
        """What the server wants its users to know."""
        return self._verbs.instructions


def _callbacks(
    registry: Callbacks | None, single: dict[str, Any], modes: Sequence[str]
) -> Callbacks:
    if registry is None:
        return Callbacks(elicitation_modes=modes, **single)
    given = [name for name, value in single.items() if value is not None]
    if given:
        msg = f"callbacks= was given beside {', '.join(given)}; put them into it"
        raise TypeError(msg)
    return registry


def _native(extensions: Sequence[Any] | None, cache: Any) -> dict[str, Any]:
    native: dict[str, Any] = {}
    if extensions is not None:
        native["extensions"] = extensions
    if cache is not _UNSET:
        native["cache"] = cache
    check_native(native)
    return native
