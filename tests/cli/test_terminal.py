"""Questions in a real terminal: what it shows, which keys do what, how it ends."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

if sys.platform == "win32":
    pytest.skip("needs a POSIX terminal", allow_module_level=True)

from tests.cli.running import ASKING, Screen, gone, terminal

pytestmark = pytest.mark.timeout(200)
ERAS = ["legacy", "modern"]
TOP = "Cancel  – close it without an answer"


def call(
    tool: str, era: str = "modern", *options: str, **env: str
) -> AbstractContextManager[Screen]:
    return terminal("call", tool, *options, "--", *ASKING, era, env=env)


def answer(screen: Screen) -> Any:
    assert screen.end() == 0, screen.text
    return json.loads(screen.output)


@pytest.mark.parametrize("era", ERAS)
def test_every_kind_of_field_can_be_filled_in(era: str) -> None:
    with call("everything", era) as screen:
        shown = screen.shows("everything asks", "Book a room.", "Decline", TOP)
        assert "Breakfast is included." in shown
        screen.keys("enter")
        screen.shows("Your name:  (at least 2 characters)")
        screen.keys("a", "enter")
        screen.shows("this has to be at least 2 characters")
        screen.keys("da", "enter")
        screen.shows("mail – for the bill:", "an email address, optional")
        screen.keys("nope", "enter")
        screen.shows("this has to be an email address")
        screen.keys("clear", "ada@example.org", "enter")
        screen.shows("a whole number, at least 1, at most 14) 2")
        screen.keys("2", "enter")
        screen.shows("this has to be a whole number, at least 1, at most 14")
        screen.keys("clear", "x", "enter")
        screen.shows("at most 14) x\n? nights:")
        screen.keys("clear", "3", "enter")
        screen.shows("Budget a night:")
        screen.keys("99.5", "enter")
        screen.shows("smoker:", "» no")
        screen.keys("up", "enter")
        screen.shows("bed:", "» single")
        screen.keys("down", "enter")
        screen.shows("View:", "» The yard")
        screen.keys("up", "enter")
        screen.shows("Extras:", "A bicycle", "A boat", "A cot")
        screen.keys("enter")
        screen.shows("this has to be at least 1, at most 2")
        screen.keys("space", "down", "down", "space", "enter")
        screen.shows("note:")
        screen.keys("enter")
        screen.shows("Your answer", "A bicycle, A cot", "The sea", "» Send", "Change")
        screen.keys("enter")
        assert answer(screen) == {
            "form": {
                "action": "accept",
                "content": {
                    "name": "ada",
                    "mail": "ada@example.org",
                    "nights": 3,
                    "budget": 99.5,
                    "smoker": True,
                    "bed": "double",
                    "view": "sea",
                    "extras": ["bike", "cot"],
                },
            }
        }


def leave_the_name_empty(screen: Screen) -> None:
    screen.shows("» Answer")
    screen.keys("enter")
    screen.shows("name:")
    screen.keys("enter")
    screen.shows("this one is required")


def test_escape_keeps_what_was_typed() -> None:
    with call("card") as screen:
        leave_the_name_empty(screen)
        screen.keys("Ada", "enter")
        assert answer(screen)["name"]["content"] == {"name": "Ada"}
    with call("everything") as screen:
        screen.shows("» Answer")
        screen.keys("enter")
        screen.shows("Your name:")
        screen.keys("Grace", "enter")
        screen.shows("mail")
        screen.keys("escape")
        screen.shows("» Answer")
        screen.keys("enter")
        screen.shows("(at least 2 characters) Grace")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("downs", "action"), [(1, "decline"), (2, "cancel")])
def test_a_form_can_be_declined_and_cancelled(
    era: str, downs: int, action: str
) -> None:
    with call("card", era) as screen:
        screen.shows(TOP)
        screen.keys(*["down"] * downs, "enter")
        assert answer(screen) == {"name": {"action": action}}


def test_a_filled_form_can_still_be_declined() -> None:
    with call("everything") as screen:
        screen.shows("» Answer")
        screen.keys("enter")
        for title, keys in (
            ("Your name:", ["Ada"]),
            ("mail", []),
            ("nights:", []),
            ("Budget", []),
            ("smoker:", []),
            ("bed:", []),
            ("View:", []),
            ("Extras:", ["space"]),
            ("note:", []),
        ):
            screen.shows(title)
            screen.keys(*keys, "enter")
        screen.shows("Your answer", "» Send")
        screen.keys("down", "down", "enter")
        assert answer(screen) == {"form": {"action": "decline"}}


# -- pages -------------------------------------------------------------------------


def browser(folder: Path, status: int = 0) -> tuple[str, Path]:
    seen, script = folder / "seen", folder / "browser"
    script.write_text(f'#!/bin/sh\necho noise\necho "$1" >> {seen}\nexit {status}\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script), seen


@pytest.mark.parametrize("era", ERAS)
def test_a_page_is_opened_after_a_yes_only(era: str, tmp_path: Path) -> None:
    script, seen = browser(tmp_path)
    with call("login", era, BROWSER=script) as screen:
        shown = screen.shows("login wants you to visit a page", TOP)
        assert "https://login.example.com/start?state=xyz" in shown
        assert "» Open login.example.com in the browser" in shown
        assert not seen.exists()
        screen.keys("enter")
        assert answer(screen) == {"page": {"action": "accept"}}
    assert seen.read_text() == "https://login.example.com/start?state=xyz\n"


@pytest.mark.parametrize(
    ("downs", "action"), [(1, "accept"), (2, "decline"), (3, "cancel")]
)
def test_a_page_need_not_be_opened(downs: int, action: str, tmp_path: Path) -> None:
    script, seen = browser(tmp_path)
    with call("login", BROWSER=script) as screen:
        screen.shows(TOP)
        screen.keys(*["down"] * downs, "enter")
        assert answer(screen) == {"page": {"action": action}}
    assert not seen.exists()


def test_a_browser_that_fails_is_no_yes(tmp_path: Path) -> None:
    script, _ = browser(tmp_path, status=1)
    # Nothing else may be found to open it with.
    with call("login", BROWSER=script, PATH=str(tmp_path), DISPLAY="") as screen:
        screen.shows(TOP)
        screen.keys("enter")
        screen.shows("No browser could be opened")
        screen.keys("down", "down", "enter")
        assert answer(screen) == {"page": {"action": "decline"}}


def test_a_host_in_other_letters_is_pointed_out() -> None:
    with call("disguised") as screen:
        screen.shows("xn--pple-43d.com", "can also be read as аpple.com")


# -- models ------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
def test_a_prompt_for_a_model_is_answered_by_hand(era: str) -> None:
    with call("summary", era) as screen:
        screen.shows("wants an answer of a model", "Be brief.", "the sea is wide")
        screen.keys("enter")
        screen.shows("Answer:")
        screen.keys("Wide.", "enter")
        given = answer(screen)["model"]
    assert given["content"] == {"type": "text", "text": "Wide."}
    assert given["role"] == "assistant"


def test_a_problem_stands_where_it_is_corrected() -> None:
    with call("card") as screen:
        leave_the_name_empty(screen)
        *_, before, last = screen.text.splitlines()
        assert before.startswith("? name:")
        assert last == "? name:  (this one is required)"


def test_a_prompt_for_a_model_can_be_declined() -> None:
    with call("summary") as screen:
        screen.shows("Decline")
        screen.keys("down", "enter")
        assert screen.end() == 1
        assert "the user declined to answer for a model" in screen.text


# -- all of them -------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
def test_three_questions_at_once_come_one_after_the_other(era: str) -> None:
    with call("three", era) as screen:
        screen.shows("three asks", TOP)
        assert "an answer of a model" not in screen.text
        assert "visit a page" not in screen.text
        screen.keys("enter")
        screen.shows("name:")
        screen.keys("Ada", "enter")
        screen.shows("wants an answer of a model", "Answer yourself")
        screen.keys("enter")
        screen.shows("Answer:")
        screen.keys("three", "enter")
        screen.shows("visit a page", TOP)
        screen.keys("down", "enter")
        given = answer(screen)
    assert given["name"]["content"] == {"name": "Ada"}
    assert given["model"]["content"]["text"] == "three"
    assert given["page"]["action"] == "accept"


def test_a_question_that_is_taken_back_leaves_the_terminal(tmp_path: Path) -> None:
    go = tmp_path / "go"
    with call("withdrawn", "legacy", "--env", f"GO={go}") as screen:
        screen.shows(TOP)
        go.touch()
        screen.shows("the server took its question back")
        assert answer(screen) == "never mind"


def test_a_servers_escape_sequences_do_nothing() -> None:
    with call("tricky") as screen:
        shown = screen.shows("Your bank asks", "round 1")
        assert "[2J" in shown
        assert "[bold]x[/bold]" in shown
        assert "tricky asks" in shown


@pytest.mark.parametrize("era", ERAS)
def test_ctrl_c_in_a_question_ends_the_server_too(era: str, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with call("card", era, "--env", f"PID_FILE={pid_file}") as screen:
        screen.shows(TOP)
        screen.keys("ctrl-c")
        assert screen.end() == 130
        assert "Traceback" not in screen.text
        assert gone(pid_file)


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)],
)
def test_a_signal_in_a_question_ends_the_server_too(
    number: int, status: int, tmp_path: Path
) -> None:
    pid_file = tmp_path / "pid"
    with call("card", "modern", "--env", f"PID_FILE={pid_file}") as screen:
        screen.shows(TOP)
        os.kill(screen.pid, number)
        assert screen.end() == status
        assert gone(pid_file)
