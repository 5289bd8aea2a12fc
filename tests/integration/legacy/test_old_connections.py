"""`kafka.conn`: programs of 1.x and of 0.9 talk to brokers of today in the requests of their time."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

import kafka
from harness.fetch import release_numbers
from integration.consumer_support import is_since, poll_until
from kafka.broker import EmbeddedBroker
from kafka.common import (
    FetchRequestPayload,
    OffsetCommitRequestPayload,
    OffsetFetchRequestPayload,
    ProduceRequestPayload,
)
from kafka.conn import BrokerConnection, ConnectionStates, KafkaConnection
from kafka.errors import (
    KafkaConnectionError,
    NodeNotReadyError,
    RequestTimedOutError,
    TooManyInFlightRequests,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafka.protocol import KafkaProtocol, create_gzip_message, create_message
from kafka.protocol.admin import (
    CreateTopicsRequest_v0,
    DeleteTopicsRequest_v0,
    DescribeConfigsRequest_v0,
    DescribeGroupsRequest_v0,
    ListGroupsRequest_v0,
)
from kafka.protocol.api import RequestHeader
from kafka.protocol.commit import GroupCoordinatorRequest, OffsetCommitRequest_v1
from kafka.protocol.group import (
    HeartbeatRequest_v0,
    JoinGroupRequest_v0,
    LeaveGroupRequest_v0,
    ProtocolMetadata,
    SyncGroupRequest_v0,
)
from kafka.protocol.metadata import MetadataRequest, MetadataResponse
from kafka.protocol.offset import OffsetRequest
from kafka.protocol.types import Int32

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

PATIENCE_S = 60.0


def address(servers: str) -> tuple[str, int]:
    host, _, port = servers.rpartition(":")
    return host, int(port)


def ask(connection: BrokerConnection, request: Any) -> Any:
    """Send a request and wait for its response."""
    future = connection.send(request)
    while not future.is_done:
        connection.recv(timeout=PATIENCE_S)
    if future.exception is not None:
        raise future.exception
    return future.value


def ask_until(connection: BrokerConnection, request: Any, is_ready: Callable[[Any], bool]) -> Any:
    """Ask again while the broker is not ready."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        response = ask(connection, request)
        if is_ready(response) or time.monotonic() > deadline:
            return response
        time.sleep(0.05)


@pytest.fixture
def connection(broker: Broker) -> Iterator[BrokerConnection]:
    made = BrokerConnection(*address(broker.bootstrap_servers), client_id="old")
    assert made.connect_blocking(PATIENCE_S)
    yield made
    made.close()


@pytest.fixture
def embedded(kafka_broker: EmbeddedBroker) -> Iterator[BrokerConnection]:
    made = BrokerConnection(*address(kafka_broker.bootstrap_servers))
    assert made.connect_blocking(PATIENCE_S)
    yield made
    made.close()


def test_messages_of_0_8_are_written_and_read(connection: BrokerConnection, make_topic: MakeTopic) -> None:
    topic = make_topic()
    plain = [create_message(b"a", b"k"), create_message(None, b"gone")]
    compressed = [create_gzip_message([(b"b", b"k"), (b"c", None)])]
    for messages, offset in ((plain, 0), (compressed, 2)):  # brokers of 2.4 and later do not take both at once
        request = KafkaProtocol.encode_produce_request([ProduceRequestPayload(topic, 0, messages)])
        (written,) = KafkaProtocol.decode_produce_response(ask(connection, request))
        assert written == (topic, 0, 0, offset)
    request = KafkaProtocol.encode_fetch_request([FetchRequestPayload(topic, 0, 1, 100_000)], 1000, 1)
    (read,) = KafkaProtocol.decode_fetch_response(ask(connection, request))
    assert (read.error, read.highwaterMark) == (0, 4)
    # A broker sends whole batches; one that puts them into an older format adds a part of a message, which has no
    # offset. Programs of that time passed over what they had not asked for.
    found = [(m.offset, m.message.magic, m.message.key, m.message.value) for m in read.messages if (m.offset or 0) >= 1]
    assert found == [(1, 0, b"gone", None), (2, 0, b"k", b"b"), (3, 0, None, b"c")]


