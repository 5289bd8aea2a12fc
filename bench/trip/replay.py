"""A small server that answers trips without being a broker: `python -m bench.trip.replay` runs it until its input ends.

A broker works on the same processors as the client that is measured, fills their caches, and takes a different time for
each request. This server answers the requests of trips itself (see `answers`), in some tens of microseconds, and
forwards all others to a real broker: handshake, metadata, producer ids. So clients of all kinds take it for a broker.
One thread does everything, for one producer and one consumer at a time.
"""

from __future__ import annotations

import argparse
import gc
import selectors
import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from bench.trip.answers import ANSWERS, FETCH, PRODUCE, Asked, Fetches, Log
from kafka.broker import EmbeddedBroker
from kafka.wire.framing import decode_request, decode_response, encode_response
from kafka.wire.index import request_class

HEADER = struct.Struct(">hhi")
"""API key, version and correlation id, which begin each request."""
SIZE = struct.Struct(">i")
METADATA, FIND_COORDINATOR = 3, 10
"""The APIs whose responses contain addresses."""
READ_BYTES = 1 << 16


class Wire:
    """A connection that splits what it reads into frames."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._read = b""

    def frames(self) -> Iterator[bytes]:
        """Read once, and yield the complete frames without their sizes.

        Raises:
            ConnectionError: the other side has closed the connection.
        """
        data = self.socket.recv(READ_BYTES)
        if not data:
            raise ConnectionError("closed")
        data = self._read + data
        at = 0
        while at + SIZE.size <= len(data):
            end = at + SIZE.size + SIZE.unpack_from(data, at)[0]
            if end > len(data):
                break
            yield data[at + SIZE.size : end]
            at = end
        self._read = data[at:]


class Link:
    """A client's connection, and the one to the broker that belongs to it."""

    def __init__(self, server: Server, connected: socket.socket) -> None:
        self.client = Wire(connected)
        self.broker = Wire(socket.create_connection(server.upstream))
        self.fetches = Fetches(server.log)
        self._server = server
        self._forwarded: dict[int, tuple[int, int]] = {}
        self._later: list[bytes] = []

    def asked(self) -> None:
        """Read requests; answer or forward them."""
        for frame in self.client.frames():
            if self._forwarded:  # responses have the order of requests
                self._later.append(frame)
            else:
                self._take(frame)

    def _take(self, frame: bytes) -> None:
        api, version, number = HEADER.unpack_from(frame)
        if self.fetches.wait:
            self.reply(self.fetches.release())
        if api == FETCH:
            self.reply(self.fetches.ask(Asked(version, number, decode_request(frame)[1])))
            self._server.hand_out()
        elif api in ANSWERS:
            self.reply(ANSWERS[api](Asked(version, number, decode_request(frame)[1]), self._server.log))
            if api == PRODUCE:
                self._server.acknowledged()
        else:
            self._forwarded[number] = (api, version)
            self.broker.socket.sendall(SIZE.pack(len(frame)) + frame)

    def reply(self, frame: bytes) -> None:
        """Send a response to the client, if there is one."""
        if frame:
            self.client.socket.sendall(frame)

    def answered(self) -> None:
        """Read the broker's responses and pass them on."""
        for frame in self.broker.frames():
            (number,) = SIZE.unpack_from(frame)
            api, version = self._forwarded.pop(number)
            self.reply(self._here(frame, api, version, number) or SIZE.pack(len(frame)) + frame)
        while self._later and not self._forwarded:
            self._take(self._later.pop(0))

    def _here(self, frame: bytes, api: int, version: int, number: int) -> bytes:
        """Return a response that names addresses with this server's in their place, and nothing for another one."""
        if api not in (METADATA, FIND_COORDINATOR):
            return b""
        message: Any = decode_response(request_class(api), version, frame)
        nodes = message.brokers if api == METADATA else message.coordinators if version >= 4 else [message]
        for node in nodes:
            node.host, node.port = self._server.address
        return b"".join(encode_response(message, version, number))

    def close(self) -> None:
        """Close both connections."""
        self.client.socket.close()
        self.broker.socket.close()


class Server:
    """The server's loop.

    Arguments:
        upstream: the broker's host and port.
        late_s: how long after an acknowledgement the record is given to the consumer, in seconds.
    """

    def __init__(self, upstream: tuple[str, int], late_s: float) -> None:
        self.upstream = upstream
        self.log = Log()
        self._late_s = late_s
        self._due: float | None = None
        self._links: list[Link] = []
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._listener.getsockname()
        self._selector.register(self._listener, selectors.EVENT_READ, (self._accept, None))

    def run(self, until: int) -> None:
        """Serve clients.

        Arguments:
            until: a file descriptor that becomes readable at the end.
        """
        self._selector.register(until, selectors.EVENT_READ, None)
        while True:
            wait = None if self._due is None else max(0.0, self._due - time.monotonic())
            for key, _ in self._selector.select(wait):
                if key.data is None:
                    return
                handle, link = key.data
                try:
                    handle()
                except OSError:
                    if link is not None:
                        self._drop(link)
            if self._due is not None and time.monotonic() >= self._due:
                self._due = None
                self.hand_out()

    def acknowledged(self) -> None:
        """Give what was produced to the consumer, now or later."""
        if self._late_s:
            self._due = time.monotonic() + self._late_s
        self.hand_out()

    def hand_out(self) -> None:
        """Answer the fetch that waits, if there are records that are not to be late."""
        if self._due is None:
            for link in self._links:
                link.reply(link.fetches.answer())

    def _accept(self) -> None:
        link = Link(self, self._listener.accept()[0])
        self._links.append(link)
        self._selector.register(link.client.socket, selectors.EVENT_READ, (link.asked, link))
        self._selector.register(link.broker.socket, selectors.EVENT_READ, (link.answered, link))

    def _drop(self, link: Link) -> None:
        if link not in self._links:
            return
        self._links.remove(link)
        self._selector.unregister(link.client.socket)
        self._selector.unregister(link.broker.socket)
        link.close()
        if not self._links:  # the next client has a topic of its own
            self.log.clear()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m bench.trip.replay", description=__doc__)
    parser.add_argument("--upstream", help="host:port of the broker; without it, an embedded one is started")
    parser.add_argument("--late-ms", type=float, default=0, help="the consumer gets a record this much later")
    options = parser.parse_args()
    with ExitStack() as stack:
        upstream = options.upstream or stack.enter_context(EmbeddedBroker()).bootstrap_servers
        host, _, port = upstream.rpartition(":")
        server = Server((host, int(port)), options.late_ms / 1000)
        gc.freeze()
        gc.disable()
        print(":".join(map(str, server.address)), flush=True)
        server.run(sys.stdin.fileno())


if __name__ == "__main__":
    main()
