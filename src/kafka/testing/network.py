"""A network in memory, with asyncio's transports at its ends: latency, segments of any size, and faults on request."""

import asyncio
import errno
import os
import random
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

HIGH_WATER = 64 * 1024
"""Bytes on their way from which the sender is asked to pause, as asyncio does by default."""

_FIRST_PORT = 49_152


class Network:
    """Hosts, what listens on them, and the connections between them. Made by `kafka.testing.SimulatedLoop`.

    Arguments:
        loop: the loop that all ends are on.
        rng: of latencies and segment sizes.

    Attributes:
        latency_s: the shortest and the longest time that bytes take one way, in seconds.
        segment_bytes: received bytes come in pieces of 1 to so many; 0: as large as there is room for.
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
        """For so long nothing reaches ``host`` or leaves it, new connections included; then what waited goes on."""
        self._silent[host] = max(self._silent.get(host, 0.0), self.loop.time() + seconds)

    def refuse(self, host: str, seconds: float) -> None:
        """For so long ``host`` refuses new connections."""
        self._refusing[host] = max(self._refusing.get(host, 0.0), self.loop.time() + seconds)

    def cut(self, host: str | None = None, *, after_bytes: int = 0) -> int:
        """Reset the connections to ``host`` (None: all), at once or after so many more bytes; returns how many."""
        cut = [link for link in self.links if host in (None, link.host)]
        for link in cut:
            link.cut_after(after_bytes)
        return len(cut)

    def heal(self) -> None:
        """End `silence` and `refuse` everywhere."""
        self._silent.clear()
        self._refusing.clear()
        for link in self.links:
            link.hasten()

    # What the loop asks for -------------------------------------------------------------------------------------------

    def knows(self, host: str) -> bool:
        """Whether anything ever listened on ``host``."""
        return host in self._known

    def listen(self, factory: Callable[[], Any], host: str, port: int) -> "MemoryServer":
        """See `asyncio.loop.create_server`; raises `OSError` where the address is taken."""
        if port == 0:
            port = self._new_port()
        if (host, port) in self._servers:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        server = MemoryServer(self, factory, host, port)
        self._servers[host, port] = server
        self._known.add(host)
        return server

    def stop_listening(self, server: "MemoryServer") -> None:
        """The server is closed."""
        self._servers.pop((server.host, server.port), None)

    async def connect(self, factory: Callable[[], Any], host: str, port: int) -> tuple["MemoryTransport", Any]:
        """See `asyncio.loop.create_connection`; raises `ConnectionRefusedError`."""
        await asyncio.sleep(2 * self.latency())
        while (wait := self.silent_for(host)) > 0:
            await asyncio.sleep(wait)
        server = self._servers.get((host, port))
        if server is None or self._refusing.get(host, 0.0) > self.loop.time():
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        link = Link(self, host)
        here, there = ("client", self._new_port()), (host, port)
        client, accepted = factory(), server.factory()
        for transport, protocol, own, peer in (
            (link.accepted, accepted, there, here),
            (link.dialled, client, here, there),
        ):
            transport.begin(protocol, own, peer)
        self.links[link] = None
        return link.dialled, client

    def latency(self) -> float:
        """How long the next bytes take, in seconds."""
        return self.rng.uniform(*self.latency_s)

    def silent_for(self, host: str) -> float:
        """How much longer ``host`` is silent, in seconds."""
        return self._silent.get(host, 0.0) - self.loop.time()

    def segment(self, most: int) -> int:
        """How many of ``most`` bytes come together."""
        return self.rng.randint(1, min(most, self.segment_bytes)) if self.segment_bytes else most

    def _new_port(self) -> int:
        self._ports += 1
        return self._ports


class _ListeningSocket:
    """As much of a socket as servers show of theirs."""

    def __init__(self, host: str, port: int) -> None:
        self._name = (host, port)

    def getsockname(self) -> tuple[str, int]:
        """The address."""
        return self._name

    def fileno(self) -> int:
        """There is no descriptor."""
        return -1


class MemoryServer:
    """Stands for `asyncio.Server`.

    Arguments:
        network: where it listens.
        factory: makes the protocol of an accepted connection.
        host, port: the address.
    """

    def __init__(self, network: Network, factory: Callable[[], Any], host: str, port: int) -> None:
        self._network = network
        self.factory = factory
        self.host, self.port = host, port
        self.sockets = (_ListeningSocket(host, port),)

    def close(self) -> None:
        """Accept nothing more; connections live on."""
        self._network.stop_listening(self)

    async def wait_closed(self) -> None:
        """There is nothing to wait for."""

    def is_serving(self) -> bool:
        """Whether connections are accepted."""
        return self._network._servers.get((self.host, self.port)) is self


class Link:
    """A connection: two transports, each the other's peer.

    Arguments:
        network: what it is a part of.
        host: the host that was dialled.
    """

    def __init__(self, network: Network, host: str) -> None:
        self.network = network
        self.host = host
        self._bytes_left: int | None = None
        self.dialled = MemoryTransport(self)
        self.accepted = MemoryTransport(self)
        self.dialled.peer, self.accepted.peer = self.accepted, self.dialled

    def cut_after(self, nbytes: int) -> None:
        """Reset both ends once so many more bytes have been carried."""
        if nbytes <= 0:
            self.reset()
        else:
            self._bytes_left = nbytes

    def hasten(self) -> None:
        """Have what waits for a silent host arrive as if it had not been silent."""
        for transport in (self.dialled, self.accepted):
            transport.wait_anew()

    def carried(self, nbytes: int) -> bool:
        """Count bytes that are about to be delivered; False if the connection was cut instead."""
        if self._bytes_left is None:
            return True
        self._bytes_left -= nbytes
        if self._bytes_left > 0:
            return True
        self.reset()
        return False

    def reset(self) -> None:
        """End both sides, as a middlebox does that has lost the connection."""
        for transport in (self.dialled, self.accepted):
            transport.end(ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET)))

    def ended(self) -> None:
        """One side has ended."""
        if self.dialled.has_ended and self.accepted.has_ended:
            self.network.links.pop(self, None)


_EOF = None


class MemoryTransport(asyncio.Transport):
    """One end of a `Link`. Bytes are copied when they are written, and arrive in order after the network's latency."""

    peer: "MemoryTransport"

    def __init__(self, link: Link) -> None:
        super().__init__()
        self._link = link
        self._network = link.network
        self._loop = link.network.loop
        self._protocol: Any = None
        self._arrived: deque[bytes | None] = deque()
        self._under_way: deque[tuple[float, bytes | None]] = deque()
        self._arrives_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._unread = 0
        self._high, self._low = HIGH_WATER, HIGH_WATER // 4
        self._sender_paused = False
        self._reading = True
        self._closing = False
        self.has_ended = False

    def begin(self, protocol: Any, own: tuple[str, int], peer: tuple[str, int]) -> None:
        """The connection is made."""
        self._protocol = protocol
        self._extra = {"sockname": own, "peername": peer}
        protocol.connection_made(self)

    # Asyncio's side ---------------------------------------------------------------------------------------------------

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """See asyncio."""
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        """See asyncio."""
        protocol: asyncio.BaseProtocol = self._protocol
        return protocol

    def is_closing(self) -> bool:
        """See asyncio."""
        return self._closing or self.has_ended

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """See asyncio."""
        self._high = HIGH_WATER if high is None else high
        self._low = self._high // 4 if low is None else low

    def get_write_buffer_size(self) -> int:
        """Bytes that the peer has not read yet."""
        return self.peer._unread

    def write(self, data: Any) -> None:
        """See asyncio."""
        if self.is_closing() or not len(data):
            return
        self._send(bytes(data))
        if self.peer._unread > self._high and not self._sender_paused:
            self._sender_paused = True
            self._protocol.pause_writing()

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        """See asyncio."""
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        """Connections are closed as a whole."""
        return False

    def pause_reading(self) -> None:
        """See asyncio."""
        self._reading = False

    def resume_reading(self) -> None:
        """See asyncio."""
        if not self._reading:
            self._reading = True
            self._loop.call_soon(self._hand_over)

    def is_reading(self) -> bool:
        """See asyncio."""
        return self._reading

    def close(self) -> None:
        """Send what was written, then end."""
        if not self.is_closing():
            self._closing = True
            self._send(_EOF)
            self._loop.call_soon(self.end, None)

    def abort(self) -> None:
        """End at once; the peer learns of it by a reset."""
        if not self.has_ended:
            self._loop.call_soon(self.end, None)
            self._closing = True
            reset = ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
            self._loop.call_later(self._network.latency(), self.peer.end, reset)

    # The network's side -----------------------------------------------------------------------------------------------

    def end(self, why: Exception | None) -> None:
        """The connection is over on this side."""
        if self.has_ended:
            return
        self.has_ended = True
        self._arrived.clear()
        self._under_way.clear()
        if self._timer is not None:
            self._timer.cancel()
        self._protocol.connection_lost(why)
        self._link.ended()

    def _send(self, data: bytes | None) -> None:
        peer = self.peer
        if peer.has_ended:
            return
        peer._unread += len(data) if data is not None else 0
        peer._arrives_at = max(peer._arrives_at, self._loop.time() + self._network.latency())
        peer._under_way.append((peer._arrives_at, data))
        peer._wait()

    def wait_anew(self) -> None:
        """Reckon again when what is under way arrives."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._wait()

    def _wait(self) -> None:
        """Have what is under way arrive when its time has come, and the host is not silent."""
        if self._timer is None and self._under_way and not self.has_ended:
            speaks_at = self._loop.time() + max(self._network.silent_for(self._link.host), 0.0)
            self._timer = self._loop.call_at(max(self._under_way[0][0], speaks_at), self._arrive)

    def _arrive(self) -> None:
        self._timer = None
        now = self._loop.time()
        while self._under_way and self._under_way[0][0] <= now and self._network.silent_for(self._link.host) <= 0:
            data = self._under_way.popleft()[1]
            if data is not None and not self._link.carried(len(data)):
                return
            self._arrived.append(data)
            self._hand_over()
        self._wait()

    def _hand_over(self) -> None:
        """Give what has arrived to the protocol, as long as it reads."""
        while self._arrived and self._reading and not self.has_ended:
            data = self._arrived.popleft()
            if data is _EOF:
                if not self._protocol.eof_received():
                    self.close()
                continue
            taken = self._give(data)
            if taken < len(data):
                self._arrived.appendleft(data[taken:])
            self._unread -= taken
            self.peer._drained()

    def _give(self, data: bytes) -> int:
        if not isinstance(self._protocol, asyncio.BufferedProtocol):
            self._protocol.data_received(data)
            return len(data)
        room = memoryview(self._protocol.get_buffer(len(data)))
        count = self._network.segment(min(len(room), len(data)))
        room[:count] = data[:count]
        del room
        self._protocol.buffer_updated(count)
        return count

    def _drained(self) -> None:
        if self._sender_paused and self.peer._unread <= self._low and not self.has_ended:
            self._sender_paused = False
            self._protocol.resume_writing()