@pytest.mark.needs(broker=(0, 10), why="message timestamps (KIP-32)")
def test_timestamps_reach_a_program_that_knows_magic_1(
    connection: BrokerConnection, make_topic: MakeTopic, broker: Broker
) -> None:
    from kafka.protocol.fetch import FetchRequest_v2
    from kafka.record import MemoryRecords

    topic = make_topic()
    with kafka.KafkaProducer(bootstrap_servers=f"{connection.host}:{connection.port}") as producer:
        headers = [("h", b"x")] if is_since(broker, (1, 0)) else []  # 0.11 has them, and cannot leave them out
        producer.send(topic, b"v", timestamp_ms=1234, headers=headers).get(PATIENCE_S)
    response = ask(connection, FetchRequest_v2(-1, 1000, 1, [(topic, [(0, 0, 10_000)])]))
    (batch,) = MemoryRecords(response.topics[0][1][0][-1])
    assert batch.validate_crc()
    assert [(batch.magic, r.timestamp, r.value, r.headers) for r in batch] == [(1, 1234, b"v", [])]


def test_offsets_are_found_in_version_0(connection: BrokerConnection, make_topic: MakeTopic) -> None:
    topic = make_topic()
    ask(connection, KafkaProtocol.encode_produce_request([ProduceRequestPayload(topic, 0, [create_message(b"a")] * 3)]))
    for when, expected in ((-1, 3), (-2, 0)):
        response = ask(connection, OffsetRequest[0](-1, [(topic, [(0, when, 1)])]))
        assert response.topics == [(topic, [(0, 0, [expected])])]


def test_offsets_are_committed_in_old_versions(
    connection: BrokerConnection, make_topic: MakeTopic, broker: Broker
) -> None:
    if is_since(broker, (3, 9)) and not is_since(broker, (4, 0)):
        pytest.skip("Kafka 3.9 with KRaft advertises version 0 of OffsetCommit, but rejects it")
    topic = make_topic()
    coordinator = ask_until(connection, GroupCoordinatorRequest[0](f"group-{topic}"), lambda r: r.error_code == 0)
    assert (coordinator.error_code, coordinator.port) == (0, connection.port)
    commit = KafkaProtocol.encode_offset_commit_request(
        f"group-{topic}", [OffsetCommitRequestPayload(topic, 0, 5, "mine")]
    )
    response = ask_until(connection, commit, lambda r: r.topics[0][1][0][1] == 0)
    assert KafkaProtocol.decode_offset_commit_response(response) == [(topic, 0, 0)]
    payloads = [OffsetFetchRequestPayload(topic, 0)]
    kept = (topic, 0, 5, "mine", 0)
    # Where brokers have a ZooKeeper, version 0 keeps offsets there, without their metadata.
    in_zookeeper = {False: (topic, 0, 5, "", 0), True: (topic, 0, -1, "", 0)}
    for from_kafka in (False, True):
        fetch = KafkaProtocol.encode_offset_fetch_request(f"group-{topic}", payloads, from_kafka)
        found = KafkaProtocol.decode_offset_fetch_response(ask(connection, fetch))
        assert found == [kept if is_since(broker, (3, 9)) else in_zookeeper[from_kafka]]
    first = OffsetCommitRequest_v1(f"group-{topic}", -1, "", [(topic, [(0, 6, 1234, "")])])
    assert ask(connection, first).topics == [(topic, [(0, 0)])]


def test_a_group_of_0_9_meets(connection: BrokerConnection, make_topic: MakeTopic) -> None:
    group = f"group-{make_topic()}"
    ask_until(connection, GroupCoordinatorRequest[0](group), lambda r: r.error_code == 0)
    metadata = ProtocolMetadata(0, ["t"], None).encode()
    join = JoinGroupRequest_v0(group, 10_000, "", "consumer", [("range", metadata)])
    joined = ask_until(connection, join, lambda r: r.error_code == 0)
    assert (joined.error_code, joined.leader_id, joined.group_protocol) == (0, joined.member_id, "range")
    assert joined.members == [(joined.member_id, metadata)]
    member = (group, joined.generation_id, joined.member_id)
    synced = ask(connection, SyncGroupRequest_v0(*member, [(joined.member_id, b"mine")]))
    assert (synced.error_code, synced.member_assignment) == (0, b"mine")
    assert ask(connection, HeartbeatRequest_v0(*member)).error_code == 0
    assert (group, "consumer") in ask(connection, ListGroupsRequest_v0()).groups
    ((error, name, state, *_),) = ask(connection, DescribeGroupsRequest_v0([group])).groups
    assert (error, name, state) == (0, group, "Stable")
    assert ask(connection, LeaveGroupRequest_v0(group, joined.member_id)).error_code == 0


