"""Every error of the clients, in one tree whose classes carry their meaning as data.

``errno`` is Kafka's error code, ``message`` its name, ``description`` what it says; ``retriable`` tells whether the
same request may succeed later, ``invalid_metadata`` whether the client's picture of the cluster has to be refreshed
first. Names are those of kafka-python, from its oldest generation to its newest. What a peer did wrong
(`KafkaProtocolError`, `BrokerResponseError`) and what the caller did wrong (`KafkaConfigurationError`,
`IllegalStateError`, `IllegalArgumentError`) are different types.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar


class KafkaError(RuntimeError):
    """The root of all errors raised here."""

    retriable: ClassVar[bool] = False
    invalid_metadata: ClassVar[bool] = False
    about_record: ClassVar[bool] = True
    """Whether the record is to blame where a deserializer raises it; else ``on_deserialization_error`` leaves it be."""

    def __str__(self) -> str:
        return BaseException.__str__(self) or type(self).__name__  # not KeyError's, which some are as well

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KafkaError):
            return NotImplemented
        return type(self) is type(other) and self.args == other.args

    def __hash__(self) -> int:
        return hash((type(self), self.args))


class RetriableError(KafkaError):
    """The same operation may succeed when it is tried again."""

    retriable: ClassVar[bool] = True


class InvalidMetadataError(RetriableError):
    """It may succeed once the cluster's metadata have been refreshed."""

    invalid_metadata: ClassVar[bool] = True


class Cancelled(RetriableError):
    """The operation was cancelled before it had finished."""


class CommitFailedError(KafkaError):
    """An offset commit came too late: the group has rebalanced and given the partitions to another member."""

    def __init__(self, *args: object) -> None:
        advice = (
            "the offsets were not committed, because the group has rebalanced and this member's partitions may belong "
            "to another one now; this happens when the time between two calls of poll() exceeds max_poll_interval_ms: "
            "raise that, or process fewer records a call (max_poll_records)"
        )
        super().__init__(*(args or (advice,)))


class RetriableCommitFailedError(RetriableError):
    """An offset commit failed for a cause that passes, and was not tried again, as that might undo a newer one: commit
    the present positions. Java: ``RetriableCommitFailedException``."""


class IllegalArgumentError(KafkaError, ValueError):
    """An argument that the operation cannot work with."""


class IllegalArgumentTypeError(IllegalArgumentError, TypeError):
    """An argument of a type that the operation cannot work with: a `TypeError` as well, as in kafka-python 3."""


class UnknownNameError(IllegalArgumentError, KeyError):
    """A name that stands for nothing, such as that of a kind of resource: a `KeyError` as well, as in kafka-python."""


class IllegalStateError(KafkaError):
    """The object is in a state in which this operation is not allowed."""


class WakeupError(KafkaError):
    """`wakeup()` has ended a `poll()` or an iteration: nothing was handed out, and the next call goes on.

    Java: ``WakeupException``.
    """


class AssertedArgumentError(IllegalArgumentError, AssertionError):
    """An illegal argument that kafka-python asserts not to be: an `AssertionError` as well."""


class AssertedStateError(IllegalStateError, AssertionError):
    """A state that kafka-python asserts not to be in: an `AssertionError` as well."""


class AssertedTypeError(TypeError, AssertionError):
    """Something is of a type that kafka-python 2 asserts it not to be: a `TypeError` (3) and an `AssertionError`."""


class NothingSubscribedError(AssertedStateError, ValueError):
    """`subscribe()` without topics and without a pattern: an `AssertionError` (kafka-python 2) and `ValueError` (3)."""


class PartitionNotAssignedError(AssertedStateError, KeyError, ValueError):
    """The partition is not assigned to this consumer.

    kafka-python has an `AssertionError`, `KeyError` or `ValueError` here, by call and version; this is all of them.
    """


class IncompatibleBrokerVersion(KafkaError):
    """The broker is too old for what was asked."""


class KafkaConfigurationError(KafkaError, ValueError):
    """A client option, or a combination of them, that is not valid."""


class KafkaConnectionError(InvalidMetadataError):
    """No connection to a broker, or the connection was lost."""


class KafkaProtocolError(KafkaError):
    """The peer did not follow Kafka's protocol."""


class WireFormatError(KafkaProtocolError, ValueError):
    """Bytes that are not the message they should be, or a value that does not fit the field it is meant for."""


class CorrelationIdError(RetriableError, KafkaProtocolError):
    """A response carries another correlation id than the request in its place."""


class InvalidReceiveError(KafkaProtocolError):
    """A frame with a size that cannot be right."""


class KafkaTimeoutError(RetriableError):
    """The time allowed for the operation is up."""


class NoBrokersAvailable(KafkaTimeoutError):
    """None of the bootstrap servers could be reached; the message names each address and what it answered."""

    invalid_metadata: ClassVar[bool] = True


class BootstrapTimeoutError(NoBrokersAvailable):
    """Bootstrapping took longer than it may."""


class MetadataEmptyBrokerList(RetriableError):
    """A broker answered with an empty list of brokers."""


class NodeNotReadyError(RetriableError):
    """The connection to the broker is not ready to take the request."""


class StaleMetadata(InvalidMetadataError):
    """The metadata at hand are known to be out of date."""


class TooManyInFlightRequests(RetriableError):
    """As many requests are waiting for an answer on the connection as it may have."""


class QuotaViolationError(KafkaError):
    """A quota of the client's own metrics was exceeded."""


