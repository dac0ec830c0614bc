"""The unchanged session of the installed SDK, with the bridge before the server.

The tests are those of `tests.interop.test_verbs`, on other faces.
"""

from __future__ import annotations

import pytest

from tests.interop import test_verbs as verbs
from tests.interop.peers import LEGACY, MODERN, TYPESCRIPT

pytestmark = pytest.mark.interop

PAIRS = (
    ("bridge", MODERN),
    ("bridge", TYPESCRIPT),
    ("bridge", f"{MODERN}@http"),
    ("bridge", f"{TYPESCRIPT}@http"),
    ("bridge", f"{LEGACY}@http"),
    ("bridge-http", TYPESCRIPT),
    ("bridge-http", f"{MODERN}@http"),
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=PAIRS, ids="-".join)
def pair(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param


@pytest.fixture
def face(pair: tuple[str, str]) -> str:
    return pair[0]


@pytest.fixture
def peer(pair: tuple[str, str]) -> str:
    return pair[1]


test_tools_that_ask = verbs.test_tools_that_ask_get_their_answers
test_prompts_and_resources_that_ask = (
    verbs.test_prompts_and_resources_that_ask_get_their_answers
)
test_lists_completions_and_ping_work = verbs.test_lists_completions_and_ping_work
test_a_tool_error_is_a_result = verbs.test_a_tool_error_is_a_result
test_progress_rises = verbs.test_progress_rises_over_rounds_and_comes_before_the_result
test_log_messages = verbs.test_log_messages_come_from_the_wanted_level_on
test_refusals = verbs.test_a_refusal_and_a_missing_callback_end_the_call
test_missing_callbacks = verbs.test_without_a_callback_the_error_says_so
test_declarations = verbs.test_what_is_declared_is_what_is_registered
test_changes = verbs.test_changes_reach_the_message_handler
