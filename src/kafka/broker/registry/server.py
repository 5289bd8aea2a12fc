"""The registry of one broker: its file, and its HTTP server."""

from __future__ import annotations

from pathlib import Path

from kafka.broker.registry.http_server import HttpServer
from kafka.broker.registry.routes import Routes
from kafka.broker.registry.store import Store

HOST = "127.0.0.1"
"""It has no logins, so that nobody but programs on this machine can ask it."""
_FILE = "schema-registry.json"


class RegistryPortError(OSError):
    """The schema registry cannot listen on its port."""


class RegistryServer:
    """A schema registry that keeps its data in a broker's folder.

    Arguments:
        folder: of the broker.
        port: 0: a free one.
        sync: whether what it acknowledges survives a power failure.
    """

    def __init__(self, folder: Path, port: int, sync: bool) -> None:
        self._http = HttpServer(Routes(Store(folder / _FILE, sync)).answer)
        self._port = port

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._http.port

    @property
    def url(self) -> str:
        """For the clients' option of this name."""
        return f"http://{HOST}:{self.port}"

    async def start(self) -> None:
        """Listen; raises `RegistryPortError` where the port is taken."""
        try:
            await self._http.start(HOST, self._port)
        except OSError as error:
            raise RegistryPortError(error.errno, f"the schema registry cannot listen on {HOST}:{self._port}") from error

    async def stop(self) -> None:
        """End the connections; the file is complete at any time."""
        await self._http.stop()
