"""``anyera probe`` against real servers, and servers that are odd in one way each."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.cli.running import SCRIPTED, anyera
from tests.interop.peers import LEGACY, MODERN, SSE, TYPESCRIPT, command, era, shared

pytestmark = pytest.mark.timeout(200)
PEERS = (LEGACY, MODERN, TYPESCRIPT)
REVISIONS = {"legacy": "2025-11-25", "modern": "2026-07-28"}
MEMBERS = {
    "schema",
    "target",
    "reachable",
    "era",
    "revision",
    "handshake",
    "versions",
    "transport",
    "server",
    "capabilities",
    "instructions",
    "counts",
    "steps",
    "seconds",
    "answers",
    "oddities",
    "error",
    "stderr",
    "remembered",
    "installed",
}


def probed(*words: str, status: int = 0, **env: str) -> dict[str, Any]:
    done = anyera("probe", "--json", *words, env=env)
    assert done.returncode == status, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def codes(found: dict[str, Any]) -> set[str]:
    return {oddity["code"] for oddity in found["oddities"]}


def place(peer: str) -> list[str]:
    if peer.endswith("@http"):
        return [shared(peer.removesuffix("@http"))]
    return ["--", *command(peer)]


# -- real servers ------------------------------------------------------------------


@pytest.mark.interop
@pytest.mark.parametrize("peer", [*PEERS, *(f"{name}@http" for name in PEERS)])
def test_a_real_server_is_described(peer: str) -> None:
    found = probed(*place(peer))
    name = peer.removesuffix("@http")
    assert set(found) == MEMBERS
    assert found["reachable"] is True
    assert found["era"] == era(name)
    assert found["revision"] == REVISIONS[era(name)]
    assert found["revision"] in found["versions"]
    assert found["transport"] == ("streamable-http" if "@" in peer else "stdio")
    assert found["server"]["name"] == "anyera-peer"
    assert found["instructions"] == "A peer for tests."
    assert found["counts"]["tools"] > 10
    assert found["counts"]["prompts"] == 2
    assert found["counts"]["resources"] >= 1
    assert found["error"] is None
    assert found["answers"][0]["to"] == "server/discover"
    whats = [step["what"] for step in found["steps"]]
    assert whats[0].startswith("server/discover")
    whats = [what for what in whats if what != "initialize, anew"]
    assert whats[-2:] == ["resources/templates/list", "close"]
    assert all(0 <= step["seconds"] <= found["seconds"] for step in found["steps"])


@pytest.mark.interop
@pytest.mark.parametrize("peer", ["mcp-2.3", "mcp-2.3@http", "ts-2.4"])
def test_a_server_of_both_eras_is_told_from_one_of_the_modern_era(peer: str) -> None:
    found = probed(*place(peer))
    assert (found["era"], found["revision"]) == ("modern", "2026-07-28")
    assert found["handshake"] == "2025-11-25"
    assert "2025-11-25" in found["versions"]
    only = probed(
        *place(peer.replace("mcp-2.3", MODERN).replace("ts-2.4", "ts-2.4-modern"))
    )
    assert (only["era"], only["handshake"]) == ("modern", None)
    assert only["steps"][-1]["outcome"] == "refused"


@pytest.mark.interop
def test_what_is_asked_of_one_era_only_does_not_shake_hands_as_well() -> None:
    found = probed("--mode", "modern", *place("mcp-2.3"))
    assert found["handshake"] is None
    assert "initialize, anew" not in [step["what"] for step in found["steps"]]


@pytest.mark.interop
def test_a_session_on_the_probe_is_odd() -> None:
    found = probed(shared(LEGACY))
    assert {"probe-session", "probe-error"} <= codes(found)
    assert found["answers"][0]["http"]["status"] == 400
    assert found["answers"][0]["http"]["session"] is True


@pytest.mark.interop
def test_the_old_transport_is_found_and_named() -> None:
    found = probed(shared(SSE))
    assert found["transport"] == "http+sse"
    assert {"http-sse", "probe-status"} <= codes(found)


@pytest.mark.interop
def test_a_server_that_cannot_ask_is_odd() -> None:
    assert "cannot-ask" in codes(probed(shared("mcp-1.30-stateless")))


@pytest.mark.interop
def test_the_page_for_people_says_the_same() -> None:
    done = anyera("probe", "--", *command(MODERN))
    assert done.returncode == 0
    assert "is modern, 2026-07-28" in done.stdout.replace("\n", " ")
    for text in ("anyera-peer 1.0", "A peer for tests.", "tools/list", "in all"):
        assert text in done.stdout


# -- odd servers on stdio ----------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "expected", "era_of_it"),
    [
        ("dies_on_probe", {"probe-ended-server"}, "legacy"),
        ("mute_on_probe", {"probe-silent", "no-list-changes"}, "legacy"),
        ("slow_modern", {"probe-late", "no-result-type"}, "modern"),
        ("malformed", {"noise"}, "modern"),
        ("modern", {"no-result-type", "no-cache-hints", "no-server-info"}, "modern"),
    ],
)
def test_an_oddity_is_recognised(
    script: str, expected: set[str], era_of_it: str, tmp_path: Path
) -> None:
    lock = ["--env", f"LOCK={tmp_path / 'lock'}"]
    found = probed(*lock, "--", *SCRIPTED, script)
    assert found["era"] == era_of_it
    assert expected <= codes(found)
    for oddity in found["oddities"]:
        assert oddity["severity"] in {"note", "warning"}
        assert all(oddity[name] for name in ("seen", "meaning", "advice"))


def test_a_plain_legacy_server_is_hardly_odd() -> None:
    assert codes(probed("--", *SCRIPTED, "legacy")) == {"no-list-changes"}


def test_a_server_that_never_starts_is_unreachable() -> None:
    found = probed("--", *SCRIPTED, "dies_always", status=1)
    assert found["reachable"] is False
    assert found["era"] is None
    assert "exit status 2" in found["error"]["message"]
    assert "ends-at-once" in codes(found)
    assert found["stderr"][-1] == "ModuleNotFoundError after initialize"


def test_a_command_that_does_not_exist_is_unreachable() -> None:
    done = anyera("probe", "--", "no-such-command-anywhere")
    assert done.returncode == 1
    assert "cannot be reached" in done.stdout
    assert "No such file" in done.stdout
    assert "Traceback" not in done.stderr


def test_its_stderr_is_shown_on_request_only() -> None:
    words = ["--", *SCRIPTED, "dies_always"]
    assert anyera("probe", "--json", *words).stderr == ""
    assert "ModuleNotFoundError" in anyera("probe", "--json", "--stderr", *words).stderr


def test_the_mode_can_be_pinned() -> None:
    found = probed("--mode", "legacy", "--", *SCRIPTED, "mute_on_probe")
    assert [answer["to"] for answer in found["answers"]] == ["initialize", "tools/list"]
    found = probed("--mode", "modern", "--", *SCRIPTED, "legacy", status=1)
    assert "mode='modern' excludes that" in found["error"]["message"]


# -- odd servers on HTTP -----------------------------------------------------------

Answer = Callable[[dict[str, Any], Any], tuple[int, dict[str, str], Any]]


@contextmanager
def serving(answer: Answer) -> Generator[str]:
    """Serve JSON over HTTP: the answer takes a message and the headers."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            message = json.loads(self.rfile.read(length))
            status, headers, body = answer(message, self.headers)
            data = b"" if body is None else json.dumps(body).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()


