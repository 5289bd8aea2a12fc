"""Requests that a client sent before it closed are executed; pending responses end early, and nothing hangs."""

from __future__ import annotations

import asyncio
import socket
import struct
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kafka.broker import EmbeddedBroker
from kafka.broker.api import APIS, Api
from kafka.broker.broker_server import BrokerServer
from kafka.broker.client_connection import ClientConnection
from kafka.broker.error_codes import ErrorCode
from kafka.broker.error_responses import ERRORS, has_error
from kafka.wire import request_class
from kafka.wire.api.fetch import FetchRequest
from kafka.wire.api.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kafka.wire.api.leave_group import LeaveGroupRequest, MemberIdentity
from kafka.wire.api.metadata import MetadataRequest
from kafka.wire.api.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kafka.wire.api.produce import ProduceRequest
from kafka.wire.api.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafka.wire.api.share_fetch import FetchPartition, FetchTopic, ShareFetchRequest
from kafka.wire.framing import encode_request
from unit.broker.batches import make_batch
from unit.broker.clock import VirtualClock
from unit.broker.requests import create, fetch_request, produce_request, produced
from unit.broker.test_simulated_server import Peer, metadata_request, opened
from unit.broker.wireclient import WireClient

LONG_MS = 3_600_000


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def server(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[BrokerServer]:
    running = opened(tmp_path, clock, group_initial_rebalance_delay_ms=0)
    Peer(running).call(metadata_request(), 4)
    yield running
    await running.stop()


def protocol(peer: Peer) -> ClientConnection:
    connection: Any = peer._protocol
    assert isinstance(connection, ClientConnection)
    return connection


def lose(peer: Peer, how: str) -> None:
    """Disconnect the client: `close` ends the stream, `reset` the connection."""
    if how == "close":
        assert protocol(peer).eof_received()
    else:
        protocol(peer).connection_lost(ConnectionResetError())


async def rounds(count: int = 5) -> None:
    """Run a number of iterations of the loop."""
    for _ in range(count):
        await asyncio.sleep(0)


def commit_request(offset: int, group: str = "g") -> OffsetCommitRequest:
    row = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    return OffsetCommitRequest(group_id=group, topics=[OffsetCommitRequestTopic(name="t", partitions=[row])])


def committed(server: BrokerServer) -> int | None:
    return server.committed_offsets().get("g", {}).get(("t", 0))


def join_request(member: str = "") -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="classic",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        member_id=member,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )


@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_commit_after_a_waiting_fetch_is_executed(server: BrokerServer, how: str) -> None:
    peer = Peer(server)
    peer.send(fetch_request("t", max_wait_ms=LONG_MS), 11)
    peer.send(commit_request(7), 2)
    assert not peer.transport.sent
    lose(peer, how)
    await rounds()
    assert committed(server) == 7
    if how == "close":
        peer.answer(FetchRequest, 11)
        assert peer.answer(OffsetCommitRequest, 2).topics[0].partitions[0].error_code == 0
        assert peer.transport.closed, "once everything was answered"
        protocol(peer).connection_lost(None)
    else:
        assert not peer.transport.sent, "nobody could read it"
    assert protocol(peer) not in server._connections


@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_leave_after_a_waiting_join_is_executed(server: BrokerServer, clock: VirtualClock, how: str) -> None:
    busy, short = Peer(server), Peer(server)
    busy.send(join_request(), 3)
    await rounds()
    leader = busy.answer(JoinGroupRequest, 3).member_id
    short.send(join_request(), 4)
    await rounds()
    member = short.answer(JoinGroupRequest, 4).member_id
    short.send(join_request(member), 4)
    short.send(LeaveGroupRequest(group_id="classic", members=[MemberIdentity(member_id=member)]), 3)
    lose(short, how)
    await rounds()
    assert protocol(short) in server._connections, "the round is not over"
    busy.send(join_request(leader), 3)
    await rounds()
    assert busy.answer(JoinGroupRequest, 3).member_id == leader
    assert server._broker is not None
    assert list(server._broker.groups.groups["classic"].members) == [leader]
    if how == "reset":
        assert protocol(short) not in server._connections


