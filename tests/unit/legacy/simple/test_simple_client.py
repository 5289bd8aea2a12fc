"""`SimpleClient`: failures, copies, and use in a forked child."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kafka import create_message
from kafka.broker import EmbeddedBroker
from kafka.client import SimpleClient
from kafka.common import (
    BrokerMetadata,
    BrokerResponseError,
    ConsumerMetadataResponse,
    FailedPayloadsError,
    FetchRequestPayload,
    KafkaTimeoutError,
    KafkaUnavailableError,
    LeaderNotAvailableError,
    NotLeaderForPartitionError,
    OffsetFetchRequestPayload,
    OffsetRequestPayload,
    ProduceRequestPayload,
    ProduceResponsePayload,
    TopicPartition,
    UnknownTopicOrPartitionError,
)
from kafka.conn import get_ip_port_afi
from kafka.legacy.simple import payload_requests, simple_client
from kafka.legacy.simple.payload_requests import offsets_before
from kafka.net import Connection
from kafka.protocol.commit import GroupCoordinatorRequest, OffsetCommitRequest
from kafka.protocol.metadata import MetadataResponse
from kafka.wire.api.fetch import FetchRequest
from kafka.wire.api.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka.wire.api.produce import ProduceRequest

pytestmark = pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning")

TOPIC = "topic"
MESSAGE = [ProduceRequestPayload(TOPIC, 0, [create_message(b"x")])]


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        yield broker


@pytest.fixture
def client(broker: EmbeddedBroker) -> Iterator[SimpleClient]:
    client = SimpleClient([broker.bootstrap_servers], timeout=10)
    client.ensure_topic_exists(TOPIC)
    yield client
    client.close()


@pytest.fixture
def sent_requests(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Record the requests that are sent to brokers."""
    requests: list[Any] = []
    post_for = Connection.post_for  # used by every request

    def note(self: Connection, reply: Any, request: Any, *arguments: Any, **options: Any) -> None:
        requests.append(request)
        post_for(self, reply, request, *arguments, **options)

    monkeypatch.setattr(Connection, "post_for", note)
    return requests


class OwnRequests(SimpleClient):
    """Sends custom requests through the private methods that programs of 1.x use for this."""

    def send_consumer_metadata_request(self, payloads: Any = (), *args: Any, **kwargs: Any) -> ConsumerMetadataResponse:
        found = self._send_broker_unaware_request(
            payloads, lambda payloads: GroupCoordinatorRequest[0](payloads), lambda response: response
        )
        return ConsumerMetadataResponse(found.error_code, found.coordinator_id, found.host, found.port)

    def commit(self, group: str, offset: int) -> Any:
        coordinator = self._get_coordinator_for_group(group)
        host, _, family = get_ip_port_afi(coordinator.host)
        connection = self._get_conn(host, coordinator.port, family)
        future = connection.send(OffsetCommitRequest[2](group, -1, "", -1, [(TOPIC, [(0, offset, "")])]))
        while not future.is_done:
            for response, answered in connection.recv():
                answered.success(response)
        return future.value


def test_subclasses_can_send_custom_requests(broker: EmbeddedBroker) -> None:
    client = OwnRequests(broker.bootstrap_servers, timeout=10)
    client.ensure_topic_exists(TOPIC)
    for each in (client, client.copy()):
        assert each.commit("group", 3).topics == [(TOPIC, [(0, 0)])]
        (found,) = each.send_offset_fetch_request_kafka("group", [OffsetFetchRequestPayload(TOPIC, 0)])
        assert found.offset == 3
        each.close()
    assert client.commit("group", 4).topics == [(TOPIC, [(0, 0)])], "which connects again"
    client.close()


