"""`ProbeServer`: answers HTTP probes in a thread of its own, at the paths of `PATHS`.

The thread keeps answering while the program's own threads or its event loop are busy. The standard library's server is
enough here: it answers three fixed paths, reads no request body, and limits the time of a connection.
"""

from __future__ import annotations

import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self

from kafka.probes.verdicts import ProbeName, Probes

PATHS: Final[dict[str, ProbeName]] = {"/livez": "live", "/readyz": "ready", "/startupz": "startup"}
"""The probe of each path."""
_CONNECTION_S = 5.0
"""Seconds after which a connection that sends no request is closed."""
_STOPPING_S = 5.0


class ProbeServer:
    """Answers ``GET /livez``, ``/readyz`` and ``/startupz`` with status 200 if the probe passes, and 503 otherwise.

    The answer is the `Verdict` as JSON. It contains client ids, states and names of errors, and no addresses, topics or
    records. There is no login, so do not publish the port.

    Use it as a context manager, or call `start` and `stop`.

    Arguments:
        probes: the probes to answer.
        host: the address to listen on. The kubelet connects to the address of the pod, so use "0.0.0.0" (or "::") in
            Kubernetes, and the default for ``kafka probe http`` in an exec probe.
        port: the port; 0: a free one, which `port` then contains.
    """

    def __init__(self, probes: Probes, host: str = "127.0.0.1", port: int = 8086) -> None:
        self._probes = probes
        self._host = host
        self._port = port
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port; once started, the actual one."""
        return self._port if self._server is None else int(self._server.server_address[1])

    def start(self) -> None:
        """Start to answer. Does nothing if it was started before.

        Raises:
            OSError: the address or the port is not available.
        """
        if self._server is not None:
            return
        server = _Server((self._host, self._port), self._probes)
        self._server = server
        arguments = {"poll_interval": 0.1}
        self._thread = threading.Thread(target=server.serve_forever, kwargs=arguments, name="kafka-probes", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop to answer, and close the port. Does nothing if it is not running."""
        server, thread = self._server, self._thread
        self._server = self._thread = None
        if server is None or thread is None:
            return
        server.shutdown()
        server.server_close()
        thread.join(_STOPPING_S)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], probes: Probes) -> None:
        if ":" in address[0]:
            import socket

            self.address_family = socket.AF_INET6
        self.probes = probes
        super().__init__(address, _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore connections that end early, as port scanners and load balancers do."""


class _Handler(BaseHTTPRequestHandler):
    timeout = _CONNECTION_S
    server_version, sys_version = "kafka-columnar", ""
    server: _Server

    def do_GET(self) -> None:  # the name that the base class looks up
        """Answer a probe."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:  # the name that the base class looks up
        """Answer a probe without the body."""
        self._answer(with_body=False)

    def _answer(self, with_body: bool) -> None:
        probe = PATHS.get(self.path.partition("?")[0])
        if probe is None:
            status, told = HTTPStatus.NOT_FOUND, {"error": f"expected one of the paths {', '.join(PATHS)}"}
        else:
            verdict = self.server.probes.check(probe)
            status, told = HTTPStatus.OK if verdict else HTTPStatus.SERVICE_UNAVAILABLE, verdict.to_dict()
        body = json.dumps(told).encode() + b"\n"
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), ("Cache-Control", "no-store")):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: probes come every few seconds."""
