"""An HTTP server that sends scripted responses and records the requests."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple


class Request(NamedTuple):
    """A request of a client."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


Answer = tuple[int, Any] | Callable[[Request], tuple[int, Any]]


class ScriptedRegistry:
    """Sends the responses in `answers` one after another, then repeats the last one.

    A body of bytes is sent unchanged, any other as JSON. A response may be a function of the request. `headers` are
    sent with each response. `ports` receives the client's port of each request.
    """

    def __init__(self, *answers: Answer, context: ssl.SSLContext | None = None, ports: list[int] | None = None) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []
        self.headers: dict[str, str] = {}
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                data = self.rfile.read(length)
                body: Any = data.decode()
                if "json" in self.headers.get("Content-Type", ""):
                    body = json.loads(data)
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(self.command, self.path, headers, body)
                scripted.requests.append(request)
                if ports is not None:
                    ports.append(self.client_address[1])
                answer = scripted.answers.pop(0) if len(scripted.answers) > 1 else scripted.answers[0]
                status, value = answer(request) if callable(answer) else answer
                content = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                for name, text in scripted.headers.items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815  # names of the base class

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        scheme = "http" if context is None else "https"
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"{scheme}://{self.address}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> ScriptedRegistry:
        self._thread.start()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
