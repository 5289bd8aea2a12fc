"""An in-memory connection: two asyncio transports that are each other's peers, and the bytes in flight."""

import asyncio
import errno
import os
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Protocol

HIGH_WATER = 64 * 1024
"""Number of bytes in flight above which the sender is paused; asyncio's default."""


class Conditions(Protocol):
    """The part of the network's interface that a connection uses."""

    loop: asyncio.AbstractEventLoop

    def latency(self) -> float:
        """Return the latency of the next bytes, in seconds."""

    def silent_for(self, host: str) -> float:
        """Return the remaining time for which ``host`` is silent, in seconds; 0 or less if it is reachable."""

    def segment(self, most: int) -> int:
        """Return the size of the next segment, at most ``most`` bytes."""


class Link:
    """A connection: two transports that are each other's peers.

    Arguments:
        network: the network to which the connection belongs.
        host: the host to which the client connected.
        forget: called when both ends have closed.
    """

    def __init__(self, network: Conditions, host: str, forget: Callable[["Link"], None]) -> None:
        self.network = network
        self.host = host
        self._forget = forget
        self._bytes_left: int | None = None
        self.dialled = MemoryTransport(self)
        self.accepted = MemoryTransport(self)
        self.dialled.peer, self.accepted.peer = self.accepted, self.dialled

    def cut_after(self, nbytes: int) -> None:
        """Reset both ends after `nbytes` more bytes."""
        if nbytes <= 0:
            self.reset()
        else:
            self._bytes_left = nbytes

    def hasten(self) -> None:
        """Deliver bytes that were held back for a silent host, as if the host had not been silent."""
        for transport in (self.dialled, self.accepted):
            transport.wait_anew()

    def carried(self, nbytes: int) -> bool:
        """Count bytes before their delivery; return False if the connection is cut instead."""
        if self._bytes_left is None:
            return True
        self._bytes_left -= nbytes
        if self._bytes_left > 0:
            return True
        self.reset()
        return False

    def reset(self) -> None:
        """Reset both ends, like a middlebox that lost the connection's state. A silent host notices the reset later."""
        self.dialled.end(_reset_error())
        if self.network.silent_for(self.host) > 0:
            self.accepted.reset_later()
        else:
            self.accepted.end(_reset_error())

    def ended(self) -> None:
        """Remove the connection from the network if both ends have closed."""
        if self.dialled.has_ended and self.accepted.has_ended:
            self._forget(self)


def _reset_error() -> ConnectionResetError:
    return ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))


_EOF = None


