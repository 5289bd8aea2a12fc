"""The broker on a socket: starts to listen, hands connections to `ClientConnection`, and ends in order."""

import asyncio
import contextlib
import errno
import fcntl
import logging
import os
import tempfile
from pathlib import Path

from kafka.broker.connection import ClientConnection
from kafka.broker.context import Broker, Endpoint
from kafka.broker.settings import BrokerSettings
from kafka.errors import IllegalStateError

log = logging.getLogger(__name__)

_LAST_ROUNDS = 5
_EVERYWHERE = frozenset({"", "0.0.0.0", "::"})


class BrokerServer:
    """A broker that listens on `host` and `port` (0: a free one) and keeps its data in `data_dir`.

    Without a data folder it makes a temporary one and removes it at the end. To be used on one event loop.
    """

    def __init__(self, data_dir: Path | None, host: str, port: int, settings: BrokerSettings) -> None:
        self._data_dir = data_dir
        self._host = host
        self._port = port
        self._settings = settings
        self._stack = contextlib.ExitStack()
        self._connections: set[ClientConnection] = set()
        self._server: asyncio.Server | None = None
        self._broker: Broker | None = None
        self._cleaning: asyncio.TimerHandle | None = None
        self.endpoint = Endpoint(host, port)

    async def start(self) -> Endpoint:
        """Open the data and listen; returns where. Raises OSError where the address cannot be had."""
        loop = asyncio.get_running_loop()
        try:
            folder = self._open_folder()
            self._server = await loop.create_server(self._connected, self._host, self._port)
            bound = self._server.sockets[0].getsockname()
            self.endpoint = Endpoint(self._advertised_host(), bound[1])
            self._broker = Broker(folder, self._settings, loop, self.endpoint)
        except BaseException:
            await self.stop()
            raise
        self._clean_later(loop)
        return self.endpoint

    def _advertised_host(self) -> str:
        if self._settings.advertised_host is not None:
            return self._settings.advertised_host
        return "127.0.0.1" if self._host in _EVERYWHERE else self._host

    def _open_folder(self) -> Path:
        if self._data_dir is None:
            # What is still written while it is removed must not keep a test from ending.
            temporary = tempfile.TemporaryDirectory(prefix="kafka-broker-", ignore_cleanup_errors=True)
            return Path(self._stack.enter_context(temporary))
        self._data_dir.mkdir(parents=True, exist_ok=True)
        lock = os.open(self._data_dir / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._stack.callback(os.close, lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            raise IllegalStateError(
                f"the folder {self._data_dir} is in use by another broker: end that one, or give another folder"
            ) from error
        return self._data_dir

    def _connected(self) -> ClientConnection:
        assert self._broker is not None
        connection = ClientConnection(self._broker, self._connections.discard)
        self._connections.add(connection)
        return connection

    def _clean_later(self, loop: asyncio.AbstractEventLoop) -> None:
        interval_s = self._settings.retention_check_interval_ms / 1000
        if interval_s > 0:
            self._cleaning = loop.call_later(interval_s, self._clean, loop)

    def _clean(self, loop: asyncio.AbstractEventLoop) -> None:
        assert self._broker is not None
        try:
            self._broker.clean()
        except OSError:
            log.exception("could not apply retention")
        self._clean_later(loop)

    async def stop(self) -> None:
        """Close the connections and leave the data in order; harmless where it is not running."""
        if self._cleaning is not None:
            self._cleaning.cancel()
            self._cleaning = None
        if self._server is not None:
            await self._close_connections(self._server)
            self._server = None
        if self._broker is not None:
            self._broker.close()
            self._broker = None
        self._stack.close()

    async def _close_connections(self, server: asyncio.Server) -> None:
        # asyncio forgets to close a connection that it has accepted and not handed over yet when its server is closed.
        # So first nothing more is accepted, and what was gets the rounds of the loop it takes to show up here.
        for listening in server.sockets:
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().remove_reader(listening.fileno())
        for _ in range(_LAST_ROUNDS):
            await asyncio.sleep(0)
            for connection in tuple(self._connections):
                connection.close()
        server.close()
        await server.wait_closed()
        # The transports close their sockets in the round after they were aborted.
        await asyncio.sleep(0)