def test_a_custom_request_goes_to_the_next_broker_after_a_failure(broker: EmbeddedBroker) -> None:
    client = OwnRequests(f"127.0.0.1:1,{broker.bootstrap_servers}", timeout=5)
    client.brokers = {0: BrokerMetadata(0, "127.0.0.1", 1)}
    assert client.send_consumer_metadata_request("group").port == broker.port
    broker.stop()
    with pytest.raises(KafkaUnavailableError, match=r"All servers failed to process request: 127\.0\.0\.1:1: cannot"):
        client.send_consumer_metadata_request("group")
    client.close()


def test_an_unreachable_server_raises_immediately() -> None:
    with pytest.raises(KafkaUnavailableError, match=r"All servers failed to process request.*127\.0\.0\.1:1"):
        SimpleClient("127.0.0.1:1,127.0.0.1:2")


def test_a_missing_response_is_returned_as_an_error(broker: EmbeddedBroker, client: SimpleClient) -> None:
    broker.faults.hang_up(api="Produce", times=2)
    (failure,) = client.send_produce_request(MESSAGE, fail_on_error=False)
    assert isinstance(failure, FailedPayloadsError)
    assert failure.payload == MESSAGE[0]
    assert client.topics == []
    with pytest.raises(FailedPayloadsError):
        client.send_produce_request(MESSAGE)
    assert client.send_produce_request(MESSAGE) == [ProduceResponsePayload(TOPIC, 0, 0, 0)]


def test_a_removed_leader_is_looked_up_again(client: SimpleClient) -> None:
    client.topics_to_brokers[TopicPartition(TOPIC, 0)] = BrokerMetadata(99, "gone", 9092)
    (failure,) = client.send_produce_request(MESSAGE, fail_on_error=False)
    assert isinstance(failure, FailedPayloadsError)
    assert client.send_produce_request(MESSAGE)[0].error == 0


def test_requests_fail_if_another_thread_closes_the_client(broker: EmbeddedBroker, client: SimpleClient) -> None:
    rule = broker.faults.drop_answers(api="Produce", times=1)
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(client.send_produce_request, MESSAGE, fail_on_error=False)
        assert rule.wait()
        client.close()
        assert isinstance(sent.result()[0], FailedPayloadsError)
    assert client.send_produce_request(MESSAGE)[0].error == 0


def test_broker_errors_are_raised_or_returned(broker: EmbeddedBroker, client: SimpleClient) -> None:
    broker.faults.fail(NotLeaderForPartitionError, api="Produce", times=2)
    (answer,) = client.send_produce_request(MESSAGE, fail_on_error=False)
    assert answer.error == NotLeaderForPartitionError.errno
    assert client.has_metadata_for_topic(TOPIC)
    with pytest.raises(NotLeaderForPartitionError):
        client.send_produce_request(MESSAGE)
    assert not client.has_metadata_for_topic(TOPIC)


def test_unknown_partition(client: SimpleClient) -> None:
    wanted = [FetchRequestPayload(TOPIC, 7, 0, 100)]
    with pytest.raises(UnknownTopicOrPartitionError):
        client.send_fetch_request(wanted)
    assert isinstance(client.send_fetch_request(wanted, fail_on_error=False)[0], FailedPayloadsError)


def test_duplicate_partitions_are_rejected(client: SimpleClient) -> None:
    with pytest.raises(AssertionError, match="Duplicate ProduceRequestPayloads for topic 0"):
        client.send_produce_request(MESSAGE * 2)


@pytest.mark.parametrize(("given", "sent"), [(0, 0), (1, 1), (-1, -1), (2, -1)])
def test_acks_and_timeout_of_a_produce_request(
    client: SimpleClient, sent_requests: list[Any], given: int, sent: int
) -> None:
    answers = client.send_produce_request(MESSAGE, acks=given, timeout=1234)
    assert answers == ([ProduceResponsePayload(TOPIC, 0, 0, 0)] if sent else [])
    (request,) = [each for each in sent_requests if isinstance(each, ProduceRequest)]
    assert (request.acks, request.timeout_ms) == (sent, 1234)


