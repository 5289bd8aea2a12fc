"""The limit: the same bytes over a blocking socket, or over asyncio's transports.

What is fetched is not decoded, only the headers of batches are read, to know offsets. What is written was encoded
before the time begins, and the broker has no producer's sequence to look after. For round trips every request is there
beforehand, and an answer is compared with the bytes that were sent.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterator
from typing import Any

from bench.job import BATCH_BYTES, FETCH_BYTES, PARTITION_FETCH_BYTES, Job, Watch
from bench.trips import Pairs, async_round_trips, round_trips
from bench.workload import make_records
from kafka.record import BatchBuilder, Compression
from kafka.wire import framing, message_class

VERSION = "-"
FETCH_VERSION = 11
PRODUCE_VERSION = 8
IN_FLIGHT = 5
TIMEOUT_MS = 30_000
HEADER = struct.Struct(">qi4xbIhi")
"""Base offset, length, magic, CRC, attributes, last offset delta."""
COUNT = struct.Struct(">i")
COUNT_AT = 57
UNCHANGED_FROM = 21
"""From here on a batch comes back as it was sent."""
LARGEST_READ = 1 << 16


def poll_arrow(job: Job, watch: Watch) -> None:
    """Fetch everything once; the sums are not computed, as nothing is decoded."""
    positions = dict.fromkeys(range(job.partitions), 0)
    view = memoryview(bytearray(FETCH_BYTES + (1 << 20)))
    with _connect(job) as connection:
        watch.start()  # it is connected; the first answer may already have everything
        while not watch.done():
            connection.sendall(_fetch_request(job.topic, positions))
            response: Any = _answer(connection, "FetchRequest", FETCH_VERSION, view)
            for topic in response.responses:
                for partition in topic.partitions:
                    count, positions[partition.partition_index] = _walk(
                        partition.records, positions[partition.partition_index]
                    )
                    watch.sums.count += count


poll = iterate = poll_arrow


def send_arrow(job: Job, watch: Watch) -> None:
    """Write batches that are there already, a batch a partition in each request, several requests at a time."""
    requests = [_produce_request(job.topic, batches) for batches in _batches(job)]
    view = memoryview(bytearray(1 << 16))
    with _connect(job) as connection:
        watch.start()
        for number, request in enumerate(requests):
            if number >= IN_FLIGHT:
                _acknowledged(connection, view)
            connection.sendall(request)
        for _ in requests[-IN_FLIGHT:]:
            _acknowledged(connection, view)
        watch.stop()
    watch.acknowledged(job.count)


class _Prepared:
    """The requests of all trips, and what is to come back."""

    def __init__(self, job: Job) -> None:
        self.records = list(zip(*make_records(job.count, job.size), strict=True))
        self.produce: list[bytes] = []
        self.fetch = [_fetch_request(job.topic, {0: offset}) for offset in range(job.count + 1)]
        self._batches: list[bytes] = []
        for number, (key, value) in enumerate(self.records):
            builder = BatchBuilder()
            builder.append(number, key, value)
            self._batches.append(builder.build())
            self.produce.append(_produce_request(job.topic, self._batches[-1:]))

    def came(self, number: int, answer: bytes) -> bool:
        """Whether an answer to a fetch has the record; it may have none."""
        return answer.endswith(self._batches[number][UNCHANGED_FROM:])


def round_trip(job: Job, watch: Watch) -> None:
    """One record in flight; the next fetch is sent before the record is returned."""
    prepared = _Prepared(job)
    out, back = iter(prepared.produce), iter(range(job.count))
    with _connect(job) as producing, _connect(job) as fetching:

        def send(key: bytes, value: bytes) -> None:
            producing.sendall(next(out))
            _frame(producing)

        def receive() -> Pairs:
            number = next(back)
            while not prepared.came(number, _frame(fetching)):
                fetching.sendall(prepared.fetch[number])
            fetching.sendall(prepared.fetch[number + 1])
            return [prepared.records[number]]

        fetching.sendall(prepared.fetch[0])
        round_trips(job, watch, send, receive)


def round_trip_async(job: Job, watch: Watch) -> None:
    """The same on an event loop, with nothing but two transports and a future for each answer."""
    prepared = _Prepared(job)
    out, back = iter(prepared.produce), iter(range(job.count))

    async def travel() -> None:
        loop = asyncio.get_running_loop()
        host, _, port = job.bootstrap_servers.rpartition(":")
        producing, fetching = [
            (await loop.create_connection(_Frames, host, int(port)))[1] for _ in ("producing", "fetching")
        ]

        async def send(key: bytes, value: bytes) -> None:
            producing.transport.write(next(out))
            await producing.frame()

        async def receive() -> Pairs:
            number = next(back)
            while not prepared.came(number, await fetching.frame()):
                fetching.transport.write(prepared.fetch[number])
            fetching.transport.write(prepared.fetch[number + 1])
            return [prepared.records[number]]

        fetching.transport.write(prepared.fetch[0])
        await async_round_trips(job, watch, send, receive)
        for each in (producing, fetching):
            each.transport.abort()

    asyncio.run(travel())


class _Frames(asyncio.Protocol):
    """One answer at a time."""

    transport: Any

    def __init__(self) -> None:
        self._data = b""
        self._waiting: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        if self._waiting is not None and _is_whole(self._data):
            self._waiting.set_result(self._data)
            self._waiting, self._data = None, b""

    async def frame(self) -> bytes:
        """The next answer."""
        if _is_whole(self._data):
            data, self._data = self._data, b""
            return data
        self._waiting = asyncio.get_running_loop().create_future()
        return await self._waiting


def _frame(connection: socket.socket) -> bytes:
    """The one answer that is awaited."""
    data = connection.recv(LARGEST_READ)
    while not _is_whole(data):
        more = connection.recv(LARGEST_READ)
        if not more:
            raise ConnectionError("the broker closed the connection")
        data += more
    return data


def _is_whole(data: bytes) -> bool:
    """Whether there is an answer with its size before it."""
    return len(data) > 4 and len(data) == 4 + int.from_bytes(data[:4], "big")


def _batches(job: Job) -> Iterator[list[bytes]]:
    """The workload as encoded batches, one for each partition at a time."""
    codec = Compression[job.codec.upper()]

    def empty() -> list[BatchBuilder]:
        return [BatchBuilder(compression=codec, size_limit=BATCH_BYTES) for _ in range(job.partitions)]

    builders = empty()
    for number, (key, value) in enumerate(zip(*make_records(job.count, job.size), strict=True)):
        builder = builders[number % job.partitions]
        if not builder.has_room_for(key, value, None):
            yield [each.build() for each in builders]
            builders = empty()
            builder = builders[number % job.partitions]
        builder.append(number, key, value)
    yield [each.build() for each in builders if each.count]


def _produce_request(topic: str, batches: list[bytes]) -> bytes:
    """A produce request with a batch for each partition."""
    produce: Any = __import__("kafka.wire.api.produce", fromlist=["produce"])
    partitions = [produce.PartitionProduceData(index=p, records=batch) for p, batch in enumerate(batches)]
    topics = [produce.TopicProduceData(name=topic, partition_data=partitions)]
    request = produce.ProduceRequest(acks=-1, timeout_ms=TIMEOUT_MS, topic_data=topics)
    return b"".join(framing.encode_request(request, PRODUCE_VERSION, 1, "bench"))


def _acknowledged(connection: socket.socket, view: memoryview) -> None:
    """Wait for the answer to a produce request."""
    response: Any = _answer(connection, "ProduceRequest", PRODUCE_VERSION, view)
    for topic in response.responses:
        for partition in topic.partition_responses:
            if partition.error_code:
                raise RuntimeError(f"the broker refused a batch: error {partition.error_code}")


def _connect(job: Job) -> socket.socket:
    host, _, port = job.bootstrap_servers.rpartition(":")
    connection = socket.create_connection((host, int(port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _answer(connection: socket.socket, request: str, version: int, view: memoryview) -> object:
    """Receive an answer into the view, and decode it but for its records."""
    _receive(connection, view[:4])
    size = int.from_bytes(view[:4], "big")
    _receive(connection, view[:size])
    return framing.decode_response(message_class(request), version, view[:size])


def _fetch_request(topic: str, positions: dict[int, int]) -> bytes:
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
