"""What is told of transactions and of the producers that write to a partition (KIP-664)."""

from enum import Enum
from typing import NamedTuple

from kafka.admin.enum_names import EnumHelper
from kafka.structs import TopicPartition


class TransactionState(EnumHelper, str, Enum):  # noqa: UP042  # its text is kafka-python's
    """The states of a transaction."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"
    UNKNOWN = "Unknown"


class TransactionListing(NamedTuple):
    """A transactional id, its producer id, and its state.

    Arguments:
        transactional_id: as the producer is configured.
        producer_id: the producer that has the id at present.
        state: how far its transaction is.
    """

    transactional_id: str
    producer_id: int
    state: TransactionState


class TransactionDescription(NamedTuple):
    """All about a transactional id; times are in milliseconds, the start since 1970, or -1.

    Arguments:
        coordinator_id: the broker that coordinates it.
        state: how far it is.
        producer_id: the producer that has the id at present.
        producer_epoch: the producer's.
        transaction_timeout_ms: after how long the brokers abort it.
        transaction_start_time_ms: when it began.
        topic_partitions: what it has written to.
    """

    coordinator_id: int
    state: TransactionState
    producer_id: int
    producer_epoch: int
    transaction_timeout_ms: int
    transaction_start_time_ms: int
    topic_partitions: set[TopicPartition]


class FencedProducer(NamedTuple):
    """What a transactional id has after its producers were fenced: a producer that begins now has a later epoch.

    Arguments:
        producer_id: what a producer of this transactional id gets.
        producer_epoch: those with an earlier one are refused.
    """

    producer_id: int
    producer_epoch: int


class ProducerState(NamedTuple):
    """A producer that has written to a partition; -1 where there is none.

    Arguments:
        producer_id: the id that the cluster gave it.
        producer_epoch: the last one seen.
        last_sequence: the number of its last record in this partition.
        last_timestamp: of its last batch, in milliseconds since 1970.
        coordinator_epoch: of the coordinator that ended its last transaction.
        current_transaction_start_offset: where its open transaction begins.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    current_transaction_start_offset: int


class PartitionProducerState(NamedTuple):
    """The producers that have written to a partition lately.

    Arguments:
        active_producers: a `ProducerState` each.
    """

    active_producers: list[ProducerState]


class AbortTransactionSpec(NamedTuple):
    """The transaction to abort in a partition; the coordinator's epoch -1 is not checked.

    Arguments:
        topic_partition: the partition.
        producer_id: the producer that has begun it.
        producer_epoch: the producer's.
        coordinator_epoch: the transaction coordinator's.
    """

    topic_partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int = -1