def test_partitions_of_a_broker_are_fetched_in_one_request(client: SimpleClient, sent_requests: list[Any]) -> None:
    client.ensure_topic_exists("other")
    payloads = [FetchRequestPayload(name, 0, 0, 5000) for name in (TOPIC, "other")]
    answers = client.send_fetch_request(payloads, max_wait_time=12, min_bytes=34, callback=lambda each: each.topic)
    assert answers == [TOPIC, "other"]
    (request,) = [each for each in sent_requests if isinstance(each, FetchRequest)]
    assert (request.max_wait_ms, request.min_bytes) == (12, 34)
    assert {each.partitions[0].partition_max_bytes for each in request.topics} == {5000}


def test_a_payload_without_messages_gets_a_response(client: SimpleClient) -> None:
    assert client.send_produce_request([ProduceRequestPayload(TOPIC, 0, [])]) == [
        ProduceResponsePayload(TOPIC, 0, 0, -1)
    ]


def test_a_request_is_retried_after_the_coordinator_moves(broker: EmbeddedBroker, client: SimpleClient) -> None:
    rule = broker.faults.fail(16, api="OffsetFetch", times=1)
    (answer,) = client.send_offset_fetch_request_kafka("group", [OffsetFetchRequestPayload(TOPIC, 0)])
    assert (answer.error, rule.hits) == (0, 1)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry immediately while a topic is being created, as often as with pauses."""
    monkeypatch.setattr(payload_requests, "_CREATION_PAUSES_S", (0.0,) * len(payload_requests._CREATION_PAUSES_S))
    monkeypatch.setattr(simple_client, "_CREATION_PAUSE_S", 0.0)


@pytest.mark.usefixtures("no_pauses")
def test_a_topic_that_is_not_created() -> None:
    with EmbeddedBroker(auto_create_topics=False) as broker:
        client = SimpleClient(broker.bootstrap_servers)
        with pytest.raises(UnknownTopicOrPartitionError):
            client.load_metadata_for_topics("missing")
        with pytest.raises(UnknownTopicOrPartitionError):
            client.ensure_topic_exists("missing")
        client.close()


@pytest.mark.usefixtures("no_pauses")
def test_a_topic_without_a_leader(broker: EmbeddedBroker, client: SimpleClient) -> None:
    rule = broker.faults.fail(5, api="Metadata")
    with pytest.raises(KafkaTimeoutError):
        client.ensure_topic_exists("another", timeout=0.01)
    rule.remove()
    client.ensure_topic_exists("another")


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("error", [LeaderNotAvailableError, UnknownTopicOrPartitionError])
def test_topic_errors_are_raised_for_named_topics_and_otherwise_logged(
    broker: EmbeddedBroker, client: SimpleClient, caplog: pytest.LogCaptureFixture, error: type[BrokerResponseError]
) -> None:
    rule = broker.faults.fail(error, api="Metadata")
    with pytest.raises(error, match=TOPIC):
        client.load_metadata_for_topics(TOPIC)
    caplog.clear()
    client.load_metadata_for_topics()
    assert f"Error loading topic metadata for {TOPIC}: {error}" in caplog.text
    assert client.topics == []
    if error is LeaderNotAvailableError:
        client.load_metadata_for_topics(TOPIC, ignore_leadernotavailable=True)
    else:
        with pytest.raises(error):
            client.load_metadata_for_topics(TOPIC, ignore_leadernotavailable=True)
    rule.remove()
    client.load_metadata_for_topics()
    assert client.topics == [TOPIC]


def test_partition_errors_are_not_topic_errors(
    client: SimpleClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    codes = {0: 5, 1: 9, 2: 3}
    partitions = [(code, number, -1 if code == 5 else 1, [1], [1]) for number, code in codes.items()]
    answer = MetadataResponse[0]([(1, "host", 9092)], [(0, TOPIC, partitions)])
    monkeypatch.setattr(client, "send_metadata_request", lambda topics: answer)
    client.load_metadata_for_topics(TOPIC)
    assert client.get_partition_ids_for_topic(TOPIC) == [0, 1, 2]
    leaders = [client.topics_to_brokers[TopicPartition(TOPIC, number)] for number in codes]
    assert leaders == [None, (1, "host", 9092), (1, "host", 9092)]
    assert f"No leader for topic {TOPIC} partition 0" in caplog.text


def test_a_copy_has_the_same_metadata_and_its_own_connections(broker: EmbeddedBroker, client: SimpleClient) -> None:
    for copy in (client.copy(), pickle.loads(pickle.dumps(client))):
        assert copy.topic_partitions == client.topic_partitions
        assert copy.topic_partitions is not client.topic_partitions
        copy.reinit()
        client.close()
        assert copy.send_produce_request(MESSAGE)[0].error == 0
        copy.close()
    assert client.send_produce_request(MESSAGE)[0].offset == 2


def test_it_reconnects_to_a_restarted_broker(broker: EmbeddedBroker, client: SimpleClient) -> None:
    broker.restart()
    found: list[Any] = []
    while not found:  # the first attempts may find the connection broken
        try:
            found = client.send_produce_request(MESSAGE)
        except (FailedPayloadsError, KafkaUnavailableError):
            continue
    assert found[0].error == 0


@pytest.mark.parametrize("use", ["itself", "a copy", "a copy, with reinit()"])
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_forked_child_opens_its_own_connections(client: SimpleClient, use: str) -> None:
    copy = client.copy() if use != "itself" else client
    child = os.fork()
    if not child:
        status = 1
        try:
            if "reinit" in use:
                copy.reinit()
            status = copy.send_produce_request(MESSAGE)[0].error
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert client.send_produce_request(MESSAGE) == [ProduceResponsePayload(TOPIC, 0, 0, 1)]


def test_it_warns_when_created(broker: EmbeddedBroker) -> None:
    with pytest.warns(DeprecationWarning, match="SimpleClient is deprecated: use KafkaProducer") as caught:
        SimpleClient(broker.bootstrap_servers).close()
    assert caught[0].filename == __file__


def test_metadata_have_the_names_of_0_9_and_the_order_of_1_0(client: SimpleClient) -> None:
    partition: Any = client.topic_partitions[TOPIC][0]
    assert partition == partition.leader
    assert (partition.topic, partition.partition, partition.error) == (TOPIC, 0, 0)
    assert partition.leader in partition.replicas
    assert partition.leader in partition.isr
    with pytest.raises(AttributeError, match="'LeaderId' object has no attribute 'host'"):
        partition.host  # noqa: B018
    assert pickle.loads(pickle.dumps(partition)).isr == partition.isr
    answer: Any = client.send_metadata_request([TOPIC])
    ((error, topic, partitions),) = answer.topics
    assert (answer.topics[0].error, answer.topics[0].topic) == (error, topic) == (0, TOPIC)
    assert partitions[0] == (0, 0, partition, partition.replicas, partition.isr)
    assert partitions[0].leader == answer.brokers[0].nodeId


@pytest.mark.parametrize(("time_ms", "most", "offsets"), [(-1, 1, (3,)), (-1, 10, (3, 0)), (-2, 10, (0,))])
def test_offsets_of_brokers_before_0_10_1_are_returned_unchanged(time_ms: int, most: int, offsets: Any) -> None:
    segments = {-1: [3, 0], -2: [0]}

    def ask(payloads: list[Any], api: Any) -> list[Any]:
        request = api.request(payloads, 0)
        (asked,) = request.topics[0].partitions
        found = segments[asked.timestamp][: asked.max_num_offsets]
        part = ListOffsetsPartitionResponse(partition_index=0, old_style_offsets=found)
        response = ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=[part])])
        return [make(payloads[0]) for _, _, make in api.answers(response)]

    (answer,) = offsets_before(ask, [OffsetRequestPayload("t", 0, time_ms, most)])
    assert answer.offsets == offsets
