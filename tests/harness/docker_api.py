"""A server with the part of Docker's HTTP API that testcontainers uses, over a Unix socket.

It keeps what it is asked for, and "runs" a container by starting an embedded broker: once the start script has been
copied into the container, a broker listens on the published port, and advertises the address that the script names. So
a test shows that the address a client gets is the right one. It is not Docker: it says nothing about images.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import socket
import tarfile
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from types import TracebackType
from typing import Any, Self

from kafka.broker import EmbeddedBroker


class Container:
    """A container.

    Arguments:
        asked: the body of the request that creates it.
        folder: where its broker keeps data.
        fails: whether its process ends at once.
    """

    def __init__(self, asked: dict[str, Any], folder: Path, fails: bool) -> None:
        self.asked, self.script, self.status = asked, "", "created"
        self._folder, self._fails = folder, fails
        self._listening: socket.socket | None = None
        self._port = 0
        self._broker: EmbeddedBroker | None = None

    @property
    def port(self) -> int:
        """The published port."""
        assert self._port, "not started"
        return self._port

    def start(self) -> None:
        """Publish a free port; connections wait until the broker runs."""
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._port = int(self._listening.getsockname()[1])
        self.status = "running"

    def put(self, archive: bytes) -> None:
        """Take the script, and do what it says."""
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            (member,) = tar.getmembers()
            found = tar.extractfile(member)
            assert found is not None
            self.script = found.read().decode()
        if self._fails:
            self.status = "exited"
            return
        port, listening = self.port, self._listening
        assert listening is not None
        listening.close()
        host, advertised = self._advertised()
        self._broker = EmbeddedBroker(self._folder, port=port, advertised_host=host, advertised_port=advertised)
        self._broker.start()

    def _advertised(self) -> tuple[str, int]:
        words = shlex.split(self.script)
        if "--advertised-host" in words:
            return words[words.index("--advertised-host") + 1], int(words[words.index("--advertised-port") + 1])
        found = re.search(r"ADVERTISED_LISTENERS=CLIENTS://([^:]+):(\d+)", self.script)
        assert found is not None, self.script
        return found[1], int(found[2])

    def remove(self) -> None:
        """End its process."""
        self.status = "removed"
        if self._listening is not None:
            self._listening.close()
        if self._broker is not None:
            self._broker.stop()


class DockerApi:
    """The server; use it as a context manager.

    Arguments:
        folder: for the socket and the data of brokers.
        fails: whether the processes of containers end at once.
    """

    def __init__(self, folder: Path, fails: bool = False) -> None:
        self.socket = folder / "docker.sock"
        self.requests: list[str] = []
        self.containers: list[Container] = []
        self.folder, self.fails = folder, fails

    def __enter__(self) -> Self:
        self._server = ThreadingUnixStreamServer(str(self.socket), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        for each in self.containers:
            if each.status != "removed":
                each.remove()

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        """The status and the answer to a request; its path has no version."""
        self.requests.append(f"{method} {path.partition('?')[0]}")
        if path == "/version":
            return 200, {"ApiVersion": "1.45", "Version": "0", "MinAPIVersion": "1.24"}
        if path.startswith("/images/"):
            return 200, {"Id": "sha256:0", "RepoTags": []}
        if path.startswith("/containers/create"):
            number = len(self.containers)
            self.containers.append(Container(json.loads(body), self.folder / f"data-{number}", self.fails))
            return 201, {"Id": f"{number:064x}", "Warnings": []}
        match = re.match(r"/containers/([0-9a-f]{64})(/\w+)?", path)
        if match is None:
            return 404, {"message": f"not here: {method} {path}"}
        container = self.containers[int(match[1], 16)]
        if method == "DELETE":
            container.remove()
            return 204, None
        if match[2] == "/start":
            container.start()
            return 204, None
        if match[2] == "/archive":
            container.put(body)
            return 200, None
        if match[2] == "/logs":
            return 200, b"\x01\x00\x00\x00\x00\x00\x00\x0fno such option\n"
        return 200, self._inspected(match[1], container)

    def _inspected(self, name: str, container: Container) -> dict[str, Any]:
        ports = {} if container.status == "created" else {"9092/tcp": [{"HostIp": "", "HostPort": str(container.port)}]}
        return {
            "Id": name,
            "Name": f"/{name[-4:]}",
            "Config": {"Tty": False},
            "HostConfig": {"LogConfig": {"Type": "json-file"}},
            "State": {"Status": container.status, "Running": container.status == "running"},
            "NetworkSettings": {"Ports": ports},
        }


def _handler(api: DockerApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def address_string(self) -> str:
            return "unix"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def handle_one(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, told = api.answer(self.command, re.sub(r"^/v[\d.]+", "", self.path), body)
            content = told if isinstance(told, bytes) else b"" if told is None else json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if content:
                self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_one  # noqa: N815

    return Handler
