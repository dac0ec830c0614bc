from __future__ import annotations

import subprocess
import sys

FOREIGN = "mcp mcp_types anyio pydantic packaging httpx httpx2 asyncio trio logging random time"


def test_importing_the_engine_loads_nothing_but_plain_standard_library() -> None:
    code = (
        "import sys, mcp_anyera.engine, mcp_anyera\n"
        f"print(sorted(set({FOREIGN.split()}) & set(sys.modules)))"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            f"import sys; sys.path[:0] = {sys.path!r}\n{code}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() in {"[]", "['time']"}
