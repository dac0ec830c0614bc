"""A client stack in miniature that goes wrong in one way: ``python client.py WAY PLAN``."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


def main(way: str, path: str) -> None:
    if way == "cannot start":
        sys.exit("no such module")
    plan = json.loads(Path(path).read_text())
    for step in plan["scenarios"]:
        name = step["id"]
        say(begin=name, at=time.monotonic())
        if name == "form":
            go_wrong(way)
        if name == "form" and way == "talks of something else":
            say(id="sampling", outcome="summary: short")
        outcome = {"connect": "connected", "call": "hello", "ping": "answered"}
        said = outcome.get(name, "card for Ada: Dune")
        wrong = way == "answers wrong" and name == "form"
        say(id=name, outcome="card for Bob: Dune" if wrong else said, seconds=0.1)


def go_wrong(way: str) -> None:
    if way == "crashes":
        os._exit(3)
    if way == "hangs":
        time.sleep(600)
    if way == "prints rubbish":
        print("[]\nnull\nhello?\n{")


if __name__ == "__main__":
    main(*sys.argv[1:])
