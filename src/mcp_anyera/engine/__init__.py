"""The sans-IO core: messages and time in, an ordered list of effects out.

The engine sits between a client side (a session, a dispatcher, a legacy
process) and a server, and makes a server of any era look like one that the
client side knows. It imports the standard library only and can be embedded in
any loop::

    engine = Engine(EngineConfig())
    for effect in engine.receive_from_client(message, now):
        match effect:
            case ToServer(message):
                ...  # write it
            case ToClient(message):
                ...  # hand it over

and the same for `Engine.receive_from_server`. `Engine.deadline` says when
`Engine.tick` must be called, whatever else happens.

Where things are: `registry` says what happens to each method, `lifecycle` and
`detection` open a connection, `calls` carries a request over its legs,
`asking`, `rounds` and `questions` are about what servers ask, `subscriptions`
and `notifications` about what they tell, `results` and `metadata` about the
shapes of both eras, `older` about what older handshake revisions cannot say,
`headers` and `exchanges` about HTTP. `recovery` is what is mended without anybody's
notice, `proof` how a wrong verdict is found out.
"""

from __future__ import annotations

from mcp_anyera.engine.config import (
    CallOptions,
    EngineConfig,
    Exchange,
    Face,
    Questions,
    Remembered,
)
from mcp_anyera.engine.core import Engine
from mcp_anyera.engine.effects import (
    AbortLeg,
    Ask,
    Effect,
    FallBack,
    Message,
    Notice,
    RestartServer,
    ToClient,
    ToServer,
    Withdraw,
)
from mcp_anyera.engine.events import (
    AnsweredLate,
    Connected,
    Downgraded,
    Dropped,
    Event,
    FellBack,
    ListenEnded,
    Mistaken,
    NoLogLevel,
    QuestionAnswered,
    QuestionAsked,
    Refused,
    Reopened,
    Restarted,
    RoundBegun,
    Step,
    ToolHidden,
    Verdict,
)
from mcp_anyera.engine.exchanges import ExchangeFault, SessionState
from mcp_anyera.engine.failures import Failure, Fault, HttpFacts
from mcp_anyera.engine.questions import Answer, CallInfo, Dialect, Question, Refusal

__all__ = [
    "AbortLeg",
    "Answer",
    "AnsweredLate",
    "Ask",
    "CallInfo",
    "CallOptions",
    "Connected",
    "Dialect",
    "Downgraded",
    "Dropped",
    "Effect",
    "Engine",
    "EngineConfig",
    "Event",
    "Exchange",
    "ExchangeFault",
    "Face",
    "Failure",
    "FallBack",
    "Fault",
    "FellBack",
    "HttpFacts",
    "ListenEnded",
    "Message",
    "Mistaken",
    "NoLogLevel",
    "Notice",
    "Question",
    "QuestionAnswered",
    "QuestionAsked",
    "Questions",
    "Refusal",
    "Refused",
    "Remembered",
    "Reopened",
    "RestartServer",
    "Restarted",
    "RoundBegun",
    "SessionState",
    "Step",
    "ToClient",
    "ToServer",
    "ToolHidden",
    "Verdict",
    "Withdraw",
]