class UnknownBrokerIdError(KafkaError):
    """There is no broker of this id in the metadata."""


class UnrecognizedBrokerVersion(KafkaError):
    """The version of the broker could not be told."""


class UnsupportedCodecError(KafkaError):
    """The kind of compression is not known here."""


class NoOffsetForPartitionError(KafkaError):
    """A partition has neither a committed offset nor a reset policy to start from.

    Its argument is the list of partitions, as in kafka-python.

    Attributes:
        group_id: the group that has committed none; None: there is no group.
    """

    def __init__(self, *args: object, group_id: str | None = None) -> None:
        super().__init__(*args)
        self.group_id = group_id

    def __str__(self) -> str:
        partitions = self.args[0] if self.args else None
        if not isinstance(partitions, list):
            return super().__str__()
        where = _named(f"partition {tp.partition} of topic {tp.topic!r}" for tp in partitions)
        known = "there is no group" if self.group_id is None else f"group {self.group_id!r} has committed no offset"
        return (
            f"no offset to start from in {where}: {known}, and auto_offset_reset is 'none'; seek(), commit an offset, "
            "or set auto_offset_reset='earliest' or 'latest'"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self.args, {"group_id": self.group_id}


class LogTruncationError(KafkaError):
    """The log was cut back below the consumer's position after a leader failed (KIP-320).

    Attributes:
        divergent_offsets: by partition, the `OffsetAndMetadata` to seek back to; None where the broker knows none.
        positions: by partition, the `OffsetAndMetadata` that it had been read up to, with the leader epoch before
            that; empty where it is not known.
    """

    def __init__(self, divergent_offsets: object, *args: object, positions: object = None) -> None:
        super().__init__(*(args or (f"the logs of these partitions were cut back: {divergent_offsets}",)))
        self.divergent_offsets = divergent_offsets
        self.positions = {} if positions is None else positions

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.divergent_offsets, *self.args), {"positions": self.positions}


class TopicRecreatedError(KafkaError):
    """Topics were deleted and created again while they were read, and ``on_topic_recreated`` is 'raise'.

    `poll()` raises it once for each time that this happens. The next one reads the new topics from their beginning,
    unless the program seeks.

    Attributes:
        topics: the names of the topics.
        positions: by partition, the offset up to which the deleted topic had been read.
    """

    def __init__(self, topics: Iterable[str], *args: object, positions: Mapping[Any, int] | None = None) -> None:
        self.topics = frozenset(topics)
        named = ", ".join(map(repr, sorted(self.topics)))
        text = (
            f"deleted and created again while it was read: topic {named}. The next poll() reads the new topic from its "
            "beginning; seek() first to read elsewhere. on_topic_recreated='reset' does so without this error"
        )
        super().__init__(*(args or (text,)))
        self.positions = dict(positions or {})

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.topics, *self.args), {"positions": self.positions}


class RecordDeserializationError(KafkaError):
    """A deserializer raised, and what it raised is the ``__cause__``. Java: ``RecordDeserializationException``.

    It is of the type of the cause as well, where that is possible, as kafka-python raises the cause itself.

    The position stays at the record, so the next `poll()` raises again;
    ``seek(error.topic_partition, error.offset + 1)`` leads past it, and so does the option
    ``on_deserialization_error``, by itself. docs/DELIVERY.md has a recipe for dead letters.

    It is not raised while a schema registry does not answer: that is a `SchemaRegistryConnectionError`, and the record
    comes again.

    Arguments:
        topic_partition: where the record is, a `TopicPartition`.
        offset: its offset.
        part: "key" or "value".
        why: what the deserializer had to say.
        record: the record as it was fetched: key and value are bytes or None (KIP-1036).
        advice: what can be done, for the text; None: seek past it.
        schema_id: of the schema that the value names; None where it names none.
        field: the path of the field that is to blame, such as ``items[3].price``; None: the value as a whole.

    A share consumer releases the record, and goes on behind it.
    """

    def __init__(
        self,
        topic_partition: Any,
        offset: int,
        part: str,
        why: str,
        record: Any = None,
        advice: str | None = None,
        schema_id: int | None = None,
        field: str | None = None,
    ) -> None:
        advice = advice or f"seek to {offset + 1} to leave it out"
        super().__init__(
            f"the {part} of the record at offset {offset} of partition {topic_partition.partition} of topic "
            f"{topic_partition.topic!r} could not be deserialized: {why}; {advice}"
        )
        self.topic_partition = topic_partition
        self.offset = offset
        self.part = part
        self.record = record
        self.schema_id = schema_id
        self.field = field

    def __reduce__(self) -> tuple[object, ...]:
        """Leave the type of the cause behind: its class is made where it is raised."""
        names = ("topic_partition", "offset", "part", "record", "schema_id", "field")
        state = {name: getattr(self, name) for name in names}
        return _record_error, self.args, state


def _record_error(text: str) -> RecordDeserializationError:
    """What `RecordDeserializationError.__reduce__` names; the attributes are set afterwards."""
    return RecordDeserializationError.__new__(RecordDeserializationError, text)


class TransactionFatalError(KafkaError):
    """A transactional producer cannot go on: close it, and make a new one.

    `TransactionAbortableError` says that the transaction has to be aborted, after which the producer goes on;
    `ProducerFencedError`, which is one of these, that another producer with the same `transactional_id` has taken over.
    """


class TransactionAbortedError(KafkaError):
    """The record was not sent because its transaction was aborted."""

    message: ClassVar[str] = "The record was not sent, as its transaction was aborted."