@pytest.mark.needs(broker=(0, 11), why="DescribeConfigs")
def test_topics_are_made_and_described_in_version_0(
    connection: BrokerConnection, make_topic: MakeTopic, broker: Broker
) -> None:
    topic = f"{make_topic()}-made"
    made = ask(connection, CreateTopicsRequest_v0([(topic, 1, 1, [], [("retention.ms", "12345678")])], 10_000))
    assert made.topic_errors == [(topic, 0)]

    def describe() -> Any:
        (resource,) = ask(connection, DescribeConfigsRequest_v0([(2, topic, None)])).resources
        return resource

    # The broker hears of the topic from the controller, which may take a moment.
    poll_until(lambda: describe()[0] != UnknownTopicOrPartitionError.errno)
    error, _, kind, name, entries = describe()
    assert (error, kind, name) == (0, 2, topic)
    configs = {key: (value, is_default) for key, value, _, is_default, _ in entries}
    assert configs["retention.ms"] == ("12345678", False)
    if is_since(broker, (4, 0)) or not is_since(broker, (2, 4)):  # others leave it out of version 0
        assert configs["max.message.bytes"][1] is True
    assert ask(connection, DeleteTopicsRequest_v0([topic], 10_000)).topic_error_codes == [(topic, 0)]


def test_what_no_version_can_say_is_refused_with_both_named(connection: BrokerConnection) -> None:
    class Unknown(MetadataRequest[0]):  # type: ignore[misc, valid-type]  # classes are made when they run
        API_KEY = 9999

    with pytest.raises(UnsupportedVersionError, match="Unknown has the API key 9999"):
        ask(connection, Unknown([]))


def test_the_broker_tells_its_release(connection: BrokerConnection, broker: Broker) -> None:
    release = connection.check_version()
    if broker.kind == "apache":  # of releases after 4.1 nothing that we ask for is new
        assert release == min(release_numbers(broker.version)[: len(release)], (4, 1))  # type: ignore[attr-defined]
    assert release >= (0, 9)
    low, high = connection.get_api_versions()[MetadataRequest.API_KEY]
    assert low == 0
    assert high > 0 or not is_since(broker, (0, 10))
    assert MetadataResponse[0].__name__ == type(ask(connection, MetadataRequest[0]([]))).__name__


def test_frames_of_0_9_go_as_they_are(broker: Broker, make_topic: MakeTopic) -> None:
    topic = make_topic()
    with pytest.warns(DeprecationWarning, match="BrokerConnection"):
        raw = KafkaConnection(*address(broker.bootstrap_servers), timeout=PATIENCE_S)
    for connected in (raw, raw.copy()):
        connected.send(1, KafkaProtocol.encode_metadata_request(b"old", 1, [topic]))
        found = KafkaProtocol.decode_metadata_response(connected.recv(1))
        assert [t.topic for t in found.topics] == [topic.encode()]
        connected.close()
        connected.close()
    raw.reinit()
    assert raw.get_connected_socket().getpeername()[1] == raw.port
    raw.close()


def test_a_socket_that_the_broker_closes_is_an_error_and_the_next_call_connects_anew() -> None:
    with EmbeddedBroker() as broker:
        with pytest.warns(DeprecationWarning, match="KafkaConnection"):
            raw = KafkaConnection(*address(broker.bootstrap_servers), timeout=PATIENCE_S)
        raw.get_connected_socket().shutdown(socket.SHUT_RDWR)
        with pytest.raises(KafkaConnectionError, match="went away"):
            raw.recv(1)
        raw.send(2, KafkaProtocol.encode_metadata_request(b"old", 1))
        assert raw.recv(2)
        raw.close()
    with pytest.raises(KafkaConnectionError, match="went away"):
        raw.reinit()


def test_states_are_told_and_nothing_is_sent_before_the_connection_is_there(kafka_broker: EmbeddedBroker) -> None:
    told: list[str] = []
    host, port = address(kafka_broker.bootstrap_servers)
    connection = BrokerConnection(
        host, port, socket.AF_INET, node_id=7, state_change_callback=lambda node, sock, conn: told.append(conn.state)
    )
    assert isinstance(connection.send(MetadataRequest[0]([])).exception, KafkaConnectionError)
    assert connection.connect() == ConnectionStates.CONNECTING
    assert connection.connecting()
    assert isinstance(connection.send(MetadataRequest[0]([])).exception, NodeNotReadyError)
    assert connection.connect_blocking(PATIENCE_S)
    connection.close()
    connection.close()
    assert told == [ConnectionStates.CONNECTING, ConnectionStates.CONNECTED, ConnectionStates.DISCONNECTED]
    assert connection.disconnected()
    assert repr(connection) == f"<BrokerConnection node_id=7 host={host} port={port} <disconnected>>"
    assert kafka.BrokerConnection is BrokerConnection


