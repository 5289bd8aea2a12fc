"""A broker with a simulated network, clock and random numbers: no sockets, no real time, reproducible runs."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest

from kafka.broker.broker_server import BrokerServer
from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.groups.group_offsets import CommittedOffset
from kafka.wire import Request, Response
from kafka.wire.api.fetch import FetchRequest
from kafka.wire.api.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kafka.wire.api.metadata import MetadataRequest
from kafka.wire.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka.wire.api.produce import ProduceRequest
from kafka.wire.framing import decode_response, encode_request
from unit.broker.batches import make_batch
from unit.broker.clock import VirtualClock
from unit.broker.requests import fetch_request, fetched, produce_request, produced, values

R = TypeVar("R", bound=Response)
DAY_S = 86_400


class MemoryTransport(asyncio.Transport):
    """A transport without a network that records the bytes that the broker sends."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = bytearray()
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent += data

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class OtherTransport:
    """A transport that does not derive from asyncio's, like uvloop's."""

    def __init__(self, transport: MemoryTransport) -> None:
        self._transport = transport

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Peer:
    """A client at the other end of a memory transport."""

    def __init__(self, server: BrokerServer, derives: bool = True) -> None:
        self.transport = MemoryTransport()
        self._protocol = server.connection()
        given: Any = self.transport if derives else OtherTransport(self.transport)
        self._protocol.connection_made(given)

    def send(self, request: Request[R], version: int) -> None:
        data = b"".join(encode_request(request, version, 1, "peer"))
        self._protocol.get_buffer(len(data))[: len(data)] = data
        self._protocol.buffer_updated(len(data))

    def answer(self, request: type[Request[R]], version: int) -> R:
        size = int.from_bytes(self.transport.sent[:4], "big")
        frame = bytes(self.transport.sent[4 : 4 + size])
        assert len(frame) == size > 0
        del self.transport.sent[: 4 + size]
        return decode_response(request, version, frame)

    def call(self, request: Request[R], version: int) -> R:
        self.send(request, version)
        return self.answer(type(request), version)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


def opened(folder: Path, clock: VirtualClock, seed: int = 1, **settings: object) -> BrokerServer:
    server = BrokerServer(
        folder, "b1", 9092, BrokerSettings.from_names(settings), clock=clock, randomness=random.Random(seed)
    )
    server.open()
    return server


@pytest.fixture
async def server(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[BrokerServer]:
    running = opened(tmp_path, clock, topic_defaults={"retention.ms": "3600000", "segment.bytes": "100"})
    yield running
    await running.stop()


def metadata_request(topic: str = "t") -> MetadataRequest:
    return MetadataRequest.from_dict(
        {
            "topics": [{"name": topic}],
            "allowAutoTopicCreation": True,
        },
        4,
    )


@pytest.mark.parametrize("derives", [True, False])
async def test_it_serves_any_transport(server: BrokerServer, derives: bool) -> None:
    peer = Peer(server, derives)
    answer = peer.call(metadata_request(), 4)
    assert [(one.host, one.port) for one in answer.brokers] == [("b1", 9092)]
    assert [one.name for one in answer.topics] == ["t"]
    await server.stop()
    assert peer.transport.closed


async def test_the_given_clock_is_the_only_source_of_time(server: BrokerServer, clock: VirtualClock) -> None:
    peer, writer = Peer(server), Peer(server)
    peer.call(metadata_request(), 4)
    batch = make_batch([b"a"], timestamp=clock.wall_ms())
    assert produced(writer.call(produce_request("t", batch), 9)).error_code == 0
    assert values(fetched(peer.call(fetch_request("t"), 11))) == [b"a"]
    peer.send(fetch_request("t", 1, max_wait_ms=20_000), 11)
    clock.advance(19.9)
    assert not peer.transport.sent
    clock.advance(0.2)
    await asyncio.sleep(0)
    assert fetched(peer.answer(FetchRequest, 11)).error_code == 0
    late = make_batch([b"late"], timestamp=clock.wall_ms() + 2 * 3_600_000)
    assert produced(writer.call(produce_request("t", late), 9)).error_code == 32
    clock.advance(DAY_S)
    assert fetched(peer.call(fetch_request("t"), 11)).error_code == 1, "retention has taken the record"


async def test_delays_of_faults_use_the_same_clock(server: BrokerServer, clock: VirtualClock) -> None:
    peer = Peer(server)
    peer.call(metadata_request(), 4)
    server.faults.delay(30.0, api="Produce")
    peer.send(produce_request("t", make_batch([b"a"], timestamp=clock.wall_ms())), 9)
    clock.advance(29.0)
    await asyncio.sleep(0)
    assert not peer.transport.sent
    clock.advance(2.0)
    await asyncio.sleep(0)
    assert produced(peer.answer(ProduceRequest, 9)).error_code == 0


async def test_two_runs_with_the_same_seed_are_identical(tmp_path: Path) -> None:
    stories = []
    for number, seed in enumerate((7, 7, 8)):
        server = opened(tmp_path / str(number), VirtualClock(), seed)
        peer = Peer(server)
        join = JoinGroupRequest(
            group_id="g",
            session_timeout_ms=10_000,
            rebalance_timeout_ms=10_000,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        )
        peer.send(join, 3)
        await asyncio.sleep(0)
        member = peer.answer(JoinGroupRequest, 3).member_id
        answer = peer.call(metadata_request(), 12)
        session = peer.call(fetch_request("t", session_epoch=0), 12).session_id
        stories.append((answer.cluster_id, answer.topics[0].topic_id, member, session))
        await server.stop()
    assert stories[0] == stories[1]
    assert not {*stories[0]} & {*stories[2]}


async def test_a_server_without_sockets_can_restart(server: BrokerServer) -> None:
    peer = Peer(server)
    peer.call(metadata_request(), 4)
    await server.restart()
    assert peer.transport.closed
    assert [one.name for one in Peer(server).call(metadata_request(), 4).topics] == ["t"]


def commit_request(offset: int, generation: int = -1) -> OffsetCommitRequest:
    row = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    return OffsetCommitRequest(
        group_id="g",
        generation_id_or_member_epoch=generation,
        topics=[OffsetCommitRequestTopic(name="t", partitions=[row])],
    )


async def test_the_observer_is_called_for_each_accepted_commit(tmp_path: Path, clock: VirtualClock) -> None:
    told: list[tuple[str, str, dict[tuple[str, int], int]]] = []

    def accepted(group: str, client_id: str, offsets: Mapping[tuple[str, int], CommittedOffset]) -> None:
        told.append((group, client_id, {key: one.offset for key, one in offsets.items()}))

    settings = BrokerSettings.from_names({})
    server = BrokerServer(tmp_path, "b1", 9092, settings, clock=clock, commit_accepted=accepted)
    server.open()
    peer = Peer(server)
    peer.call(metadata_request(), 4)
    assert peer.call(commit_request(7), 8).topics[0].partitions[0].error_code == 0
    assert peer.call(commit_request(9, generation=3), 8).topics[0].partitions[0].error_code != 0
    assert told == [("g", "peer", {("t", 0): 7})]
    assert server.committed_offsets() == {"g": {("t", 0): 7}}
    await server.restart()
    assert server.committed_offsets() == {"g": {("t", 0): 7}}
    await server.stop()
