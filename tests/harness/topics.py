"""Making topics through `kafka.wire` on a blocking socket, so that no client of ours is needed to test our clients."""

from __future__ import annotations

import itertools
import os
import socket
import struct
import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kafka.wire import framing, message_class

METADATA_VERSION = 8
TIMEOUT_S = 30.0
TOPIC_ALREADY_EXISTS = 36
_numbers = itertools.count(1)


class TopicVersions(NamedTuple):
    """The versions of requests that a broker knows; before version 4 of the first one it has no default of replicas."""

    create_topics: int = 4
    metadata: int = METADATA_VERSION
    delete_topics: int = 3


TODAY = TopicVersions()
BEFORE_2_0 = TopicVersions(create_topics=2, metadata=5, delete_topics=1)
"""From Kafka 0.11 on."""


class Wire:
    """A blocking connection to one broker, one request after the other."""

    def __init__(self, address: str, timeout_s: float = TIMEOUT_S) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout_s)
        self._ids = itertools.count(1)

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
    versions: TopicVersions = TODAY,
) -> None:
    """Create a topic and return when every node of the cluster knows a leader for each of its partitions.

    `replication_factor` -1 is the broker's default.

    Raises:
        RuntimeError: the broker refused it, or it was not ready in time.
    """
    request_class: Any = message_class("CreateTopicsRequest")
    module = __import__(request_class.__module__, fromlist=["x"])
    topic = module.CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication_factor,
        configs=[module.CreatableTopicConfig(name=k, value=v) for k, v in (config or {}).items()],
    )
    deadline = time.monotonic() + timeout_s
    with Wire(bootstrap_servers.split(",")[0]) as wire:
        request = request_class(topics=[topic], timeout_ms=int(timeout_s * 1000))
        (result,) = wire.ask(request, versions.create_topics).topics
    if result.error_code not in (0, TOPIC_ALREADY_EXISTS):
        raise RuntimeError(f"topic {name} was not created: error {result.error_code}, {result.error_message}")
    for address in bootstrap_servers.split(","):
        await_topic(address, name, partitions, deadline, versions.metadata)


def await_topic(
    address: str, name: str, partitions: int, deadline: float, metadata_version: int = METADATA_VERSION
) -> None:
    """Wait until one broker tells a leader for each partition; it does within milliseconds of the creation."""
    request_class: Any = message_class("MetadataRequest")
    module = __import__(request_class.__module__, fromlist=["x"])
    request = request_class(topics=[module.MetadataRequestTopic(name=name)])
    request.allow_auto_topic_creation = metadata_version < 4  # versions before 4 cannot say no
    with Wire(address) as wire:
        while True:
            (topic,) = wire.ask(request, metadata_version).topics
            ready = [p for p in topic.partitions if p.error_code == 0 and p.leader_id >= 0]
            if topic.error_code == 0 and len(ready) == partitions:
                return
            if time.monotonic() > deadline:
                raise RuntimeError(f"topic {name} has {len(ready)} of {partitions} leaders, error {topic.error_code}")
            time.sleep(0.01)


def delete_topics(bootstrap_servers: str, names: Iterable[str], versions: TopicVersions = TODAY) -> None:
    """Delete topics, and do not wait for it."""
    request_class: Any = message_class("DeleteTopicsRequest")
    with Wire(bootstrap_servers.split(",")[0]) as wire:
        wire.ask(request_class(topic_names=list(names), timeout_ms=1000), versions.delete_topics)
