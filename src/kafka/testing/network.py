"""An in-memory network with hosts, servers, latency, segments of any size, and faults on demand."""

import asyncio
import errno
import os
import random
from collections.abc import Callable
from typing import Any

from kafka.testing.transport import Link, MemoryTransport

_FIRST_PORT = 49_152


class Network:
    """Hosts, their servers, and the connections between them. Created by `kafka.testing.SimulatedLoop`.

    Arguments:
        loop: the loop on which all endpoints run.
        rng: the source of random numbers, for latencies and segment sizes.

    Attributes:
        latency_s: minimum and maximum one-way latency, in seconds.
        segment_bytes: maximum size of half of the segments in which bytes arrive; the other segments may have any
            size. 0: segments are as large as the receiver's buffer.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, rng: random.Random) -> None:
        self.loop = loop
        self.rng = rng
        self.latency_s = (0.000_2, 0.002)
        self.segment_bytes = 0
        self.links: dict[Link, None] = {}
        self._servers: dict[tuple[str, int], MemoryServer] = {}
        self._known: set[str] = set()
        self._silent: dict[str, float] = {}
        self._refusing: dict[str, float] = {}
        self._ports = _FIRST_PORT

    # Faults -----------------------------------------------------------------------------------------------------------

    def silence(self, host: str, seconds: float) -> None:
        """Stop all traffic to and from ``host``, including new connections. Delayed bytes arrive afterwards.

        Arguments:
            host: the host name.
            seconds: the duration, in simulated time.
        """
        self._silent[host] = max(self._silent.get(host, 0.0), self.loop.time() + seconds)

    def refuse_connections(self, host: str, seconds: float) -> None:
        """Refuse new connections to ``host`` for a while.

        Arguments:
            host: the host name.
            seconds: the duration, in simulated time.
        """
        self._refusing[host] = max(self._refusing.get(host, 0.0), self.loop.time() + seconds)

    def cut_connections(self, host: str | None = None, *, after_bytes: int = 0) -> int:
        """Reset the connections to ``host``, at once or after more bytes, and return the number of connections.

        Arguments:
            host: the host name; None: all hosts.
            after_bytes: number of bytes that each connection still transfers; 0: reset at once.
        """
        cut = [link for link in self.links if host in (None, link.host)]
        for link in cut:
            link.cut_after(after_bytes)
        return len(cut)

    def heal(self) -> None:
        """End the effects of `silence` and `refuse_connections` on all hosts."""
        self._silent.clear()
        self._refusing.clear()
        for link in self.links:
            link.hasten()

    # For the loop -----------------------------------------------------------------------------------------------------

    def knows(self, host: str) -> bool:
        """Return whether a server has ever listened on ``host``."""
        return host in self._known

    def listen(self, factory: Callable[[], Any], host: str, port: int) -> "MemoryServer":
        """See `asyncio.loop.create_server`; raises `OSError` if the address is in use.

        Arguments:
            factory: creates a protocol for each connection.
            host: a host name in this network.
            port: the port; 0: a free one.
        """
        if port == 0:
            port = self._new_port()
        if (host, port) in self._servers:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        server = MemoryServer(self, factory, host, port)
        self._servers[host, port] = server
        self._known.add(host)
        return server

    def stop_listening(self, server: "MemoryServer") -> None:
        """Remove a closed server."""
        self._servers.pop((server.host, server.port), None)

    async def connect(self, factory: Callable[[], Any], host: str, port: int) -> tuple[MemoryTransport, Any]:
        """See `asyncio.loop.create_connection`; raises `ConnectionRefusedError`.

        Arguments:
            factory: creates the protocol.
            host: a host name in this network.
            port: the server's port.
        """
        await asyncio.sleep(2 * self.latency())
        while (wait := self.silent_for(host)) > 0:
            await asyncio.sleep(wait)
        server = self._servers.get((host, port))
        if server is None or self._refusing.get(host, 0.0) > self.loop.time():
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        link = Link(self, host, self._forget)
        here, there = ("client", self._new_port()), (host, port)
        client, accepted = factory(), server.factory()
        for transport, protocol, own, peer in (
            (link.accepted, accepted, there, here),
            (link.dialled, client, here, there),
        ):
            transport.begin(protocol, own, peer)
        self.links[link] = None
        return link.dialled, client

    def _forget(self, link: Link) -> None:
        self.links.pop(link, None)

    def latency(self) -> float:
        """Return the latency of the next bytes, in seconds."""
        return self.rng.uniform(*self.latency_s)

    def silent_for(self, host: str) -> float:
        """Return the remaining time for which ``host`` is silent, in seconds."""
        return self._silent.get(host, 0.0) - self.loop.time()

    def segment(self, most: int) -> int:
        """Return the size of the next segment, at most ``most`` bytes."""
        if not self.segment_bytes:
            return most
        # Limit only half of the segments; otherwise a large frame would arrive in thousands of pieces.
        largest = min(most, self.segment_bytes) if self.rng.random() < 0.5 else most
        return 1 + int(self.rng.random() * largest)

    def _new_port(self) -> int:
        self._ports += 1
        return self._ports


class _ListeningSocket:
    """The part of a socket's interface that users of a server need."""

    def __init__(self, host: str, port: int) -> None:
        self._name = (host, port)

    def getsockname(self) -> tuple[str, int]:
        """Return the address."""
        return self._name

    def fileno(self) -> int:
        """Return -1, as there is no descriptor."""
        return -1


class MemoryServer:
    """In-memory counterpart of `asyncio.Server`.

    Arguments:
        network: the network on which the server listens.
        factory: creates the protocol for an accepted connection.
        host, port: the address.
    """

    def __init__(self, network: Network, factory: Callable[[], Any], host: str, port: int) -> None:
        self._network = network
        self.factory = factory
        self.host, self.port = host, port
        self.sockets = (_ListeningSocket(host, port),)

    def close(self) -> None:
        """Stop accepting connections; existing connections stay open."""
        self._network.stop_listening(self)

    async def wait_closed(self) -> None:
        """Return at once, as there is nothing to wait for."""

    def is_serving(self) -> bool:
        """Return whether the server accepts connections."""
        return self._network._servers.get((self.host, self.port)) is self
