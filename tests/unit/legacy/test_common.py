"""`kafka.common`, `kafka.structs` and `kafka.errors` under the names of all generations."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import pytest

import kafka.common
from kafka import errors, structs
from kafka.consumer.commit.commit_future import CommittedOffset
from kafka.consumer.fetcher import ConsumerRecord
from kafka.producer.future import RecordMetadata

pytestmark = pytest.mark.once

PAYLOADS = {
    "ProduceRequest": ("topic", "partition", "messages"),
    "ProduceResponse": ("topic", "partition", "error", "offset"),
    "FetchRequest": ("topic", "partition", "offset", "max_bytes"),
    "FetchResponse": ("topic", "partition", "error", "highwaterMark", "messages"),
    "OffsetRequest": ("topic", "partition", "time", "max_offsets"),
    "OffsetResponse": ("topic", "partition", "error", "offsets"),
    "OffsetCommitRequest": ("topic", "partition", "offset", "metadata"),
    "OffsetCommitResponse": ("topic", "partition", "error"),
    "OffsetFetchRequest": ("topic", "partition"),
    "OffsetFetchResponse": ("topic", "partition", "offset", "metadata", "error"),
}
OTHERS = {
    "MetadataRequest": ("topics",),
    "MetadataResponse": ("brokers", "topics"),
    "ConsumerMetadataRequest": ("groups",),
    "ConsumerMetadataResponse": ("error", "nodeId", "host", "port"),
    "BrokerMetadata": ("nodeId", "host", "port"),
    "TopicMetadata": ("topic", "error", "partitions"),
    "PartitionMetadata": ("topic", "partition", "leader", "replicas", "isr", "error"),
    "OffsetAndMessage": ("offset", "message"),
    "Message": ("magic", "attributes", "key", "value"),
    "TopicAndPartition": ("topic", "partition"),
    "KafkaMessage": ("topic", "partition", "offset", "key", "value"),
    "RetryOptions": ("limit", "backoff_ms", "retry_on_timeouts"),
}


@pytest.mark.parametrize("name", [*PAYLOADS, *OTHERS])
def test_fields_of_0_9_tuples(name: str) -> None:
    fields = {**PAYLOADS, **OTHERS}[name]
    values = tuple(range(len(fields)))
    made = getattr(kafka.common, name)(*values)
    assert made == values
    assert made._fields == fields
    assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == made
    assert made.__getnewargs__()[: len(values)] == values  # brokers also have a rack
    assert (
        repr(made)
        == f"{type(made).__name__}({', '.join(f'{field}={value}' for field, value in made._asdict().items())})"
    )


@pytest.mark.parametrize("name", PAYLOADS)
def test_tuples_have_both_names(name: str) -> None:
    old = getattr(kafka.common, name)
    assert getattr(kafka.common, f"{name}Payload") is old
    assert getattr(structs, f"{name}Payload") is old


def test_common_combines_structs_and_errors() -> None:
    assert kafka.common.TopicPartition is kafka.common.TopicAndPartition is structs.TopicPartition
    assert kafka.common.OffsetAndMetadata is structs.OffsetAndMetadata
    assert kafka.common.KafkaError is errors.KafkaError
    assert kafka.common.check_error is errors.check_error
    assert kafka.common.x is errors.UnknownTopicOrPartitionError


def test_broker_metadata_of_1_0_has_three_items_and_a_rack() -> None:
    broker = kafka.common.BrokerMetadata(1, "host", 9092, "a")
    node, host, port = broker
    assert (node, host, port, broker.rack) == (1, "host", 9092, "a")
    assert pickle.loads(pickle.dumps(broker)).rack == "a"
    assert broker._replace(port=9093).port == 9093


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (2, ("InvalidMessageError", "CorruptRecordException", "ChecksumError")),
        (3, ("UnknownTopicOrPartition",)),
        (13, ("StaleLeaderEpochCodeError",)),
        (14, ("OffsetsLoadInProgressCode", "GroupLoadInProgressError")),
        (15, ("ConsumerCoordinatorNotAvailableCode", "GroupCoordinatorNotAvailableError")),
        (16, ("NotCoordinatorForConsumerCode", "NotCoordinatorForGroupError")),
        (33, ("AuthenticationMethodNotSupported",)),
        (58, ("AuthenticationFailedError",)),
    ],
)
def test_aliases_of_an_error_are_the_same_class(code: int, names: tuple[str, ...]) -> None:
    for name in names:
        assert getattr(kafka.common, name) is errors.for_code(code)


@pytest.mark.parametrize("name", ["ConsumerFetchSizeTooSmall", "ConsumerNoMoreData", "ConsumerTimeout"])
def test_errors_of_old_consumers_are_kafka_errors(name: str) -> None:
    with pytest.raises(errors.KafkaError, match="why"):
        raise getattr(errors, name)("why")


def test_errors_of_old_producers_contain_the_failed_messages() -> None:
    failed = errors.FailedPayloadsError("payload", "why")
    full = errors.AsyncProducerQueueFull(["message"], "why")
    assert (failed.payload, failed.args) == ("payload", ("why",))
    assert (full.failed_msgs, full.args) == (["message"], ("why",))
    assert pickle.loads(pickle.dumps(failed)).payload == "payload"
    assert pickle.loads(pickle.dumps(full)).failed_msgs == ["message"]


def test_a_truncation_error_contains_the_divergent_offsets() -> None:
    where = {structs.TopicPartition("t", 0): structs.OffsetAndMetadata(5)}
    for error in (errors.LogTruncationError(where), pickle.loads(pickle.dumps(errors.LogTruncationError(where)))):
        assert error.divergent_offsets == where
        assert "offset=5" in str(error)


def test_names_of_kafka_python_3_are_at_the_top_level() -> None:
    assert kafka.ConsumerGroupMetadata("g") == ("g", -1, "", None, structs.MemberState.UNJOINED)
    assert kafka.IsolationLevel is kafka.admin.IsolationLevel
    assert kafka.OffsetSpec is kafka.admin.OffsetSpec
    assert kafka.TopicPartitionReplica("t", 0, 1).broker_id == 1
    assert kafka.AsyncConsumerRebalanceListener.__name__ == "AsyncConsumerRebalanceListener"
    names = kafka.__all__
    assert [name for name in names if not hasattr(kafka, name)] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "names"),
    [
        (
            "kafka",
            (
                "BrokerConnection HashedPartitioner KafkaClient KafkaConnection KafkaConsumer KafkaProducer "
                "KeyedProducer MultiProcessConsumer RoundRobinPartitioner SimpleClient SimpleConsumer SimpleProducer "
                "TopicPartition create_gzip_message create_message create_snappy_message"
            ),
        ),
        ("kafka.consumer", "KafkaConsumer MultiProcessConsumer SimpleConsumer"),
        ("kafka.producer", "KafkaProducer KeyedProducer SimpleProducer"),
    ],
)
def test_a_star_import_loads_old_names_and_a_plain_import_does_not(package: str, names: str) -> None:
    code = (
        f"import sys, {package}; assert not [name for name in sys.modules if name.startswith('kafka.legacy')];"
        f"from {package} import *; assert set({names.split()!r}) <= set(globals())"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_check_error_accepts_responses_and_errors_as_in_1_0() -> None:
    answered = structs.ProduceResponsePayload("t", 0, 6, -1)
    with pytest.raises(errors.NotLeaderForPartitionError) as caught:
        errors.check_error(answered)
    assert caught.value.args == (answered,)
    errors.check_error(answered._replace(error=0))
    with pytest.raises(ValueError, match="itself"):
        errors.check_error(ValueError("itself"))


def test_retriable_error_types() -> None:
    for group in ("RETRY_BACKOFF_ERROR_TYPES", "RETRY_REFRESH_ERROR_TYPES"):
        assert set(getattr(kafka.common, group)) <= set(kafka.common.RETRY_ERROR_TYPES)
    assert issubclass(errors.NotLeaderForPartitionError, kafka.common.RETRY_REFRESH_ERROR_TYPES)
    assert not issubclass(errors.OffsetOutOfRangeError, kafka.common.RETRY_ERROR_TYPES)


def test_broker_response_error_has_no_code() -> None:
    base = errors.BrokerResponseError
    assert (base.errno, base.message, base.description) == (None, None, None)
    assert str(base("text")) == "[Error None] BrokerResponseError: text"
    assert str(base()) == "[Error None] BrokerResponseError"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["admin", "structs", "consumer", "producer", "cluster", "coordinator", "serializer"])
def test_import_kafka_provides_submodules(name: str) -> None:
    code = f"import kafka; assert kafka.{name}.__name__ == 'kafka.{name}'; assert {name!r} in dir(kafka)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_current_clients_do_not_load_old_tuples() -> None:
    code = "import sys, kafka.structs; assert not [m for m in sys.modules if 'legacy' in m]"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_tuple_defaults_match_the_specification() -> None:
    assert structs.OffsetAndMetadata(5) == (5, None, None)
    assert structs.OffsetAndTimestamp(5, 1000) == (5, 1000, None)
    assert structs.BrokerMetadata(1, "h", 9092).rack is None
    assert structs.Node(1, "h", 9092).rack is None
    assert structs.RetryOptions() == (3, 1000, True)
    assert structs.PartitionMetadata("t", 0, 1, 5, [1], [1])[-2:] == (None, None)


def test_record_metadata_from_an_offset_only() -> None:
    at = structs.TopicPartition("t", 0)
    expected = ("t", 0, at, 7, None, None, None, None, None)
    for made in (RecordMetadata("t", 0, at, 7), RecordMetadata("t", 0, 7), RecordMetadata("t", 0, offset=7)):
        assert made == expected
        assert (made.topic_partition, made.offset, made.leader_epoch) == (at, 7, None)
        assert pickle.loads(pickle.dumps(made)) == made
    assert repr(RecordMetadata("t", 0, 7)).startswith("RecordMetadata(topic='t', partition=0, topic_partition=")
    assert RecordMetadata("t", 0)._replace(offset=9).offset == 9


def test_record_metadata_as_in_the_specification() -> None:
    """In the specification, the offset is third, and there is a leader epoch."""
    made = RecordMetadata("t", 0, 7, 1000, 5, 1, 2, 3)
    assert made == ("t", 0, ("t", 0), 7, 1000, 5, 1, 2, None)
    assert (made.offset, made.timestamp, made.checksum, made.leader_epoch) == (7, 1000, 5, 3)
    assert RecordMetadata("t", 0, offset=7, leader_epoch=3).leader_epoch == 3
    assert pickle.loads(pickle.dumps(made)).leader_epoch == 3
    assert RecordMetadata("t", 0, None, 7, 1000).offset == 7
    with pytest.raises(TypeError, match="unexpected keyword argument 'invented'"):
        RecordMetadata("t", 0, invented=1)
    with pytest.raises(TypeError, match="multiple values for argument 'offset'"):
        RecordMetadata("t", 0, 7, offset=8)
    with pytest.raises(TypeError, match="takes 7 values after topic and partition, not 8"):
        RecordMetadata("t", 0, *[None] * 8)


def test_records_accept_the_argument_order_of_each_release() -> None:
    values: tuple[Any, ...] = (7, 1000, 0, b"k", b"v")
    made = ConsumerRecord("t", 0, *values)
    assert made == ConsumerRecord(
        topic="t", partition=0, offset=7, timestamp=1000, timestamp_type=0, key=b"k", value=b"v"
    )
    assert (made.headers, made.leader_epoch) == ([], None)
    rest: tuple[Any, ...] = (*values, [("h", b"x")], 5, 1, 2, 3)
    before_2_3, since = ConsumerRecord("t", 0, *rest), ConsumerRecord("t", 0, 9, *rest)
    assert before_2_3 == ("t", 0, None, *rest)
    assert since == ("t", 0, 9, *rest)
    assert (since.offset, since.leader_epoch, since.serialized_header_size) == (7, 9, 3)
    assert ConsumerRecord("t", 0, *rest[:-1], leader_epoch=9).leader_epoch == 9


@pytest.mark.parametrize("given", [structs.OffsetAndMetadata(0), structs.OffsetAndMetadata(0, "", -1)])
def test_committed_offset_equals_what_was_committed(given: structs.OffsetAndMetadata) -> None:
    committed = CommittedOffset(structs.OffsetAndMetadata(0, "", -1))
    assert committed
    assert committed == given
    assert given == committed
    assert committed == 0
    assert list(committed) == [0, "", -1]
    assert committed != given._replace(metadata="other")
