"""Serve the ASGI application of a peer on a free port of this machine.

Usage: ``python serve.py PROGRAM [FLAG...]``. The program is a file beside this one
that has a function ``http_app``; it gets the flags and returns the application and
the path of its endpoint. One line on stdout says where it listens, and the end of
stdin ends it. ``PEER_PORT`` in the environment asks for a port.
"""

import importlib.util
import os
import socket
import sys
import threading
from pathlib import Path
from types import ModuleType

import uvicorn


def main(program: str, flags: set[str]) -> None:
    """Serve until stdin ends."""
    app, path = load(Path(__file__).parent / program).http_app(flags)
    # asyncio sends small packets at once only where the protocol is spelt out.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(os.environ.get("PEER_PORT", "0"))))
    listener.listen()
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
    threading.Thread(target=end_with_stdin, daemon=True).start()
    print(
        f"listening on http://127.0.0.1:{listener.getsockname()[1]}{path}", flush=True
    )
    uvicorn.Server(config).run(sockets=[listener])


def load(program: Path) -> ModuleType:
    """Import a program by its path, as if it had been started there."""
    sys.path.insert(0, str(program.parent))
    spec = importlib.util.spec_from_file_location("peer_program", program)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["peer_program"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def end_with_stdin() -> None:
    """End the process, open streams and all, when whoever started it is gone."""
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], set(sys.argv[2:]))
