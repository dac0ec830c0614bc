"""A server on stdio without an SDK: ``python stub.py legacy|modern``."""

from __future__ import annotations

import json
import sys

from stub_server import Conversation


def main(era: str) -> None:
    """Answer each line with what it is answered with."""
    conversation = Conversation(era)
    for line in sys.stdin.buffer:
        for reply in conversation.receive(json.loads(line)):
            sys.stdout.write(reply.text + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