def test_recv_gives_pairs_whose_futures_callers_may_complete_again(embedded: BrokerConnection) -> None:
    future = embedded.send(MetadataRequest[0]([]))
    assert list(embedded.in_flight_requests) == [1]
    received: Any = []
    while not received:
        received = embedded.recv()
    ((response, told),) = received
    assert told is future
    told.success(response)
    assert future.value is response
    assert received.brokers == response.brokers
    assert embedded.recv() == []
    assert embedded.recv(timeout=0) is None
    assert not embedded.in_flight_requests


def test_a_produce_request_without_acks_is_done_at_once(embedded: BrokerConnection) -> None:
    request = KafkaProtocol.encode_produce_request([ProduceRequestPayload("new", 0, [create_message(b"a")])], acks=0)
    assert embedded.send(request).succeeded()
    assert not embedded.in_flight_requests


def test_as_many_requests_wait_as_may(kafka_broker: EmbeddedBroker) -> None:
    kafka_broker.faults.drop_answers(api="Metadata")
    connection = BrokerConnection(
        *address(kafka_broker.bootstrap_servers), max_in_flight_requests_per_connection=1, request_timeout_ms=300
    )
    assert connection.connect_blocking(PATIENCE_S)
    first = connection.send(MetadataRequest[0]([]))
    assert not connection.can_send_more()
    assert connection.next_ifr_request_timeout_ms() <= 300
    assert isinstance(connection.send(MetadataRequest[0]([])).exception, TooManyInFlightRequests)
    while not first.is_done:
        connection.recv(timeout=PATIENCE_S)
    assert isinstance(first.exception, RequestTimedOutError)
    assert not connection.connected()


def test_close_fails_what_waits(kafka_broker: EmbeddedBroker, embedded: BrokerConnection) -> None:
    kafka_broker.faults.drop_answers(api="Metadata")
    plain, told = embedded.send(MetadataRequest[0]([])), ValueError("enough")
    embedded.close()
    assert isinstance(plain.exception, KafkaConnectionError)
    assert embedded.connect_blocking(PATIENCE_S)
    second = embedded.send(MetadataRequest[0]([]))
    embedded.close(told)
    assert second.exception is told


def test_an_address_where_nobody_listens_is_tried_again_later() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        connection = BrokerConnection(*free.getsockname(), reconnect_backoff_ms=10_000)
        assert not connection.connect_blocking(PATIENCE_S)
    assert connection.connect_failed()
    assert connection.blacked_out()
    assert connection.connect() == ConnectionStates.DISCONNECTED
    with pytest.raises(NodeNotReadyError):
        connection.check_version(timeout=0)


class _OldBroker(socketserver.StreamRequestHandler):
    """A broker that knows Metadata version 0, and hangs up on other requests, or is silent from then on (0.9)."""

    seen: list[tuple[int, int]]
    is_silent: bool

    def handle(self) -> None:
        while size := self.rfile.read(4):
            data = self.rfile.read(int.from_bytes(size, "big"))
            key, version = int.from_bytes(data[:2], "big"), int.from_bytes(data[2:4], "big")
            self.seen.append((key, version))
            if (key, version) != (3, 0) and not self.is_silent:
                return
            if (key, version) != (3, 0):
                continue
            answer = data[4:8] + MetadataResponse[0]([(1, "localhost", 9092)], []).encode()
            self.wfile.write(Int32.encode(len(answer)) + answer)


@pytest.mark.parametrize("is_silent", [False, True], ids=["0.8", "0.9"])
def test_a_broker_of_its_time_gets_the_request_as_it_is(is_silent: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka.net.peer_probes._SILENCE_S", 0.1)
    seen: list[tuple[int, int]] = []
    handler = type("Handler", (_OldBroker,), {"seen": seen, "is_silent": is_silent})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            connection = BrokerConnection(*server.server_address, api_version=(0, 8, 2))
            assert connection.connect_blocking(PATIENCE_S)
            assert ask(connection, MetadataRequest[0]([])).brokers == [(1, "localhost", 9092)]
            assert connection.check_version() == ((0, 9) if is_silent else (0, 8, 2))
            assert seen[-1] == (3, 0)
            connection.close()
        finally:
            server.shutdown()
            thread.join()


def test_headers_are_those_of_the_request() -> None:
    header = RequestHeader(MetadataRequest[0]([]), correlation_id=1, client_id="me")
    assert (header.api_key, header.api_version, header.correlation_id, header.client_id) == (3, 0, 1, "me")