async def test_stopping_does_not_wait_for_clients(server: BrokerServer) -> None:
    busy, gone = Peer(server), Peer(server)
    busy.send(join_request(), 3)
    await rounds()
    gone.send(join_request(), 3)
    gone.send(commit_request(7), 2)
    lose(gone, "reset")
    await rounds()
    assert protocol(gone) in server._connections
    await server.stop()
    assert protocol(gone) not in server._connections
    await rounds()


async def test_a_silenced_connection_ends_with_its_client(server: BrokerServer) -> None:
    peer = Peer(server)
    server.faults.drop_answers(api="Metadata")
    peer.send(metadata_request(), 4)
    peer.send(commit_request(7), 2)
    lose(peer, "close")
    assert peer.transport.closed
    protocol(peer).connection_lost(None)
    assert protocol(peer) not in server._connections
    assert committed(server) is None


async def test_a_delayed_request_is_executed_after_its_client_left(server: BrokerServer, clock: VirtualClock) -> None:
    peer = Peer(server)
    server.faults.delay(5, api="OffsetCommit")
    peer.send(commit_request(7), 2)
    lose(peer, "reset")
    assert committed(server) is None
    clock.advance(5)
    await rounds()
    assert committed(server) == 7
    assert protocol(peer) not in server._connections


async def test_requests_of_a_client_that_never_read_are_served_after_it_left(server: BrokerServer) -> None:
    peer = Peer(server)
    protocol(peer).pause_writing()
    peer.send(commit_request(7), 2)
    assert protocol(peer).eof_received()
    assert committed(server) is None, "it may still read the answers"
    protocol(peer).connection_lost(ConnectionResetError())
    assert committed(server) == 7


@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_closed_share_member_acknowledges_but_acquires_nothing(server: BrokerServer, how: str) -> None:
    assert server._broker is not None
    server._broker.group_configs.replace("s", {"share.auto.offset.reset": "earliest"})
    topic_id = server._broker.topics.get("t").topic_id
    peer, producer, member = Peer(server), Peer(server), str(uuid.uuid4())

    def share_fetch(epoch: int) -> ShareFetchRequest:
        topics = [FetchTopic(topic_id=topic_id, partitions=[FetchPartition(partition_index=0)])]
        return ShareFetchRequest(
            group_id="s",
            member_id=member,
            share_session_epoch=epoch,
            max_wait_ms=LONG_MS,
            min_bytes=1,
            max_bytes=1 << 20,
            max_records=1,
            batch_size=1,
            topics=topics,
        )

    def put() -> None:
        assert produced(producer.call(produce_request("t", make_batch([b"v"])), 9)).error_code == 0

    put()
    (answer,) = peer.call(share_fetch(0), 1).responses
    assert answer.partitions[0].acquired_records[0].first_offset == 0
    accept = AcknowledgementBatch(first_offset=0, last_offset=0, acknowledge_types=[1])
    row = AcknowledgePartition(partition_index=0, acknowledgement_batches=[accept])
    topics = [AcknowledgeTopic(topic_id=topic_id, partitions=[row])]
    peer.send(share_fetch(1), 1)
    peer.send(ShareAcknowledgeRequest(group_id="s", member_id=member, share_session_epoch=2, topics=topics), 1)
    peer.send(share_fetch(3), 1)
    lose(peer, how)
    put()
    await rounds()
    if how == "close":
        protocol(peer).connection_lost(None)
    partition = server._broker.shares.partition("s", topic_id, 0)
    assert partition.runs.start == 1, "the first record is done with"
    assert not [run for run in partition.runs.rows if run.count], "nobody has got the second one"