class RecordPurgedError(KafkaError):
    """The record was dropped by `purge()` of its producer before it was acknowledged. librdkafka: ``_PURGE_QUEUE``."""

    message: ClassVar[str] = "The record was dropped by purge()."


class BufferUnderflowError(WireFormatError):
    """A message ends before a value that has to be in it."""


class ConsumerFetchSizeTooSmall(KafkaError):
    """The first message of what was fetched is larger than what was asked for (kafka-python 0.9 and 1.x)."""


class ConsumerNoMoreData(KafkaError):
    """There is nothing to read (kafka-python 0.9 and 1.x)."""


class ConsumerTimeout(KafkaError):
    """No message came within the time that the consumer may wait (kafka-python 0.9 and 1.x)."""


class IterationTimeout(ConsumerTimeout, StopIteration):
    """No record came in time for `KafkaConsumer.next()`: what 0.9 raised there and what later generations raised."""


class FailedPayloadsError(KafkaError):
    """A payload could not be sent, or was not answered (kafka-python 0.9 and 1.x).

    Attributes:
        payload: the payload.
    """

    def __init__(self, payload: object, *args: object) -> None:
        super().__init__(*args)
        self.payload = payload

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.payload, *self.args)


class AsyncProducerQueueFull(KafkaError):
    """The queue of a producer that sends in its own thread is full (kafka-python 0.9 and 1.x).

    Attributes:
        failed_msgs: the messages that found no room.
    """

    def __init__(self, failed_msgs: object, *args: object) -> None:
        super().__init__(*args)
        self.failed_msgs = failed_msgs

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.failed_msgs, *self.args)


class ForkedClientError(IllegalStateError):
    """The client was made before the process forked; make a new one in the child."""


class BrokerResponseError(KafkaError):
    """An error code in a broker's response; only classes that stand for a code have the three attributes."""

    errno: ClassVar[int] = None  # type: ignore[assignment]
    message: ClassVar[str] = None  # type: ignore[assignment]
    description: ClassVar[str] = None  # type: ignore[assignment]

    def __str__(self) -> str:
        text = RuntimeError.__str__(self) or self.description
        head = f"[Error {self.errno}] {type(self).__name__}"
        return f"{head}: {text}" if text else head


class AuthorizationError(BrokerResponseError):
    """The principal is not allowed to do what was asked."""


class UnknownError(BrokerResponseError):
    errno = -1
    message = "UNKNOWN"
    description = "The broker failed in a way it has no error code for; its log says more."


def _named(places: Iterable[str]) -> str:
    """A few of them, and how many more there are."""
    listed = list(places)
    more = f" and {len(listed) - 5:,} more" if len(listed) > 5 else ""
    return ", ".join(listed[:5]) + more


def _between(offsets: tuple[int, int] | None) -> str:
    if offsets is None:
        return ""
    first, end = offsets
    return f" (it has {first} to {end - 1})" if end > first else f" (it is empty, and the next record gets {end})"


class NoError(BrokerResponseError):
    errno = 0
    message = "NO_ERROR"
    description = "The request succeeded."


class OffsetOutOfRangeError(BrokerResponseError):
    """Where a consumer raises it, its argument is a dict from partition to offset, as in kafka-python.

    Attributes:
        ranges: by partition, the first offset that there is and the one after the last; empty where it is not known.
    """

    errno = 1
    message = "OFFSET_OUT_OF_RANGE"
    description = "The offset lies outside what the broker still holds of the partition."

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.ranges: dict[Any, tuple[int, int]] = {}

    def __str__(self) -> str:
        offsets = self.args[0] if self.args else None
        if not isinstance(offsets, Mapping):
            return super().__str__()
        where = _named(
            f"partition {tp.partition} of topic {tp.topic!r} has no offset {offset}{_between(self.ranges.get(tp))}"
            for tp, offset in offsets.items()
        )
        return (
            f"[Error {self.errno}] {type(self).__name__}: {where}; there is no reset policy "
            "(auto_offset_reset='none'): seek(), seek_to_beginning() or seek_to_end(), or set "
            "auto_offset_reset='earliest' or 'latest'"
        )


class CorruptRecordError(BrokerResponseError):
    errno = 2
    message = "CORRUPT_MESSAGE"
    description = (
        "A record failed its checksum, is too large, has a null key on a compacted topic, or is otherwise damaged."
    )


class DecompressionLimitError(CorruptRecordError):
    """A batch has more bytes of records, decompressed, than the client allows: damage, or an attack, or a low limit.

    Attributes:
        topic: where the batch is.
        partition: likewise.
        offset: the first one of the batch.
        limit: how many bytes the records of a batch may have.
    """

    def __init__(self, *args: object, topic: str = "", partition: int = -1, offset: int = -1, limit: int = -1) -> None:
        super().__init__(*args)
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.limit = limit


class UnknownTopicOrPartitionError(InvalidMetadataError, BrokerResponseError):
    errno = 3
    message = "UNKNOWN_TOPIC_OR_PARTITION"
    description = "This broker does not host the topic or partition."


class InvalidFetchRequestError(BrokerResponseError):
    errno = 4
    message = "INVALID_FETCH_SIZE"
    description = "The fetch size asked for is not valid."


class LeaderNotAvailableError(InvalidMetadataError, BrokerResponseError):
    errno = 5
    message = "LEADER_NOT_AVAILABLE"
    description = "The partition has no leader at the moment: an election is under way."


