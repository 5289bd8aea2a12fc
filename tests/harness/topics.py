"""Making topics through `kafka.wire` on a blocking socket, so that no client of ours is needed to test our clients."""

from __future__ import annotations

import itertools
import os
import socket
import struct
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka.wire import framing, message_class

CREATE_TOPICS_VERSION = 4
METADATA_VERSION = 8
DELETE_TOPICS_VERSION = 3
TAKES_THE_DEFAULT_SIZE = 4
TIMEOUT_S = 30.0
PAUSE_S = 0.05
NOT_CONTROLLER = 41
INVALID_REPLICATION_FACTOR = 38
"""Also where brokers are fenced: their heartbeats are late, as under load, or they have just started."""
TOPIC_ALREADY_EXISTS = 36
_numbers = itertools.count(1)


class Wire:
    """A blocking connection to one broker, one request after the other."""

    def __init__(self, address: str, timeout_s: float = TIMEOUT_S) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout_s)
        self._ids = itertools.count(1)
        self._versions: dict[int, int] = {}

    def newest_version(self, request_class: Any, limit: int) -> int:
        """The newest version of a request, up to `limit`, that the broker serves; not for brokers before 0.10."""
        if not self._versions:
            api_versions: Any = message_class("ApiVersionsRequest")
            self._versions = {each.api_key: each.max_version for each in self.ask(api_versions(), 0).api_keys}
        return min(limit, self._versions[request_class.API_KEY])

    def ask(self, request: Any, version: int) -> Any:
        """Send a request and return its response."""
        number = next(self._ids)
        self._socket.sendall(b"".join(framing.encode_request(request, version, number, "harness")))
        (size,) = struct.unpack(">i", self._receive(4))
        frame = self._receive(size)
        if framing.correlation_id(frame) != number:
            raise RuntimeError(f"the answer to request {number} is for request {framing.correlation_id(frame)}")
        return framing.decode_response(type(request), version, frame)

    def _receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            if not piece:
                raise ConnectionError(f"the broker closed the connection after {len(data)} of {size} bytes")
            data += piece
        return bytes(data)

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()


def new_topic_name(stem: str = "topic") -> str:
    """Return a name that no other test of this run, or of another on the same broker, has."""
    return f"{stem}-{os.getpid()}-{next(_numbers)}"


def create_topic(
    bootstrap_servers: str,
    name: str,
    partitions: int = 1,
    config: Mapping[str, str] | None = None,
    *,
    replication_factor: int = -1,
    timeout_s: float = TIMEOUT_S,
) -> None:
    """Create a topic and return when every node of the cluster knows a leader for each of its partitions.

    `replication_factor` -1 is the broker's default, which brokers before 2.4 do not take: a copy a node then, up to 3.

    Raises:
        RuntimeError: the broker refused it, or it was not ready in time.
    """
    request_class: Any = message_class("CreateTopicsRequest")
    module = __import__(request_class.__module__, fromlist=["x"])
    addresses = bootstrap_servers.split(",")
    topic = module.CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication_factor,
        configs=[module.CreatableTopicConfig(name=k, value=v) for k, v in (config or {}).items()],
    )
    request = request_class(topics=[topic], timeout_ms=int(timeout_s * 1000))
    deadline = time.monotonic() + timeout_s
    while True:
        with Wire(_controller(addresses)) as wire:
            version = wire.newest_version(request_class, CREATE_TOPICS_VERSION)
            if version < TAKES_THE_DEFAULT_SIZE and replication_factor < 0:
                topic.replication_factor = min(3, len(addresses))
            (result,) = wire.ask(request, version).topics
        if result.error_code not in (NOT_CONTROLLER, INVALID_REPLICATION_FACTOR) or time.monotonic() > deadline:
            break
        time.sleep(PAUSE_S)
    if result.error_code not in (0, TOPIC_ALREADY_EXISTS):
        raise RuntimeError(f"topic {name} was not created: error {result.error_code}, {result.error_message}")
    for address in addresses:
        await_topic(address, name, partitions, deadline)


def _controller(addresses: Sequence[str]) -> str:
    """Which of the nodes creates topics: brokers before KRaft do not pass the request on."""
    if len(addresses) == 1:
        return addresses[0]
    request_class: Any = message_class("MetadataRequest")
    with Wire(addresses[0]) as wire:
        found = wire.ask(request_class(topics=[]), wire.newest_version(request_class, METADATA_VERSION))
    at = {broker.node_id: f"{broker.host}:{broker.port}" for broker in found.brokers}
    return at.get(found.controller_id, addresses[0])


def await_topic(address: str, name: str, partitions: int, deadline: float, metadata_version: int | None = None) -> None:
    """Wait until one broker tells a leader for each partition; it does within milliseconds of the creation.

    `metadata_version` is the one to ask in; if not given, the newest of both sides, which brokers before 0.10 do not
    tell.
    """
    request_class: Any = message_class("MetadataRequest")
    module = __import__(request_class.__module__, fromlist=["x"])
    request = request_class(topics=[module.MetadataRequestTopic(name=name)])
    with Wire(address) as wire:
        if metadata_version is None:
            metadata_version = wire.newest_version(request_class, METADATA_VERSION)
        request.allow_auto_topic_creation = metadata_version < 4  # versions before 4 cannot say no
        while True:
            (topic,) = wire.ask(request, metadata_version).topics
            ready = [p for p in topic.partitions if p.error_code == 0 and p.leader_id >= 0]
            if topic.error_code == 0 and len(ready) == partitions:
                return
            if time.monotonic() > deadline:
                raise RuntimeError(f"topic {name} has {len(ready)} of {partitions} leaders, error {topic.error_code}")
            time.sleep(0.01)


def delete_topics(bootstrap_servers: str, names: Iterable[str]) -> None:
    """Delete topics, and do not wait for it."""
    request_class: Any = message_class("DeleteTopicsRequest")
    with Wire(_controller(bootstrap_servers.split(","))) as wire:
        version = wire.newest_version(request_class, DELETE_TOPICS_VERSION)
        wire.ask(request_class(topic_names=list(names), timeout_ms=1000), version)
