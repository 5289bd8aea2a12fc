"""Transactions: list, describe and abort them, and find hanging ones (KIP-664)."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

from kafka._loop_services import wall_clock_ns
from kafka.admin.admin_requests import AdminRequests, gather
from kafka.admin.enums import EnumHelper, answered_member
from kafka.admin.routing import (
    CoordinatorRoute,
    EachBroker,
    Outcome,
    Route,
    ask_each,
    ask_leaders,
    by_topic,
    values_or_raise,
)
from kafka.errors import TransactionalIdNotFoundError
from kafka.structs import TopicPartition
from kafka.wire.api.describe_producers import DescribeProducersRequest, TopicRequest
from kafka.wire.api.describe_transactions import DescribeTransactionsRequest
from kafka.wire.api.init_producer_id import InitProducerIdRequest
from kafka.wire.api.list_transactions import ListTransactionsRequest
from kafka.wire.api.write_txn_markers import WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest


class TransactionState(EnumHelper, str, Enum):  # noqa: UP042  # its text is kafka-python's
    """The states of a transaction, as its coordinator reports them (KIP-664). Java: ``TransactionState``."""

    EMPTY = "Empty"
    """The transactional id has had no transaction yet."""
    ONGOING = "Ongoing"
    """A transaction is open."""
    PREPARE_COMMIT = "PrepareCommit"
    """The transaction is committed; partitions still lack its markers."""
    PREPARE_ABORT = "PrepareAbort"
    """The transaction is aborted; partitions still lack its markers."""
    COMPLETE_COMMIT = "CompleteCommit"
    """The last transaction was committed; all partitions have its markers."""
    COMPLETE_ABORT = "CompleteAbort"
    """The last transaction was aborted; all partitions have its markers."""
    DEAD = "Dead"
    """The transactional id has expired and is being removed."""
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"
    """The coordinator is about to abort the transaction, and to fence its producer."""
    UNKNOWN = "Unknown"
    """A state that this release does not know."""


class TransactionListing(NamedTuple):
    """A transactional id with its producer id and state.

    Arguments:
        transactional_id: the producer's ``transactional_id``.
        producer_id: id of its current producer.
        state: state of its transaction.
    """

    transactional_id: str
    producer_id: int
    state: TransactionState


class TransactionDescription(NamedTuple):
    """The state of a transactional id. Times are in milliseconds; the start time counts from 1970, or is -1.

    Arguments:
        coordinator_id: the id of the transaction coordinator.
        state: state of the transaction.
        producer_id: id of the current producer.
        producer_epoch: epoch of that producer.
        transaction_timeout_ms: time after which the brokers abort the transaction.
        transaction_start_time_ms: start time of the transaction.
        topic_partitions: partitions to which the transaction has written.
    """

    coordinator_id: int
    state: TransactionState
    producer_id: int
    producer_epoch: int
    transaction_timeout_ms: int
    transaction_start_time_ms: int
    topic_partitions: set[TopicPartition]


class FencedProducer(NamedTuple):
    """The producer id and epoch of a transactional id whose producers were fenced. New producers get a later epoch.

    Arguments:
        producer_id: the producer id for this transactional id.
        producer_epoch: the new epoch; producers with an earlier epoch are rejected.
    """

    producer_id: int
    producer_epoch: int


class ProducerState(NamedTuple):
    """A producer that has written to a partition. Missing values are -1.

    Arguments:
        producer_id: id that the cluster assigned to the producer.
        producer_epoch: its latest epoch.
        last_sequence: sequence number of its last record in this partition.
        last_timestamp: timestamp of its last batch, in milliseconds since 1970.
        coordinator_epoch: epoch of the coordinator that ended its last transaction.
        current_transaction_start_offset: first offset of its open transaction.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    current_transaction_start_offset: int


class PartitionProducerState(NamedTuple):
    """The producers that have recently written to a partition.

    Arguments:
        active_producers: a `ProducerState` for each producer.
    """

    active_producers: list[ProducerState]


class AbortTransactionSpec(NamedTuple):
    """The transaction to abort in a partition. A coordinator epoch of -1 is not checked.

    Arguments:
        topic_partition: the partition.
        producer_id: id of the producer that began the transaction.
        producer_epoch: epoch of that producer.
        coordinator_epoch: epoch of the transaction coordinator.
    """

    topic_partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int = -1


_DURATION_SINCE = 1
_PATTERN_SINCE = 2
_SLACK_MS = 5 * 60 * 1000
"""A transaction is hanging if it has been open for this much longer than the broker allows, as in Kafka's own tool."""
_OPEN = (
    TransactionState.ONGOING,
    TransactionState.PREPARE_COMMIT,
    TransactionState.PREPARE_ABORT,
    TransactionState.PREPARE_EPOCH_FENCE,
    TransactionState.UNKNOWN,
)


async def list_transactions(
    requests: AdminRequests,
    broker_ids: list[int] | None,
    producer_ids: list[int],
    states: list[str],
    duration_ms: int | None,
    pattern: str | None,
    raise_errors: bool = True,
) -> dict[int, list[TransactionListing]]:
    """See `KafkaAdminClient.list_transactions`."""
    request = ListTransactionsRequest(
        state_filters=states,
        producer_id_filters=producer_ids,
        duration_filter=-1 if duration_ms is None else duration_ms,
        transactional_id_pattern=pattern,
    )
    version = 0 if duration_ms is None else _DURATION_SINCE
    if pattern is not None:
        version = _PATTERN_SINCE

    def read(response: Any, node_id: int) -> Outcome:
        listed = [
            TransactionListing(
                each.transactional_id, each.producer_id, answered_member(TransactionState, each.transaction_state)
            )
            for each in response.transaction_states
        ]
        return Outcome(node_id, response.error_code, None, listed)

    async def ask(node_id: int, _: list[int]) -> list[Outcome]:
        return [read(await requests.cluster.send(node_id, request, min_version=version), node_id)]

    nodes = await requests.broker_ids(broker_ids)
    found = await ask_each(requests, "listing the transactions of broker", nodes, EachBroker(), ask)
    return values_or_raise(found, raise_errors)