class MemoryTransport(asyncio.Transport):
    """One end of a `Link`. Written bytes are copied, and arrive in order after the network's latency."""

    peer: "MemoryTransport"

    def __init__(self, link: Link) -> None:
        super().__init__()
        self._link = link
        self._network = link.network
        self._loop = link.network.loop
        self._protocol: Any = None
        self._arrived: deque[bytes | memoryview | None] = deque()
        self._under_way: deque[tuple[float, bytes | None]] = deque()
        self._arrives_at = 0.0
        self._reset_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._unread = 0
        self._high, self._low = HIGH_WATER, HIGH_WATER // 4
        self._sender_paused = False
        self._reading = True
        self._closing = False
        self.has_ended = False

    def begin(self, protocol: Any, own: tuple[str, int], peer: tuple[str, int]) -> None:
        """Start the connection."""
        self._protocol = protocol
        self._extra = {"sockname": own, "peername": peer}
        self._tell(protocol.connection_made, self)

    # asyncio.Transport ------------------------------------------------------------------------------------------------

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """See `asyncio.BaseTransport.set_protocol`."""
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        """See `asyncio.BaseTransport.get_protocol`."""
        protocol: asyncio.BaseProtocol = self._protocol
        return protocol

    def is_closing(self) -> bool:
        """See `asyncio.BaseTransport.is_closing`."""
        return self._closing or self.has_ended

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """See `asyncio.WriteTransport.set_write_buffer_limits`."""
        self._high = HIGH_WATER if high is None else high
        self._low = self._high // 4 if low is None else low

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that the peer has not read yet."""
        return self.peer._unread

    def write(self, data: Any) -> None:
        """See `asyncio.WriteTransport.write`."""
        if self.is_closing() or not len(data):
            return
        self._send(bytes(data))
        if self.peer._unread > self._high and not self._sender_paused:
            self._sender_paused = True
            self._tell(self._protocol.pause_writing)

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        """See `asyncio.WriteTransport.writelines`."""
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        """Return False, as a connection cannot be half-closed."""
        return False

    def pause_reading(self) -> None:
        """See `asyncio.ReadTransport.pause_reading`."""
        self._reading = False

    def resume_reading(self) -> None:
        """See `asyncio.ReadTransport.resume_reading`."""
        if not self._reading:
            self._reading = True
            self._loop.call_soon(self._hand_over)

    def is_reading(self) -> bool:
        """See `asyncio.ReadTransport.is_reading`."""
        return self._reading

    def close(self) -> None:
        """Send the written bytes, then close."""
        if not self.is_closing():
            self._closing = True
            self._send(_EOF)
            self._loop.call_soon(self.end, None)

    def abort(self) -> None:
        """Close at once; the peer gets a reset."""
        self._abort(None)

    def _abort(self, why: BaseException | None) -> None:
        if not self.has_ended:
            self._loop.call_soon(self.end, why)
            self._closing = True
            self.peer.reset_later()

    # For the network --------------------------------------------------------------------------------------------------

    def end(self, why: BaseException | None) -> None:
        """Close this end of the connection."""
        if self.has_ended:
            return
        self.has_ended = True
        self._arrived.clear()
        self._under_way.clear()
        if self._timer is not None:
            self._timer.cancel()
        self._tell(self._protocol.connection_lost, why)
        self._link.ended()

    def reset_later(self) -> None:
        """Deliver a reset. A silent host gets it once the host is reachable again, without the bytes sent before."""
        if not self.has_ended:
            self._reset_at = self._loop.time() + self._network.latency()
            self.wait_anew()

    def _send(self, data: bytes | None) -> None:
        peer = self.peer
        if peer.has_ended:
            return
        peer._unread += len(data) if data is not None else 0
        peer._arrives_at = max(peer._arrives_at, self._loop.time() + self._network.latency())
        peer._under_way.append((peer._arrives_at, data))
        peer._wait()

    def wait_anew(self) -> None:
        """Reschedule the delivery of the bytes in flight."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._wait()

    def _wait(self) -> None:
        """Schedule the bytes in flight for delivery once they are due and the host is no longer silent."""
        if self._timer is not None or self.has_ended:
            return
        times = [self._under_way[0][0]] if self._under_way else []
        if self._reset_at is not None:
            times.append(self._reset_at)
        if times:
            speaks_at = self._loop.time() + max(self._network.silent_for(self._link.host), 0.0)
            self._timer = self._loop.call_at(max(min(times), speaks_at), self._arrive)

    def _arrive(self) -> None:
        self._timer = None
        now = self._loop.time()
        while not self.has_ended and self._network.silent_for(self._link.host) <= 0:
            if self._reset_at is not None and self._reset_at <= now:
                self.end(_reset_error())
            elif self._under_way and self._under_way[0][0] <= now:
                data = self._under_way.popleft()[1]
                if data is not None and not self._link.carried(len(data)):
                    return
                self._arrived.append(data)
                self._hand_over()
            else:
                break
        self._wait()

    def _hand_over(self) -> None:
        """Pass received bytes to the protocol unless reading is paused."""
        while self._arrived and self._reading and not self.is_closing():
            data = self._arrived.popleft()
            try:
                if data is _EOF:
                    if not self._protocol.eof_received():
                        self.close()
                    continue
                taken = self._give(data)
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:
                self._report("a protocol could not take what it received", error)
                self._abort(error)
                return
            if taken < len(data):
                self._arrived.appendleft(memoryview(data)[taken:])
            self._unread -= taken
            self.peer._drained()

    def _give(self, data: bytes | memoryview) -> int:
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
            self._tell(self._protocol.resume_writing)

    def _tell(self, method: Callable[..., object], *arguments: Any) -> None:
        """Call a method of the protocol. As in asyncio, exceptions go to the loop's exception handler."""
        try:
            method(*arguments)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            self._report(f"protocol.{method.__name__}() failed", error)

    def _report(self, message: str, error: BaseException) -> None:
        self._loop.call_exception_handler(
            {"message": message, "exception": error, "transport": self, "protocol": self._protocol}
        )