class NotLeaderForPartitionError(InvalidMetadataError, BrokerResponseError):
    errno = 6
    message = "NOT_LEADER_FOR_PARTITION"
    description = "The broker asked is not, or no longer, the leader of the partition."


class RequestTimedOutError(RetriableError, BrokerResponseError):
    errno = 7
    message = "REQUEST_TIMED_OUT"
    description = "The broker could not finish the request within the time it was given."


class BrokerNotAvailableError(BrokerResponseError):
    errno = 8
    message = "BROKER_NOT_AVAILABLE"
    description = "The broker is not available."


class ReplicaNotAvailableError(InvalidMetadataError, BrokerResponseError):
    errno = 9
    message = "REPLICA_NOT_AVAILABLE"
    description = "The replica asked for is not available on this broker."


class MessageSizeTooLargeError(BrokerResponseError):
    errno = 10
    message = "MESSAGE_SIZE_TOO_LARGE"
    description = "The record or batch is larger than the largest the broker accepts."


class StaleControllerEpochError(BrokerResponseError):
    errno = 11
    message = "STALE_CONTROLLER_EPOCH"
    description = "The controller has moved to another broker."


class OffsetMetadataTooLargeError(BrokerResponseError):
    errno = 12
    message = "OFFSET_METADATA_TOO_LARGE"
    description = "The metadata string of an offset commit is longer than the broker allows."


class NetworkExceptionError(InvalidMetadataError, BrokerResponseError):
    errno = 13
    message = "NETWORK_EXCEPTION"
    description = "The broker was cut off before it had answered."


class CoordinatorLoadInProgressError(RetriableError, BrokerResponseError):
    errno = 14
    message = "COORDINATOR_LOAD_IN_PROGRESS"
    description = "The coordinator is still loading its state and cannot answer yet."


class CoordinatorNotAvailableError(RetriableError, BrokerResponseError):
    errno = 15
    message = "COORDINATOR_NOT_AVAILABLE"
    description = "There is no coordinator at the moment, or its internal topic is not there yet."


class NotCoordinatorError(RetriableError, BrokerResponseError):
    errno = 16
    message = "NOT_COORDINATOR"
    description = "The broker asked is not the coordinator for this group or transactional id."


class InvalidTopicError(BrokerResponseError):
    errno = 17
    message = "INVALID_TOPIC"
    description = "The topic name is not legal, or the topic may not be used this way."


class RecordListTooLargeError(BrokerResponseError):
    errno = 18
    message = "RECORD_LIST_TOO_LARGE"
    description = "The batch is larger than one log segment of the broker."


class NotEnoughReplicasError(RetriableError, BrokerResponseError):
    errno = 19
    message = "NOT_ENOUGH_REPLICAS"
    description = "Fewer replicas are in sync than min.insync.replicas; nothing was written."


class NotEnoughReplicasAfterAppendError(RetriableError, BrokerResponseError):
    errno = 20
    message = "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
    description = "The records were written, but on fewer in-sync replicas than min.insync.replicas."


class InvalidRequiredAcksError(BrokerResponseError):
    errno = 21
    message = "INVALID_REQUIRED_ACKS"
    description = "acks has to be 0, 1 or -1 (all)."


class IllegalGenerationError(BrokerResponseError):
    errno = 22
    message = "ILLEGAL_GENERATION"
    description = "The generation of the member is not the group's present one."


class InconsistentGroupProtocolError(BrokerResponseError):
    errno = 23
    message = "INCONSISTENT_GROUP_PROTOCOL"
    description = "The member has no assignment protocol, or no protocol type, in common with the group."


class InvalidGroupIdError(BrokerResponseError):
    errno = 24
    message = "INVALID_GROUP_ID"
    description = "The group id is empty or not legal."


class UnknownMemberIdError(BrokerResponseError):
    errno = 25
    message = "UNKNOWN_MEMBER_ID"
    description = "The coordinator does not know this member (any more)."


class InvalidSessionTimeoutError(BrokerResponseError):
    errno = 26
    message = "INVALID_SESSION_TIMEOUT"
    description = (
        "The session timeout is outside group.min.session.timeout.ms to group.max.session.timeout.ms of the broker."
    )


class RebalanceInProgressError(BrokerResponseError):
    errno = 27
    message = "REBALANCE_IN_PROGRESS"
    description = "The group is rebalancing: members have to join again."


class InvalidCommitOffsetSizeError(BrokerResponseError):
    errno = 28
    message = "INVALID_COMMIT_OFFSET_SIZE"
    description = "The offset commit is too large for the broker to store."


class TopicAuthorizationFailedError(AuthorizationError):
    errno = 29
    message = "TOPIC_AUTHORIZATION_FAILED"
    description = "The principal may not do this to the topic."


class GroupAuthorizationFailedError(AuthorizationError):
    errno = 30
    message = "GROUP_AUTHORIZATION_FAILED"
    description = "The principal may not use this group."


class ClusterAuthorizationFailedError(AuthorizationError):
    errno = 31
    message = "CLUSTER_AUTHORIZATION_FAILED"
    description = "The principal may not do this to the cluster."


class InvalidTimestampError(BrokerResponseError):
    errno = 32
    message = "INVALID_TIMESTAMP"
    description = "The record's timestamp is too far from the broker's clock for the topic's settings."


class UnsupportedSaslMechanismError(BrokerResponseError):
    errno = 33
    message = "UNSUPPORTED_SASL_MECHANISM"
    description = "The broker does not offer this SASL mechanism."


