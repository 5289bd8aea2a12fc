"""Listens on an address. What asks to be connected is accepted at once, however busy the connections are.

asyncio's own server accepts one connection a round of the loop, or where it may accept more, it fails as often in a row
where descriptors run out. On a busy broker a round takes long.
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

log = logging.getLogger(__name__)

_ACCEPTS_BY_HAND = sys.platform != "win32"
"""On Windows asyncio's default loop cannot watch a listening socket (`add_reader`): its own server accepts there."""
_ACCEPTED_A_ROUND: Final = 64
_BACKLOG: Final = 1024
"""Connections that may wait to be accepted; where more come, a client asks again after a second, then after three."""
_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_PAUSE_S: Final = 1.0
_BETWEEN_WARNINGS_S: Final = 60.0


class Listener:
    """The sockets that a broker listens on; `connection` makes the protocol of each connection."""

    def __init__(self, connection: Callable[[], asyncio.BufferedProtocol]) -> None:
        self._connection = connection
        self._server: asyncio.Server | None = None
        self._sockets: list[socket.socket] = []
        self._paused: dict[socket.socket, asyncio.TimerHandle] = {}
        self._arriving: set[asyncio.Task[object]] = set()
        self._silent_until = 0.0
        self.port = 0

    async def start(self, host: str, port: int) -> None:
        """Listen; raises OSError where the address cannot be had."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            self._connection, host, port, backlog=_BACKLOG, start_serving=not _ACCEPTS_BY_HAND
        )
        self.port = int(server.sockets[0].getsockname()[1])
        if not _ACCEPTS_BY_HAND or any(one.fileno() < 0 for one in server.sockets):  # the latter are in memory
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
                continue  # it was gone before it was accepted
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
            log.debug("a connection was gone as it was accepted: %s", error)

    def _pause(self, listening: socket.socket, error: OSError) -> None:
        """Let the clients wait that cannot be accepted now."""
        loop = asyncio.get_running_loop()
        if loop.time() >= self._silent_until:
            self._silent_until = loop.time() + _BETWEEN_WARNINGS_S
            log.error("new connections must wait: %s; raise the limit of the process (ulimit -n)", error.strerror)
        loop.remove_reader(listening)
        self._paused[listening] = loop.call_later(_PAUSE_S, loop.add_reader, listening, self._accept, listening)

    async def stop(self) -> None:
        """Accept nothing more, and return when each connection that was accepted has its protocol."""
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
