"""How long a round takes that asks five questions: ``python questions.py COMMAND...``.

Each answer takes a third of a second. Prints, in JSON, the seconds that one answer
takes and the seconds of the call with five, the median of three.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

import anyio
from mcp.types import ElicitResult
from ways import parameters

from mcp_anyera import Client

ANSWER = 1 / 3


async def answer(_context: object, _params: object) -> ElicitResult:
    """Take a while, as humans do."""
    await anyio.sleep(ANSWER)
    return ElicitResult(action="accept", content={"name": "Ada"})


async def main(place: list[str]) -> None:
    """Measure and print the figures as JSON."""
    times = []
    async with Client(parameters(place), elicitation_callback=answer) as client:
        for _ in range(3):
            began = time.perf_counter()
            await client.call_tool("five_questions", {})
            times.append(time.perf_counter() - began)
    print(json.dumps({"alone": ANSWER, "Client": statistics.median(times)}))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