class IllegalSaslStateError(BrokerResponseError):
    errno = 34
    message = "ILLEGAL_SASL_STATE"
    description = "The request does not fit the state of the SASL exchange."


class UnsupportedVersionError(IncompatibleBrokerVersion, BrokerResponseError):
    errno = 35
    message = "UNSUPPORTED_VERSION"
    description = "One side does not support this version of the request, or a field that was set."


class TopicAlreadyExistsError(BrokerResponseError):
    errno = 36
    message = "TOPIC_ALREADY_EXISTS"
    description = "There is a topic of this name already."


class InvalidPartitionsError(BrokerResponseError):
    errno = 37
    message = "INVALID_PARTITIONS"
    description = "The number of partitions is not valid; it can only grow."


class InvalidReplicationFactorError(BrokerResponseError):
    errno = 38
    message = "INVALID_REPLICATION_FACTOR"
    description = "The replication factor is below 1 or above the number of brokers."


class InvalidReplicationAssignmentError(BrokerResponseError):
    errno = 39
    message = "INVALID_REPLICATION_ASSIGNMENT"
    description = "The assignment of replicas to brokers is not valid."


class InvalidConfigurationError(BrokerResponseError):
    errno = 40
    message = "INVALID_CONFIG"
    description = "A configuration value is not valid."


class NotControllerError(RetriableError, BrokerResponseError):
    errno = 41
    message = "NOT_CONTROLLER"
    description = "The broker asked is not the controller."


class InvalidRequestError(BrokerResponseError):
    errno = 42
    message = "INVALID_REQUEST"
    description = "The broker finds the request contradictory or malformed."


class UnsupportedForMessageFormatError(BrokerResponseError):
    errno = 43
    message = "UNSUPPORTED_FOR_MESSAGE_FORMAT"
    description = "The record format stored for this topic cannot do what was asked."


class PolicyViolationError(BrokerResponseError):
    errno = 44
    message = "POLICY_VIOLATION"
    description = "A policy set up on the cluster forbids the request."


class OutOfOrderSequenceNumberError(BrokerResponseError):
    errno = 45
    message = "OUT_OF_ORDER_SEQUENCE_NUMBER"
    description = "A batch's sequence number does not follow the last one the broker has from this producer."


class DuplicateSequenceNumberError(BrokerResponseError):
    errno = 46
    message = "DUPLICATE_SEQUENCE_NUMBER"
    description = "The broker has this batch already."


class InvalidProducerEpochError(BrokerResponseError):
    errno = 47
    message = "INVALID_PRODUCER_EPOCH"
    description = "A producer with the same id and a newer epoch has taken over."


class InvalidTxnStateError(BrokerResponseError):
    errno = 48
    message = "INVALID_TXN_STATE"
    description = "The transaction is in a state that does not allow this operation."


class InvalidProducerIdMappingError(BrokerResponseError):
    errno = 49
    message = "INVALID_PRODUCER_ID_MAPPING"
    description = "The producer id is not the one that belongs to this transactional id."


class InvalidTransactionTimeoutError(BrokerResponseError):
    errno = 50
    message = "INVALID_TRANSACTION_TIMEOUT"
    description = "The transaction timeout is longer than transaction.max.timeout.ms of the broker."


class ConcurrentTransactionsError(RetriableError, BrokerResponseError):
    errno = 51
    message = "CONCURRENT_TRANSACTIONS"
    description = "The previous transaction of this producer is still being completed."


class TransactionCoordinatorFencedError(BrokerResponseError):
    errno = 52
    message = "TRANSACTION_COORDINATOR_FENCED"
    description = "The transaction coordinator that sent the request has been replaced."


class TransactionalIdAuthorizationFailedError(AuthorizationError):
    errno = 53
    message = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
    description = "The principal may not use this transactional id."


class SecurityDisabledError(BrokerResponseError):
    errno = 54
    message = "SECURITY_DISABLED"
    description = "Security features are switched off on the cluster."


class OperationNotAttemptedError(BrokerResponseError):
    errno = 55
    message = "OPERATION_NOT_ATTEMPTED"
    description = "The operation was left out because another one in the same request failed."


class KafkaStorageError(InvalidMetadataError, BrokerResponseError):
    errno = 56
    message = "KAFKA_STORAGE_ERROR"
    description = "The broker could not reach its log on disk."


class LogDirNotFoundError(BrokerResponseError):
    errno = 57
    message = "LOG_DIR_NOT_FOUND"
    description = "The log folder named is not in the broker's configuration."


class SaslAuthenticationFailedError(BrokerResponseError):
    errno = 58
    message = "SASL_AUTHENTICATION_FAILED"
    description = "The broker refused the credentials."


class UnknownProducerIdError(BrokerResponseError):
    errno = 59
    message = "UNKNOWN_PRODUCER_ID"
    description = "The broker has no state left for this producer id: its records have all been deleted."


class ReassignmentInProgressError(BrokerResponseError):
    errno = 60
    message = "REASSIGNMENT_IN_PROGRESS"
    description = "A reassignment of partitions is under way."


class DelegationTokenAuthDisabledError(BrokerResponseError):
    errno = 61
    message = "DELEGATION_TOKEN_AUTH_DISABLED"
    description = "Delegation tokens are switched off on the cluster."


class DelegationTokenNotFoundError(BrokerResponseError):
    errno = 62
    message = "DELEGATION_TOKEN_NOT_FOUND"
    description = "There is no such delegation token."


class DelegationTokenOwnerMismatchError(BrokerResponseError):
    errno = 63
    message = "DELEGATION_TOKEN_OWNER_MISMATCH"
    description = "The delegation token belongs to another principal."