def result(message: dict[str, Any], body: dict[str, Any]) -> Any:
    return 200, {}, {"jsonrpc": "2.0", "id": message["id"], "result": body}


def modern_http(message: dict[str, Any], tools: list[Any]) -> Any:
    hints = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    if message["method"] == "server/discover":
        capabilities = {"tools": {"listChanged": True}}
        versions = ["2026-07-28", "2099-01-01"]
        body = {"supportedVersions": versions, "capabilities": capabilities, **hints}
        return result(message, body)
    if message["method"] == "tools/list":
        return result(message, {"tools": tools, **hints})
    error = {"code": -32601, "message": "Method not found"}
    return 404, {}, {"jsonrpc": "2.0", "id": message["id"], "error": error}


def test_a_tool_that_nobody_can_see_is_odd() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "object", "x-mcp-header": "A"}},
    }
    tools = [
        {"name": "hidden", "inputSchema": schema},
        {"name": "plain", "inputSchema": {"type": "object"}},
        {"name": "plain", "inputSchema": {"type": "string"}},
    ]
    with serving(lambda message, _headers: modern_http(message, tools)) as url:
        found = probed(url)
    assert {"tool-hidden", "tool-twice", "tool-schema", "listen-ended"} <= codes(found)
    assert found["versions"] == ["2026-07-28", "2099-01-01"]
    (hidden,) = [one for one in found["oddities"] if one["code"] == "tool-hidden"]
    assert "'hidden'" in hidden["seen"]