async def describe_transactions(
    requests: AdminRequests, transactional_ids: list[str], raise_errors: bool = True
) -> dict[str, Any]:
    """See `KafkaAdminClient.describe_transactions`."""

    async def ask(node_id: int, ids: list[str]) -> list[Outcome]:
        response = await requests.cluster.send(node_id, DescribeTransactionsRequest(transactional_ids=ids))
        return [
            Outcome(each.transactional_id, each.error_code, None, _description(node_id, each))
            for each in response.transaction_states
        ]

    found = await ask_each(requests, "transactional id", transactional_ids, _coordinators(requests), ask)
    return values_or_raise(found, raise_errors)


def _coordinators(requests: AdminRequests) -> Route[str]:
    return CoordinatorRoute(requests, "transaction", requests.options.request_timeout_ms)


async def fence_producers(
    requests: AdminRequests, transactional_ids: list[str], timeout_ms: int | None, raise_errors: bool
) -> dict[str, FencedProducer]:
    """See `KafkaAdminClient.fence_producers`."""

    async def fence(node_id: int, transactional_id: str) -> Outcome:
        limit_ms = requests.limit_ms(timeout_ms)
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=limit_ms)
        answer = await requests.cluster.send(node_id, request)
        fenced = FencedProducer(answer.producer_id, answer.producer_epoch)
        return Outcome(transactional_id, answer.error_code, None, fenced)

    async def ask(node_id: int, ids: list[str]) -> list[Outcome]:
        return await gather(fence(node_id, each) for each in ids)

    route = _coordinators(requests)
    found = await ask_each(requests, "fencing the producers of", transactional_ids, route, ask, timeout_ms=timeout_ms)
    return values_or_raise(found, raise_errors)


def _description(coordinator_id: int, told: Any) -> TransactionDescription:
    return TransactionDescription(
        coordinator_id,
        answered_member(TransactionState, told.transaction_state),
        told.producer_id,
        told.producer_epoch,
        told.transaction_timeout_ms,
        told.transaction_start_time_ms,
        {TopicPartition(topic.topic, partition) for topic in told.topics for partition in topic.partitions},
    )


async def describe_producers(
    requests: AdminRequests, partitions: list[TopicPartition], broker_id: int | None, raise_errors: bool = True
) -> dict[TopicPartition, PartitionProducerState]:
    """See `KafkaAdminClient.describe_producers`."""

    def make_request(led: Sequence[TopicPartition]) -> DescribeProducersRequest:
        topics = [TopicRequest(name=topic, partition_indexes=indexes) for topic, indexes in by_topic(led).items()]
        return DescribeProducersRequest(topics=topics)

    found = await ask_leaders(
        requests, "describing the producers of", partitions, make_request, _producers, leader_id=broker_id
    )
    return values_or_raise(found, raise_errors)


def _producers(response: Any) -> Iterable[Outcome]:
    for topic in response.topics:
        for each in topic.partitions:
            producers = [
                ProducerState(
                    one.producer_id,
                    one.producer_epoch,
                    one.last_sequence,
                    one.last_timestamp,
                    one.coordinator_epoch,
                    one.current_txn_start_offset,
                )
                for one in each.active_producers
            ]
            tp = TopicPartition(topic.name, each.partition_index)
            yield Outcome(tp, each.error_code, each.error_message, PartitionProducerState(producers))


async def abort_transaction(requests: AdminRequests, spec: AbortTransactionSpec) -> None:
    """See `KafkaAdminClient.abort_transaction`."""
    topic, partition = spec.topic_partition
    marker = WritableTxnMarker(
        producer_id=spec.producer_id,
        producer_epoch=spec.producer_epoch,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[partition])],
        coordinator_epoch=spec.coordinator_epoch,
    )

    def outcomes(response: Any) -> Iterable[Outcome]:
        for each in response.markers:
            for answered in each.topics:
                for one in answered.partitions:
                    yield Outcome(TopicPartition(answered.name, one.partition_index), one.error_code, None, None)

    request = WriteTxnMarkersRequest(markers=[marker])
    values_or_raise(
        await ask_leaders(requests, "aborting a transaction in", [spec.topic_partition], lambda _: request, outcomes)
    )


async def find_hanging_transactions(
    requests: AdminRequests, broker_ids: list[int] | None, max_timeout_ms: int
) -> list[dict[str, Any]]:
    """See `KafkaAdminClient.find_hanging_transactions`."""
    listed = await list_transactions(requests, broker_ids, [], [], None, None)
    ids = sorted({each.transactional_id for listings in listed.values() for each in listings})
    told = await describe_transactions(requests, ids, raise_errors=False)
    gone = {each for each, answer in told.items() if type(answer) is TransactionalIdNotFoundError}
    described = values_or_raise({each: answer for each, answer in told.items() if each not in gone})
    now_ms = wall_clock_ns()() // 1_000_000
    return [
        {
            "transactional_id": transactional_id,
            "producer_id": each.producer_id,
            "producer_epoch": each.producer_epoch,
            "state": each.state.value,
            "age_ms": now_ms - each.transaction_start_time_ms,
            "coordinator_id": each.coordinator_id,
            "topic_partitions": sorted(each.topic_partitions),
        }
        for transactional_id, each in described.items()
        if each.state in _OPEN and 0 <= each.transaction_start_time_ms <= now_ms - max_timeout_ms - _SLACK_MS
    ]
