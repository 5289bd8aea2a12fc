"""Listens on an address, and accepts connections without delay even if the broker is busy.

asyncio's own server accepts one connection per loop iteration by default, which is slow on a busy broker. If it is
allowed to accept more per iteration, accepting fails that many times in a row when the process runs out of descriptors.
"""

import asyncio
import contextlib
import errno
import logging
import os
import socket
import sys
from collections.abc import Callable
from typing import Final

from kafka.broker.disk_files import descriptor_limit

log = logging.getLogger(__name__)

_ACCEPTS_BY_HAND = sys.platform != "win32"
"""On Windows asyncio's default loop cannot watch a listening socket (`add_reader`), so asyncio's server is used."""
_ACCEPTED_A_ROUND: Final = 64
_BACKLOG: Final = 1024
"""Maximum number of connections waiting to be accepted. Beyond this limit, clients retry after 1 s, then 3 s."""
_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_PAUSE_S: Final = 1.0
_BETWEEN_WARNINGS_S: Final = 60.0
_RESERVED: Final = 128
"""Number of descriptors that connections leave free."""


class Listener:
    """The listening sockets of a broker; `connection` creates the protocol for each connection."""

    def __init__(self, connection: Callable[[], asyncio.BufferedProtocol]) -> None:
        self._connection = connection
        self._server: asyncio.Server | None = None
        self._sockets: list[socket.socket] = []
        self._paused: dict[socket.socket, asyncio.TimerHandle] = {}
        self._arriving: set[asyncio.Task[object]] = set()
        self._silent_until = 0.0
        self.port = 0

    async def start(self, host: str, port: int) -> None:
        """Start listening; raises OSError if the address is not available."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            self._connection, host, port, backlog=_BACKLOG, start_serving=not _ACCEPTS_BY_HAND
        )
        self.port = int(server.sockets[0].getsockname()[1])
        if not _ACCEPTS_BY_HAND or any(one.fileno() < 0 for one in server.sockets):  # in-memory sockets return -1
            self._server = server
            return
        try:
            for bound in server.sockets:
                listening = socket.socket(fileno=os.dup(bound.fileno()))
                self._sockets.append(listening)
                listening.setblocking(False)
                listening.listen(_BACKLOG)
                loop.add_reader(listening, self._accept, listening)
        except BaseException:
            await self.stop()
            raise
        finally:
            server.close()

    def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(_ACCEPTED_A_ROUND):
            try:
                accepted, _address = listening.accept()
            except ConnectionAbortedError:
                continue  # the client has already closed it
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno not in _EXHAUSTED:
                    raise
                self._pause(listening, error)
                return
            accepted.setblocking(False)
            task = loop.create_task(self._connect(accepted))
            self._arriving.add(task)
            task.add_done_callback(self._arriving.discard)

    async def _connect(self, accepted: socket.socket) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(self._connection, accepted)
        except OSError as error:
            accepted.close()
            log.debug("a connection was closed while it was accepted: %s", error)

    def _pause(self, listening: socket.socket, error: OSError) -> None:
        """Stop accepting for one second."""
        loop = asyncio.get_running_loop()
        if loop.time() >= self._silent_until:
            self._silent_until = loop.time() + _BETWEEN_WARNINGS_S
            log.error("new connections must wait: %s; raise the limit of the process (ulimit -n)", error.strerror)
        loop.remove_reader(listening)
        self._paused[listening] = loop.call_later(_PAUSE_S, loop.add_reader, listening, self._accept, listening)

    async def stop(self) -> None:
        """Stop accepting; return when every accepted connection has a protocol."""
        loop = asyncio.get_running_loop()
        if self._server is not None:
            self._server.close()
        for timer in self._paused.values():
            timer.cancel()
        for listening in self._sockets:
            with contextlib.suppress(ValueError):
                loop.remove_reader(listening)
            listening.close()
        self._sockets.clear()
        if self._arriving:
            await asyncio.wait(self._arriving)


class DescriptorReserve:
    """Reserves some file descriptors for log files and late imports.

    Without a reserve, anyone who can reach the port could stop the broker by opening connections. A connection's own
    descriptor shows how many descriptors are in use, as the system assigns the lowest free number.

    Arguments:
        limit: the maximum number of descriptors; None: the process's own limit, if any.
    """

    def __init__(self, limit: int | None = None) -> None:
        limit = descriptor_limit() if limit is None else limit
        self._end = None if limit is None else limit - min(_RESERVED, limit // 4)
        self._silent_until: float | None = None

    def may_keep(self, descriptor: int, now: float) -> bool:
        """Return whether a connection may keep its descriptor. If not, log a warning, at most once per minute."""
        if self._end is None or descriptor < self._end:
            return True
        if self._silent_until is None or now >= self._silent_until:
            self._silent_until = now + _BETWEEN_WARNINGS_S
            log.warning(
                "new connections are closed: %d file descriptors are in use, more are kept for log files; raise the "
                "limit (ulimit -n) if you expect this many clients",
                descriptor,
            )
        return False