def test_credentials_come_from_the_environment() -> None:
    def answer(message: dict[str, Any], headers: Any) -> Any:
        if headers.get("authorization") != "Bearer s3cret":
            return 401, {"www-authenticate": 'Bearer realm="mcp"'}, None
        return modern_http(message, [])

    header = ["--header", "Authorization: Bearer ${THE_TOKEN}"]
    with serving(answer) as url:
        found = probed(*header, url, THE_TOKEN="s3cret")
        assert found["reachable"] is True
        found = probed(url, status=1)
        assert found["error"]["status"] == 401
        assert found["error"]["challenge"] == 'Bearer realm="mcp"'
        assert "wants-credentials" in codes(found)
        found = probed(*header, url, THE_TOKEN="0ther", status=1)
        assert "0ther" not in json.dumps(found)


def test_a_list_that_never_ends_is_given_up() -> None:
    def answer(message: dict[str, Any], _headers: Any) -> Any:
        status, headers, body = modern_http(message, [])
        if message["method"] == "tools/list":
            body["result"]["nextCursor"] = "again"
        return status, headers, body

    with serving(answer) as url:
        assert "endless-list" in codes(probed(url))


# -- wrong command lines -----------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a URL, or a command behind --"),
        (["https://a.example", "--", "x"], "not both"),
        (["--"], "the command that starts the server is empty"),
        (["https://a.example", "extra"], "what is 'extra' for?"),
        (["--env", "A=1", "https://a.example"], "a URL takes --header"),
        (["--header", "A: 1", "--", "x"], "are for URLs"),
        (["--header", "A", "https://a.example"], "'NAME: VALUE'"),
        (["--header", "A: ${NO_SUCH_ONE}", "https://a.example"], "is not set"),
        (["--env", "=A", "--", "x"], "NAME=VALUE"),
        (["--mode", "1999-01-01", "https://a.example"], "invalid mode value"),
        (
            ["--probe-timeout", "0", "https://a.example"],
            "invalid number of seconds value",
        ),
        (["--what", "https://a.example"], "unrecognized arguments: --what"),
        (["'unbalanced"], "is no command"),
        (["http://"], "the URL names no host"),
        (["http://[::1/s3cret"], "the URL makes no sense: "),
        (["http://127.0.0.1:99999/s3cret"], "the URL makes no sense: "),
    ],
)
def test_a_wrong_command_line_is_explained(words: list[str], said: str) -> None:
    done = anyera("probe", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "s3cret" not in done.stderr
    assert done.stdout == ""


def test_a_command_may_be_one_quoted_word() -> None:
    quoted = " ".join(f"'{word}'" for word in [*SCRIPTED, "legacy"])
    assert probed(quoted)["era"] == "legacy"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end differently there")
def test_a_reader_that_has_enough_is_no_error() -> None:
    from subprocess import DEVNULL, PIPE, Popen

    from tests.cli.running import program

    words = program("probe", "--json", "--", *SCRIPTED, "legacy")
    with Popen(words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        process.wait(20)


def test_a_url_behind_the_mark_is_a_url() -> None:
    done = anyera("probe", "--env", "A=1", "--", "https://a.example")
    assert "a URL takes --header" in done.stderr
