"""A broker, spoken to in messages: what tests of its answers share."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any, TypeVar

from kafka.record import BatchBuilder
from kafka.wire import Request, Response
from kafka.wire.api.find_coordinator import FindCoordinatorRequest
from kafka.wire.framing import decode_response, encode_request

R = TypeVar("R", bound=Response)
DEADLINE_S = 30.0


class Wire:
    """One connection, spoken to in messages."""

    def __init__(self, bootstrap_servers: str) -> None:
        host, _, port = bootstrap_servers.partition(",")[0].rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=DEADLINE_S)

    def close(self) -> None:
        self._socket.close()

    def call(self, request: Request[R], version: int) -> R:
        self.send(b"".join(encode_request(request, version, 1, "contract")))
        return decode_response(type(request), version, self.receive())

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self) -> bytes:
        return self._exactly(int.from_bytes(self._exactly(4), "big"))

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self._socket.recv(count - len(data))
            assert part, "the broker closed the connection"
            data += part
        return data


def batch(timestamp: int = 1000, **how: Any) -> bytes:
    builder = BatchBuilder(2, size_limit=1 << 20)
    builder.append(timestamp, b"k", b"v", ())
    return bytes(builder.build(**how))


def coordinator(wire: Wire, key_type: int = 0) -> None:
    """Wait until there is a coordinator, of groups (0) or transactions (1): its topic is made when it is asked for."""
    deadline = time.monotonic() + DEADLINE_S
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["g"])
    while wire.call(request, 4).coordinators[0].error_code:
        assert time.monotonic() < deadline, "no coordinator"


def ask_again_while(codes: set[int], ask: Callable[[], int]) -> int:
    """The answer once it is none of `codes`, which a broker gives while it is getting ready."""
    deadline = time.monotonic() + DEADLINE_S
    while (code := ask()) in codes:
        assert time.monotonic() < deadline, f"still error {code}"
    return code