class DelegationTokenRequestNotAllowedError(BrokerResponseError):
    errno = 64
    message = "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"
    description = "Delegation tokens cannot be asked for over this kind of connection."


class DelegationTokenAuthorizationFailedError(AuthorizationError):
    errno = 65
    message = "DELEGATION_TOKEN_AUTHORIZATION_FAILED"
    description = "The principal may not use this delegation token."


class DelegationTokenExpiredError(BrokerResponseError):
    errno = 66
    message = "DELEGATION_TOKEN_EXPIRED"
    description = "The delegation token has expired."


class InvalidPrincipalTypeError(BrokerResponseError):
    errno = 67
    message = "INVALID_PRINCIPAL_TYPE"
    description = "The type of the principal is not supported."


class NonEmptyGroupError(BrokerResponseError):
    errno = 68
    message = "NON_EMPTY_GROUP"
    description = "The group still has members."


class GroupIdNotFoundError(BrokerResponseError):
    errno = 69
    message = "GROUP_ID_NOT_FOUND"
    description = "There is no such group."


class FetchSessionIdNotFoundError(RetriableError, BrokerResponseError):
    errno = 70
    message = "FETCH_SESSION_ID_NOT_FOUND"
    description = "The broker no longer knows the fetch session."


class InvalidFetchSessionEpochError(RetriableError, BrokerResponseError):
    errno = 71
    message = "INVALID_FETCH_SESSION_EPOCH"
    description = "The epoch of the fetch session is not the one the broker expects."


class ListenerNotFoundError(InvalidMetadataError, BrokerResponseError):
    errno = 72
    message = "LISTENER_NOT_FOUND"
    description = "The leader has no listener that matches the one the metadata was asked over."


class TopicDeletionDisabledError(BrokerResponseError):
    errno = 73
    message = "TOPIC_DELETION_DISABLED"
    description = "Deleting topics is switched off on the cluster."


class FencedLeaderEpochError(InvalidMetadataError, BrokerResponseError):
    errno = 74
    message = "FENCED_LEADER_EPOCH"
    description = "The leader epoch sent is older than the broker's."


class UnknownLeaderEpochError(InvalidMetadataError, BrokerResponseError):
    errno = 75
    message = "UNKNOWN_LEADER_EPOCH"
    description = "The leader epoch sent is newer than the broker's."


class UnsupportedCompressionTypeError(BrokerResponseError):
    errno = 76
    message = "UNSUPPORTED_COMPRESSION_TYPE"
    description = "The receiver cannot handle this kind of compression."


class StaleBrokerEpochError(BrokerResponseError):
    errno = 77
    message = "STALE_BROKER_EPOCH"
    description = "The epoch of the broker has changed."


class OffsetNotAvailableError(RetriableError, BrokerResponseError):
    errno = 78
    message = "OFFSET_NOT_AVAILABLE"
    description = "A new leader does not know its high watermark yet, so it cannot give offsets."


class MemberIdRequiredError(BrokerResponseError):
    errno = 79
    message = "MEMBER_ID_REQUIRED"
    description = "The member has to join again with the id that it was just given."


class PreferredLeaderNotAvailableError(InvalidMetadataError, BrokerResponseError):
    errno = 80
    message = "PREFERRED_LEADER_NOT_AVAILABLE"
    description = "The preferred leader is not available."


class GroupMaxSizeReachedError(BrokerResponseError):
    errno = 81
    message = "GROUP_MAX_SIZE_REACHED"
    description = "The group has as many members as the broker allows."


class FencedInstanceIdError(BrokerResponseError):
    errno = 82
    message = "FENCED_INSTANCE_ID"
    description = "Another member with the same group.instance.id has taken over."


class EligibleLeadersNotAvailableError(InvalidMetadataError, BrokerResponseError):
    errno = 83
    message = "ELIGIBLE_LEADERS_NOT_AVAILABLE"
    description = "No replica that may become leader is available."


class ElectionNotNeededError(InvalidMetadataError, BrokerResponseError):
    errno = 84
    message = "ELECTION_NOT_NEEDED"
    description = "The partition has the right leader already."


class NoReassignmentInProgressError(BrokerResponseError):
    errno = 85
    message = "NO_REASSIGNMENT_IN_PROGRESS"
    description = "No reassignment of this partition is under way."


class GroupSubscribedToTopicError(BrokerResponseError):
    errno = 86
    message = "GROUP_SUBSCRIBED_TO_TOPIC"
    description = "Offsets of a topic cannot be deleted while the group is subscribed to it."


class InvalidRecordError(BrokerResponseError):
    errno = 87
    message = "INVALID_RECORD"
    description = "The broker's checks rejected a record of the batch."


class UnstableOffsetCommitError(RetriableError, BrokerResponseError):
    errno = 88
    message = "UNSTABLE_OFFSET_COMMIT"
    description = "There are offsets of the group that an open transaction has not committed yet."


class ThrottlingQuotaExceededError(RetriableError, BrokerResponseError):
    errno = 89
    message = "THROTTLING_QUOTA_EXCEEDED"
    description = "A quota of the cluster is used up for now."


class ProducerFencedError(TransactionFatalError, BrokerResponseError):
    errno = 90
    message = "PRODUCER_FENCED"
    description = "A newer producer with the same transactional id has taken over."


class ResourceNotFoundError(BrokerResponseError):
    errno = 91
    message = "RESOURCE_NOT_FOUND"
    description = "What the request refers to does not exist."


