"""Keep the cores from falling asleep, in front of the stub on stdio.

A core that has nothing to do sleeps, and a virtual one takes as long to wake as a call
to the stub takes in all. A client that wastes time while the server works never lets it
fall asleep, and would look the faster for it. One loop on each core, which gives way to
everything else, takes that out of the figures.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LOOP = """
import os
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while True:
    pass
"""


@contextmanager
def awake() -> Iterator[None]:
    """Keep every core busy with nothing, where the system knows such a priority."""
    count = (os.cpu_count() or 1) if hasattr(os, "SCHED_IDLE") else 0
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
