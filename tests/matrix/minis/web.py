"""An HTTP server in miniature: one event now, one when it is told so by a second request."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

go_on = threading.Event()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.event({"jsonrpc": "2.0", "method": "first"})
        go_on.wait(20)
        self.event({"jsonrpc": "2.0", "id": 1, "result": {}})
        self.close_connection = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        go_on.set()
        answer: dict[str, object] = {"result": {"seen": True}}
        if sys.argv[1:] == ["refuses"]:
            answer = {"error": {"code": -32022, "message": "no such revision"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 2, **answer}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("set-cookie", "a-secret=1")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def event(self, message: object) -> None:
        self.wfile.write(f"data: {json.dumps(message)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return


if __name__ == "__main__":
    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    print(f"listening on http://127.0.0.1:{listener.server_port}/mcp", flush=True)
    sys.stdin.read()