class DuplicateResourceError(BrokerResponseError):
    errno = 92
    message = "DUPLICATE_RESOURCE"
    description = "The request names the same thing twice."


class UnacceptableCredentialError(BrokerResponseError):
    errno = 93
    message = "UNACCEPTABLE_CREDENTIAL"
    description = "The credential does not meet the broker's rules."


class InconsistentVoterSetError(BrokerResponseError):
    errno = 94
    message = "INCONSISTENT_VOTER_SET"
    description = "The sender is not among the voters, or the voter sets differ."


class InvalidUpdateVersionError(BrokerResponseError):
    errno = 95
    message = "INVALID_UPDATE_VERSION"
    description = "The version of the update is not valid."


class FeatureUpdateFailedError(BrokerResponseError):
    errno = 96
    message = "FEATURE_UPDATE_FAILED"
    description = "The finalized features could not be updated."


class PrincipalDeserializationFailureError(BrokerResponseError):
    errno = 97
    message = "PRINCIPAL_DESERIALIZATION_FAILURE"
    description = "The principal of a forwarded request could not be read."


class SnapshotNotFoundError(BrokerResponseError):
    errno = 98
    message = "SNAPSHOT_NOT_FOUND"
    description = "There is no such snapshot."


class PositionOutOfRangeError(BrokerResponseError):
    errno = 99
    message = "POSITION_OUT_OF_RANGE"
    description = "The position is not inside the snapshot."


class UnknownTopicIdError(InvalidMetadataError, BrokerResponseError):
    errno = 100
    message = "UNKNOWN_TOPIC_ID"
    description = "This broker does not know the topic id."


class DuplicateBrokerRegistrationError(BrokerResponseError):
    errno = 101
    message = "DUPLICATE_BROKER_REGISTRATION"
    description = "A broker with this id is registered already."


class BrokerIdNotRegisteredError(BrokerResponseError):
    errno = 102
    message = "BROKER_ID_NOT_REGISTERED"
    description = "No broker with this id is registered."


class InconsistentTopicIdError(InvalidMetadataError, BrokerResponseError):
    errno = 103
    message = "INCONSISTENT_TOPIC_ID"
    description = "The topic id of the log is not the one of the request."


class InconsistentClusterIdError(BrokerResponseError):
    errno = 104
    message = "INCONSISTENT_CLUSTER_ID"
    description = "The cluster id of the request is not this cluster's."


class TransactionalIdNotFoundError(BrokerResponseError):
    errno = 105
    message = "TRANSACTIONAL_ID_NOT_FOUND"
    description = "There is no such transactional id."


class FetchSessionTopicIdError(RetriableError, BrokerResponseError):
    errno = 106
    message = "FETCH_SESSION_TOPIC_ID_ERROR"
    description = "The fetch session mixes topic ids and topic names."


class IneligibleReplicaError(BrokerResponseError):
    errno = 107
    message = "INELIGIBLE_REPLICA"
    description = "The replica may not join the in-sync replicas."


class NewLeaderElectedError(BrokerResponseError):
    errno = 108
    message = "NEW_LEADER_ELECTED"
    description = "The change made another broker the leader."


class OffsetMovedToTieredStorageError(BrokerResponseError):
    errno = 109
    message = "OFFSET_MOVED_TO_TIERED_STORAGE"
    description = "The offset is only in tiered storage now."


class FencedMemberEpochError(BrokerResponseError):
    errno = 110
    message = "FENCED_MEMBER_EPOCH"
    description = "The coordinator has fenced this member's epoch: it has to join anew."


class UnreleasedInstanceIdError(BrokerResponseError):
    errno = 111
    message = "UNRELEASED_INSTANCE_ID"
    description = "Another member of the group still holds this instance id."


class UnsupportedAssignorError(BrokerResponseError):
    errno = 112
    message = "UNSUPPORTED_ASSIGNOR"
    description = "The coordinator does not have the assignor named."


class StaleMemberEpochError(BrokerResponseError):
    errno = 113
    message = "STALE_MEMBER_EPOCH"
    description = "The member's epoch is behind: it has to learn the new one by a heartbeat."


class MismatchedEndpointTypeError(BrokerResponseError):
    errno = 114
    message = "MISMATCHED_ENDPOINT_TYPE"
    description = "The request went to the wrong kind of endpoint."


class UnsupportedEndpointTypeError(BrokerResponseError):
    errno = 115
    message = "UNSUPPORTED_ENDPOINT_TYPE"
    description = "The kind of endpoint is not supported."


class UnknownControllerIdError(BrokerResponseError):
    errno = 116
    message = "UNKNOWN_CONTROLLER_ID"
    description = "There is no controller with this id."


class UnknownSubscriptionIdError(BrokerResponseError):
    errno = 117
    message = "UNKNOWN_SUBSCRIPTION_ID"
    description = "The telemetry subscription has changed."


class TelemetryTooLargeError(BrokerResponseError):
    errno = 118
    message = "TELEMETRY_TOO_LARGE"
    description = "The telemetry pushed is larger than the broker takes."


class InvalidRegistrationError(BrokerResponseError):
    errno = 119
    message = "INVALID_REGISTRATION"
    description = "The controller finds the broker's registration not valid."


class TransactionAbortableError(BrokerResponseError):
    errno = 120
    message = "TRANSACTION_ABORTABLE"
    description = "The transaction met an error and has to be aborted; the producer can go on."


