"""The limit: the same bytes fetched over a blocking socket; only the headers of batches are read, to know offsets."""

from __future__ import annotations

import socket
import struct
from typing import Any

from bench.job import FETCH_BYTES, PARTITION_FETCH_BYTES, Job, Watch
from kafka.wire import framing, message_class

VERSION = "-"
FETCH_VERSION = 11
HEADER = struct.Struct(">qi4xbIhi")
"""Base offset, length, magic, CRC, attributes, last offset delta."""
COUNT = struct.Struct(">i")
COUNT_AT = 57


def poll_arrow(job: Job, watch: Watch) -> None:
    """Fetch everything once; the sums are not computed, as nothing is decoded."""
    host, _, port = job.bootstrap_servers.rpartition(":")
    positions = dict.fromkeys(range(job.partitions), 0)
    buffer = bytearray(FETCH_BYTES + (1 << 20))
    view = memoryview(buffer)
    with socket.create_connection((host, int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        watch.start()  # it is connected; the first answer may already have everything
        while not watch.done():
            connection.sendall(_request(job.topic, positions))
            _receive(connection, view[:4])
            size = int.from_bytes(view[:4], "big")
            _receive(connection, view[:size])
            response: Any = framing.decode_response(message_class("FetchRequest"), FETCH_VERSION, view[:size])
            for topic in response.responses:
                for partition in topic.partitions:
                    count, positions[partition.partition_index] = _walk(
                        partition.records, positions[partition.partition_index]
                    )
                    watch.sums.count += count


poll = iterate = poll_arrow


def _request(topic: str, positions: dict[int, int]) -> bytes:
    """A fetch request from the positions."""
    fetch: Any = __import__("kafka.wire.api.fetch", fromlist=["fetch"])
    partitions = [
        fetch.FetchPartition(partition=p, fetch_offset=offset, partition_max_bytes=PARTITION_FETCH_BYTES)
        for p, offset in positions.items()
    ]
    request = fetch.FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=FETCH_BYTES,
        session_epoch=-1,
        topics=[fetch.FetchTopic(topic=topic, partitions=partitions)],
    )
    return b"".join(framing.encode_request(request, FETCH_VERSION, 1, "bench"))


def _receive(connection: socket.socket, view: memoryview) -> None:
    """Fill the view."""
    while view:
        received = connection.recv_into(view)
        if not received:
            raise ConnectionError("the broker closed the connection")
        view = view[received:]


def _walk(records: memoryview | None, position: int) -> tuple[int, int]:
    """Count the records of the whole batches; return the count and the offset after them."""
    at = count = 0
    data = records if records is not None else memoryview(b"")
    while at + HEADER.size < len(data):
        base, length, _, _, _, delta = HEADER.unpack_from(data, at)
        if at + 12 + length > len(data):
            break
        count += COUNT.unpack_from(data, at + COUNT_AT)[0]
        position = base + delta + 1
        at += 12 + length
    return count, position
