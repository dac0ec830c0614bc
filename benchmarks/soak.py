"""Twenty thousand calls through ``anyera bridge``: none is lost, memory stays flat.

``python benchmarks/soak.py [CALLS]`` runs them with eight in flight, with a round in
every tenth and a cancellation in every hundredth, against a modern server on stdio
and over HTTP, and prints the memory of the bridge on the way. It fails when an answer
is missing or wrong, or when the second half takes more memory than the first.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import bridges as bench

IN_FLIGHT, STEPS = 8, 10
MOST_GROWTH = 2.0
"""Megabytes that the second half may take beyond the first."""


class Soak:
    """One bridge, and what it has been asked."""

    def __init__(self, client: bench.Bridge) -> None:
        self._client = client
        self._waiting: dict[int, str | None] = {}
        self._started = 0
        self.done = self.cancelled = 0

    def run(self, calls: int) -> None:
        """Make so many calls, and wait for all of them."""
        last = self._started + calls
        while self._waiting or self._started < last:
            while len(self._waiting) < IN_FLIGHT and self._started < last:
                self._start()
            self._take(self._client.receive())

    def _start(self) -> None:
        self._started += 1
        number = self._started
        name, arguments = "echo", {"text": f"call {number}"}
        expected: str | None = f"call {number}"
        if number % 10 == 0:
            name, arguments = "issue_card", {"book": str(number)}
            expected = f"card for Ada: {number}"
        params = {"name": name, "arguments": arguments}
        key = self._client.start("tools/call", params)
        self._waiting[key] = expected
        if number % 100 == 1:
            self._cancel(key)

    def _cancel(self, key: int) -> None:
        # The answer may have been on its way already, and then it comes.
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        self._client.send({**note, "params": {"requestId": key}})
        ping = self._client.start("ping", {})
        while True:
            message = self._client.receive()
            if message.get("id") == ping and "result" in message:
                break
            self._take(message)
        if key in self._waiting:
            del self._waiting[key]
            self.cancelled += 1

    def _take(self, message: Any) -> None:
        if message.get("method") == "elicitation/create":
            result = {"action": "accept", "content": {"name": "Ada"}}
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            self._client.send(answer)
        elif "method" not in message:
            expected = self._waiting.pop(message["id"])
            said = message["result"]["content"][0]["text"]
            assert said == expected, (said, expected)
            self.done += 1


def soak(name: str, client: bench.Bridge, calls: int) -> bool:
    """Run one soak, and print what came of it."""
    run, memory = Soak(client), []
    for step in range(STEPS):
        run.run(calls // STEPS)
        memory.append(client.memory_alone())
        print(f"{name}: {run.done} answered, {memory[-1]:.1f} MB", flush=True)
        assert run.done + run.cancelled == (step + 1) * (calls // STEPS)
    growth = max(memory) - max(memory[: STEPS // 2])
    flat = growth <= MOST_GROWTH
    verdict = "flat" if flat else "**growing**"
    print(f"{name}: {run.cancelled} cancelled, none lost, memory {verdict}")
    return flat


def main(calls: int) -> int:
    """Soak both transports; return the exit status."""
    python = str(bench.ENVS / "sdk2" / "bin" / "python")
    start = [python, "-m", "mcp_anyera", "bridge"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with bench.server(log) as url:
            client = bench.Bridge([*start, url])
            flat = soak("http", client, calls)
            client.close()
        program = bench.ENVS / "peer-ts-2.4-modern" / "server.mjs"
        os.environ["PEER_LOG"] = str(log)
        client = bench.Bridge([*start, "--", bench.node(), str(program)])
        flat = soak("stdio", client, calls) and flat
        client.close()
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000))