async def test_unread_requests_of_a_lost_connection_are_executed() -> None:
    async with EmbeddedBroker() as broker, WireClient(broker) as other:
        await create(other, "t")
        await other.call(commit_request(0), 2)
        client = socket.create_connection((broker.host, broker.port))
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        # More than the broker reads while a response is pending, which then cannot be sent.
        requests = [fetch_request("t", max_wait_ms=50), *(commit_request(number) for number in range(1, 2001))]
        versions = [11] + [2] * 2000
        frames = b"".join(
            b"".join(encode_request(one, version, 1, "c")) for one, version in zip(requests, versions, strict=True)
        )
        await loop.sock_sendall(client, frames)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()  # a reset
        server = broker._server
        assert server is not None
        async with asyncio.timeout(60):
            while committed(server) != 2000:
                await other.call(MetadataRequest(), 4)


async def test_a_half_closed_client_still_gets_responses() -> None:
    async with EmbeddedBroker() as broker, WireClient(broker) as client:
        await create(client, "t")
        numbers = [await client.send(fetch_request("t", max_wait_ms=LONG_MS), 11)]
        numbers += [await client.send(metadata_request(), 4) for _ in range(20)]
        client._writer.write_eof()
        await client.receive(FetchRequest, 11, numbers[0])
        for number in numbers[1:]:
            assert (await client.receive(MetadataRequest, 4, number)).topics[0].name == "t"
        assert await client.read_to_the_end() == b""


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
async def test_an_exception_in_a_handler_becomes_an_error_response(
    server: BrokerServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, api: Api
) -> None:
    def fail(*_: object) -> None:
        raise LookupError("a fault of the broker's")

    version = api.max_version
    request = request_class(api.key)()
    if isinstance(request, ProduceRequest):
        request.acks = -1
    assert has_error(request.RESPONSE)
    peer = Peer(server)
    with monkeypatch.context() as patched:
        patched.setattr(Api, "handler", lambda _: fail)
        answer = peer.call(request, version)
    places = [field.name for field in type(answer).FIELDS if field.name in ERRORS and field.in_version(version)]
    assert all(getattr(answer, name) == ErrorCode.UNKNOWN_SERVER_ERROR for name in places)
    assert "a fault of the broker's" in caplog.text
    assert not peer.transport.closed


async def test_a_failed_produce_without_acks_closes_the_connection(
    server: BrokerServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise LookupError("a fault of the broker's")

    monkeypatch.setattr(Api, "handler", lambda _: fail)
    peer = Peer(server)
    peer.send(ProduceRequest(acks=0), 9)
    assert peer.transport.closed
    assert not peer.transport.sent


# -- fairness ---------------------------------------------------------------------------------------------------------


async def test_a_busy_connection_does_not_starve_others(server: BrokerServer) -> None:
    heavy, light = Peer(server), Peer(server)
    data = b"".join(b"".join(encode_request(commit_request(number), 2, 1, "c")) for number in range(1, 31))
    protocol(heavy).get_buffer(len(data))[: len(data)] = data
    protocol(heavy).buffer_updated(len(data))
    seen = [committed(server)]
    light.call(metadata_request(), 4)
    for _ in range(4):
        await rounds(1)
        seen.append(committed(server))
    assert seen == [8, 16, 24, 30, 30]


async def test_many_connections_are_accepted_per_iteration() -> None:
    async with EmbeddedBroker() as broker:
        assert broker._server is not None
        address = broker.host, broker.port
        clients = [socket.create_connection(address) for _ in range(50)]  # the loop does not run meanwhile
        await rounds(6)
        assert len(broker._server._connections) == 50
        for client in clients:
            client.close()


class Exhausted:
    """A listening socket of a process without free descriptors."""

    def accept(self) -> None:
        raise OSError(24, "Too many open files")


async def test_accepting_pauses_without_descriptors_and_logs_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with EmbeddedBroker() as broker:
        assert broker._server is not None
        listener: Any = broker._server._listener
        removed: list[object] = []
        loop = asyncio.get_running_loop()
        with monkeypatch.context() as patched:
            patched.setattr(loop, "remove_reader", removed.append)
            exhausted = Exhausted()
            listener._accept(exhausted)
            listener._accept(exhausted)
            listener._paused.pop(exhausted).cancel()
        assert removed == [exhausted, exhausted]
        assert caplog.text.count("new connections must wait: Too many open files") == 1