class InvalidRecordStateError(BrokerResponseError):
    errno = 121
    message = "INVALID_RECORD_STATE"
    description = "The record is not in a state in which it can be acknowledged."


class ShareSessionNotFoundError(RetriableError, BrokerResponseError):
    errno = 122
    message = "SHARE_SESSION_NOT_FOUND"
    description = "There is no such share session."


class InvalidShareSessionEpochError(RetriableError, BrokerResponseError):
    errno = 123
    message = "INVALID_SHARE_SESSION_EPOCH"
    description = "The epoch of the share session is not the one expected."


class FencedStateEpochError(BrokerResponseError):
    errno = 124
    message = "FENCED_STATE_EPOCH"
    description = "The share coordinator has a newer state epoch."


class InvalidVoterKeyError(BrokerResponseError):
    errno = 125
    message = "INVALID_VOTER_KEY"
    description = "The voter key is not the receiver's."


class DuplicateVoterError(BrokerResponseError):
    errno = 126
    message = "DUPLICATE_VOTER"
    description = "The voter is among the voters already."


class VoterNotFoundError(BrokerResponseError):
    errno = 127
    message = "VOTER_NOT_FOUND"
    description = "The voter is not among the voters."


class InvalidRegularExpressionError(BrokerResponseError):
    errno = 128
    message = "INVALID_REGULAR_EXPRESSION"
    description = "The regular expression is not valid."


class RebootstrapRequiredError(BrokerResponseError):
    errno = 129
    message = "REBOOTSTRAP_REQUIRED"
    description = "The client's metadata is out of date: it has to bootstrap again."


class StreamsInvalidTopologyError(BrokerResponseError):
    errno = 130
    message = "STREAMS_INVALID_TOPOLOGY"
    description = "The topology sent is not valid."


class StreamsInvalidTopologyEpochError(BrokerResponseError):
    errno = 131
    message = "STREAMS_INVALID_TOPOLOGY_EPOCH"
    description = "The epoch of the topology is not valid."


class StreamsTopologyFencedError(BrokerResponseError):
    errno = 132
    message = "STREAMS_TOPOLOGY_FENCED"
    description = "The epoch of the topology is out of date."


class ShareSessionLimitReachedError(RetriableError, BrokerResponseError):
    errno = 133
    message = "SHARE_SESSION_LIMIT_REACHED"
    description = "The broker has as many share sessions as it allows."


# Other names of the same errors, from other generations.
CorruptRecordException = CorruptRecordError
InvalidMessageError = CorruptRecordError
ChecksumError = CorruptRecordError
ProtocolError = KafkaProtocolError
StaleLeaderEpochCodeError = NetworkExceptionError
AuthenticationFailedError = SaslAuthenticationFailedError
AuthenticationMethodNotSupported = UnsupportedSaslMechanismError
ConnectionError = KafkaConnectionError
KafkaUnavailableError = NoBrokersAvailable
UnknownTopicOrPartition = UnknownTopicOrPartitionError
GroupLoadInProgressError = CoordinatorLoadInProgressError
GroupCoordinatorNotAvailableError = CoordinatorNotAvailableError
NotCoordinatorForGroupError = NotCoordinatorError
UnsupportedCompressionType = UnsupportedCompressionTypeError

# What clients of kafka-python 0.9 and 1.x tried again: after a pause, after new metadata, or both.
RETRY_BACKOFF_ERROR_TYPES = (KafkaUnavailableError, LeaderNotAvailableError, ConnectionError, FailedPayloadsError)
RETRY_REFRESH_ERROR_TYPES = (
    NotLeaderForPartitionError,
    UnknownTopicOrPartitionError,
    LeaderNotAvailableError,
    ConnectionError,
)
RETRY_ERROR_TYPES = RETRY_BACKOFF_ERROR_TYPES + RETRY_REFRESH_ERROR_TYPES


def _with_errno() -> dict[int, type[BrokerResponseError]]:
    found = {}
    todo: list[type[BrokerResponseError]] = [BrokerResponseError]
    while todo:
        for cls in todo.pop().__subclasses__():
            todo.append(cls)
            if "errno" in vars(cls):
                found[cls.errno] = cls
    return found


kafka_errors: dict[int, type[BrokerResponseError]] = _with_errno()


def for_code(error_code: int) -> type[BrokerResponseError]:
    """The class of an error code; an unknown code gives a class of its own below `UnknownError`."""
    known = kafka_errors.get(error_code)
    if known is not None:
        return known
    description = f"The broker answered with error code {error_code}, which is newer than this client."
    return type("UnrecognizedError", (UnknownError,), {"errno": error_code, "description": description})


def error_text(error: BaseException) -> str:
    """An error as people read it who do not write Python: Kafka's name of it in parentheses at the end, no number."""
    if not isinstance(error, BrokerResponseError):
        return str(error)
    name = type(error).__name__
    text = RuntimeError.__str__(error) or error.description
    if not text:
        return name
    return text if name in text else f"{text.removesuffix('.')} ({name})"


def check_error(response: Any, context: str = "") -> None:
    """Raise the error that there is, if any.

    Arguments:
        response: an error code; or an exception, which is raised; or a response whose ``error`` is its code, as
            kafka-python 0.9 and 1.x had them.
        context: what was asked of whom, for the message.
    """
    if isinstance(response, BaseException):
        raise response
    code = response if isinstance(response, int) else response.error
    if not code:
        return
    cls = for_code(code)
    if code is not response:
        raise cls(response)
    raise cls(f"{cls.description} ({context})" if context else cls.description)
