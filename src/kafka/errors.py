"""All client errors, in one class hierarchy. The attributes of a class describe the error.

``errno`` is Kafka's error code, ``message`` its name and ``description`` its meaning. ``retriable`` tells whether the
same request may succeed later, ``invalid_metadata`` whether the client has to refresh its metadata first. Every error
name of any generation of kafka-python is available. Errors caused by a peer (`KafkaProtocolError`,
`BrokerResponseError`) and by the caller (`KafkaConfigurationError`, `IllegalStateError`, `IllegalArgumentError`) have
different types.

To add an error, add a class here with its `remedy` and, if brokers return it, its code, name and description. Its base
classes determine whether it is retried. Then run ``python -m scripts.reference``, which writes docs/ERRORS.md. If the
embedded broker returns the code, add it to `kafka.broker.error_codes.ErrorCode`. If a client has to do anything but
retry or fail, list the error where the client makes that decision, for example in
`kafka.producer.delivery.batch_action`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar


class KafkaError(RuntimeError):
    """Base class of all errors of this package."""

    retriable: ClassVar[bool] = False
    invalid_metadata: ClassVar[bool] = False
    about_record: ClassVar[bool] = True
    """Whether the record is at fault if a deserializer raises this; ``on_deserialization_error`` applies only then."""
    remedy: ClassVar[str] = "Read the message: it says what was expected, and what was found."
    """How to resolve the error, in a sentence or two."""

    def __str__(self) -> str:
        return BaseException.__str__(self) or type(self).__name__  # KeyError.__str__ would add quotes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KafkaError):
            return NotImplemented
        return type(self) is type(other) and self.args == other.args

    def __hash__(self) -> int:
        return hash((type(self), self.args))


class RetriableError(KafkaError):
    """The same operation may succeed if it is retried."""

    retriable: ClassVar[bool] = True
    remedy = (
        "Clients retry this automatically until the call's timeout. If it reaches you, the timeout was "
        "too short, or the cause persists: see the log."
    )


class InvalidMetadataError(RetriableError):
    """The operation may succeed after a metadata refresh."""

    invalid_metadata: ClassVar[bool] = True
    remedy = (
        "Clients retry this automatically until the call's timeout. If it reaches you, check that the "
        "topic exists and has a leader."
    )


class Cancelled(RetriableError):
    """The operation was cancelled before it finished."""

    remedy = "Nothing, if you cancelled the operation."


class CommitFailedError(KafkaError):
    """An offset commit came too late: the group has rebalanced and assigned the partitions to another member."""

    remedy = (
        "Poll more often: use a lower `max_poll_records`, or a higher `max_poll_interval_ms`. The "
        "partition's new owner reads the records since the last commit again."
    )

    def __init__(self, *args: object) -> None:
        advice = (
            "the offsets were not committed, because the group has rebalanced and this member's partitions may belong "
            "to another one now; this happens when the time between two calls of poll() exceeds max_poll_interval_ms: "
            "raise that, or process fewer records a call (max_poll_records)"
        )
        super().__init__(*(args or (advice,)))


class RetriableCommitFailedError(RetriableError):
    """An offset commit failed temporarily. It was not retried, because that could overwrite a newer commit.

    Java: ``RetriableCommitFailedException``.
    """

    remedy = "Commit again, with the consumer's current positions."


class IllegalArgumentError(KafkaError, ValueError):
    """An argument is invalid."""

    remedy = "Correct the argument that the message names."


class IllegalArgumentTypeError(IllegalArgumentError, TypeError):
    """An argument has the wrong type; also a `TypeError`, as in kafka-python 3."""

    remedy = "Pass the argument that the message names in the expected type."


class UnknownNameError(IllegalArgumentError, KeyError):
    """A name is unknown, for example of a resource type; also a `KeyError`, as in kafka-python."""

    remedy = "Use one of the names that the message lists."


class IllegalStateError(KafkaError):
    """The operation is not allowed in the object's current state."""

    remedy = "Do what the message says first. If the client is closed, create a new one."


class WakeupError(KafkaError):
    """`wakeup()` interrupted a `poll()` or an iteration: no records were returned, and the next call continues.

    Java: ``WakeupException``.
    """

    remedy = "Continue, or close the client: `wakeup()` was called to end the wait."


class AssertedArgumentError(IllegalArgumentError, AssertionError):
    """An argument is invalid; also an `AssertionError`, because kafka-python checks it with an assertion."""


class AssertedStateError(IllegalStateError, AssertionError):
    """The state is invalid; also an `AssertionError`, because kafka-python checks it with an assertion."""


class AssertedTypeError(TypeError, AssertionError):
    """An argument has the wrong type: a `TypeError`, as in kafka-python 3, and an `AssertionError`, as in 2."""


class NothingSubscribedError(AssertedStateError, ValueError):
    """`subscribe()` got neither topics nor a pattern: an `AssertionError` (kafka-python 2) and a `ValueError` (3)."""

    remedy = "Pass topics or a pattern to `subscribe()`."


class PartitionNotAssignedError(AssertedStateError, KeyError, ValueError):
    """The partition is not assigned to this consumer.

    kafka-python raises `AssertionError`, `KeyError` or `ValueError`, depending on the call and the version; this class
    inherits from all of them.
    """

    remedy = "Call `assign()`, or `poll()` until the partition is in `assignment()`."


class IncompatibleBrokerVersion(KafkaError):
    """The broker is too old for the operation."""

    remedy = "Upgrade the brokers, or avoid the missing feature; `docs/COMPATIBILITY.md` has a table."


class KafkaConfigurationError(KafkaError, ValueError):
    """A client option, or a combination of options, is invalid."""

    remedy = "Correct the option that the message names; OPTIONS.md lists all options."


class KafkaConnectionError(InvalidMetadataError):
    """The client has no connection to a broker, or lost it."""

    remedy = (
        "Clients retry this automatically until the call's timeout. If it persists, check the address and"
        " the cause in the message; `kafka doctor` tests it."
    )


class KafkaProtocolError(KafkaError):
    """The peer violated Kafka's protocol."""

    remedy = "Check that the port belongs to a broker, and uses this security protocol."


class WireFormatError(KafkaProtocolError, ValueError):
    """Bytes are not a valid message, or a value does not fit its field."""


class CorrelationIdError(RetriableError, KafkaProtocolError):
    """The correlation id of a response does not match its request."""


class InvalidReceiveError(KafkaProtocolError):
    """A received frame has an invalid size."""

    remedy = (
        "Check that the port belongs to a broker, and whether it uses TLS, which a client without TLS "
        "cannot parse. Otherwise, raise `receive_message_max_bytes`."
    )


class KafkaTimeoutError(RetriableError):
    """The operation timed out."""

    remedy = "Raise the call's timeout, or find out what is slow: `client.health()` names it."


class NoBrokersAvailable(KafkaTimeoutError):
    """None of the bootstrap servers could be reached; the message lists each address and its error."""

    invalid_metadata: ClassVar[bool] = True
    remedy = (
        "The message lists each address with its error. Check `bootstrap_servers`, the brokers' "
        "advertised addresses, the port's security protocol, and firewalls."
    )


class BootstrapTimeoutError(NoBrokersAvailable):
    """Bootstrapping timed out."""


class MetadataEmptyBrokerList(RetriableError):
    """A broker answered with an empty list of brokers."""


class NodeNotReadyError(RetriableError):
    """The connection to the broker is not ready for requests."""


class StaleMetadata(InvalidMetadataError):
    """The cached metadata is out of date."""


class TooManyInFlightRequests(RetriableError):
    """The connection has reached its maximum number of unanswered requests."""

    remedy = "Raise `max_in_flight_requests_per_connection`."


class QuotaViolationError(KafkaError):
    """A quota of the client's own metrics was exceeded."""


class UnknownBrokerIdError(KafkaError):
    """The metadata contains no broker with this id."""


class UnrecognizedBrokerVersion(KafkaError):
    """The version of the broker could not be determined."""


class UnsupportedCodecError(KafkaError):
    """The compression codec is unknown to this client."""

    remedy = "A newer client wrote the records: upgrade this package."


class NoOffsetForPartitionError(KafkaError):
    """A partition has neither a committed offset nor a reset policy to start from.

    Its argument is the list of partitions, as in kafka-python.

    Attributes:
        group_id: the group without a committed offset; None: there is no group.
    """

    remedy = "Call `seek()`, commit an offset, or set `auto_offset_reset` to something other than 'none'."

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
    """The log was truncated below the consumer's position after a leader failed (KIP-320).

    Attributes:
        divergent_offsets: by partition, the `OffsetAndMetadata` to seek back to; None if the broker does not know it.
        positions: by partition, the `OffsetAndMetadata` of the position before the truncation, with its leader epoch;
            empty if unknown.
    """

    remedy = (
        "`seek()` to its divergent offsets, or set a reset policy. Records read beyond them are no longer in the log."
    )

    def __init__(self, divergent_offsets: object, *args: object, positions: object = None) -> None:
        super().__init__(*(args or (f"the logs of these partitions were truncated: {divergent_offsets}",)))
        self.divergent_offsets = divergent_offsets
        self.positions = {} if positions is None else positions

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.divergent_offsets, *self.args), {"positions": self.positions}


class TopicRecreatedError(KafkaError):
    """Topics were deleted and recreated while they were consumed, and ``on_topic_recreated`` is 'raise'.

    `poll()` raises it once each time this happens. The next `poll()` reads the new topics from their beginning, unless
    the program seeks.

    Attributes:
        topics: the names of the topics.
        positions: by partition, the position in the deleted topic.
    """

    remedy = (
        "Poll again to read the new topic from its beginning, or `seek()` first. Its `positions` show how"
        " far the deleted topic was read. `on_topic_recreated='reset'` does the same without the error."
    )

    def __init__(self, topics: Iterable[str], *args: object, positions: Mapping[Any, int] | None = None) -> None:
        self.topics = frozenset(topics)
        named = ", ".join(map(repr, sorted(self.topics)))
        text = (
            f"deleted and recreated while it was read: topic {named}. The next poll() reads the new topic from its "
            "beginning; seek() first to read elsewhere. on_topic_recreated='reset' does so without this error"
        )
        super().__init__(*(args or (text,)))
        self.positions = dict(positions or {})

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.topics, *self.args), {"positions": self.positions}


class _Attribute:
    """An attribute stored in the error's `__dict__`; it hides one of a base class, such as `SyntaxError.offset`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, error: KafkaError | None, cls: type) -> Any:
        if error is None:
            return self
        try:
            return error.__dict__[self._name]
        except KeyError:
            raise AttributeError(self._name) from None

    def __set__(self, error: KafkaError, value: Any) -> None:
        error.__dict__[self._name] = value


def _attribute() -> Any:
    """Return an `_Attribute`, typed so that it can be annotated with the type of its value."""
    return _Attribute()


class RecordDeserializationError(KafkaError):
    """A deserializer raised an error, which is the ``__cause__``. Java: ``RecordDeserializationException``.

    If possible, the error is also an instance of the cause's type, because kafka-python raises the cause itself.

    The position stays at the record, so the next `poll()` raises the error again. To skip the record, call
    ``seek(error.topic_partition, error.offset + 1)``, or set the option ``on_deserialization_error`` to skip such
    records automatically. docs/DELIVERY.md has a recipe for dead letters. A share consumer releases the record and
    continues with the next one.

    If a schema registry does not respond, `SchemaRegistryConnectionError` is raised instead, and the record is read
    again.

    Arguments:
        topic_partition: the `TopicPartition` of the record.
        offset: the offset of the record.
        part: "key" or "value".
        why: the deserializer's description of the problem.
        record: the record as it was fetched: key and value are bytes or None (KIP-1036).
        advice: how to proceed, for the message; None: set ``on_deserialization_error``, or seek past the record.
        schema_id: the id of the schema that the value refers to; None if it refers to none.
        field: the path of the invalid field, such as ``items[3].price``; None: the value as a whole.
    """

    remedy = (
        "`seek()` past the record, or set `on_deserialization_error`. Its `record` has the raw bytes; for"
        " dead letters, see DELIVERY.md#records-that-cannot-be-read. If the schema registry is unavailable, "
        "`SchemaRegistryConnectionError` is raised instead, and the record is read again."
    )
    # Repeated here because the cause's class may be another base class that defines these attributes differently.
    retriable: ClassVar[bool] = False
    invalid_metadata: ClassVar[bool] = False
    __str__ = KafkaError.__str__

    topic_partition: Any = _attribute()
    offset: int = _attribute()
    part: str = _attribute()
    record: Any = _attribute()
    schema_id: int | None = _attribute()
    field: str | None = _attribute()

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
        advice = advice or (
            f"set on_deserialization_error='skip' (or a function) to leave such records out, or seek to {offset + 1}"
        )
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
        """Omit the cause's type and attributes: the combined class exists only in the process that raised the error."""
        if "of_cause" not in vars(type(self)):
            return _record_error, (type(self), *self.args), vars(self).copy()
        kept = {name for name, value in vars(RecordDeserializationError).items() if isinstance(value, _Attribute)}
        state = {name: value for name, value in vars(self).items() if name in kept or name == "__notes__"}
        return _record_error, (RecordDeserializationError, *self.args), state


def _record_error(cls: type[RecordDeserializationError], *args: object) -> RecordDeserializationError:
    """Recreate a `RecordDeserializationError` for pickle, which sets its attributes afterwards."""
    return cls.__new__(cls, *args)


class TransactionFatalError(KafkaError):
    """A transactional producer cannot continue: close it and create a new one.

    Of its subclasses, `ProducerFencedError` means that another producer uses the same `transactional_id`. In contrast,
    after a `TransactionAbortableError` the producer can continue once the transaction is aborted.
    """

    remedy = "Close the producer, and create a new one with the same `transactional_id`."


class TransactionAbortedError(KafkaError):
    """The record was not sent because its transaction was aborted."""

    message: ClassVar[str] = "The record was not sent because its transaction was aborted."
    remedy = "Send the records again in the next transaction."


class RecordPurgedError(KafkaError):
    """The producer's `purge()` dropped the record before it was acknowledged. librdkafka: ``_PURGE_QUEUE``."""

    message: ClassVar[str] = "The record was dropped by purge()."
    remedy = "Nothing, if you called `purge()`. The message says whether the record may have been written."


class BufferUnderflowError(WireFormatError):
    """A message ends before a required field."""


class ConsumerFetchSizeTooSmall(KafkaError):
    """The first fetched message is larger than the requested size (kafka-python 0.9 and 1.x)."""


class ConsumerNoMoreData(KafkaError):
    """There is nothing to read (kafka-python 0.9 and 1.x)."""


class ConsumerTimeout(KafkaError):
    """No message arrived within the consumer's timeout (kafka-python 0.9 and 1.x)."""


class IterationTimeout(ConsumerTimeout, StopIteration):
    """No record arrived in time for `KafkaConsumer.next()`; combines the exceptions of all generations."""


class FailedPayloadsError(KafkaError):
    """A payload could not be sent or was not acknowledged (kafka-python 0.9 and 1.x).

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
        failed_msgs: the messages that did not fit.
    """

    def __init__(self, failed_msgs: object, *args: object) -> None:
        super().__init__(*args)
        self.failed_msgs = failed_msgs

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.failed_msgs, *self.args)


class ForkedClientError(IllegalStateError):
    """The client was created before the process forked; create a new one in the child."""

    remedy = "Create clients in the process that uses them, after the fork."


class BrokerResponseError(KafkaError):
    """A broker returned an error code.

    Only classes for a specific code have the attributes ``errno``, ``message`` and ``description``.
    """

    errno: ClassVar[int] = None  # type: ignore[assignment]
    message: ClassVar[str] = None  # type: ignore[assignment]
    description: ClassVar[str] = None  # type: ignore[assignment]
    remedy = "Check the broker's log at the time of the request."

    def __str__(self) -> str:
        text = RuntimeError.__str__(self) or self.description
        head = f"[Error {self.errno}] {type(self).__name__}"
        return f"{head}: {text}" if text else head


class AuthorizationError(BrokerResponseError):
    """The principal is not authorized for the operation."""

    remedy = "Ask an administrator for an ACL that allows it: `create_acls()`, or `kafka-acls.sh`."


class UnknownError(BrokerResponseError):
    errno = -1
    message = "UNKNOWN"
    description = "The broker failed with an error that has no code; see its log."
    remedy = "Check the broker's log at the time of the request."


def _named(places: Iterable[str]) -> str:
    """List the first five places, and say how many more there are."""
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
    remedy = "Nothing."


class OffsetOutOfRangeError(BrokerResponseError):
    """The requested offset is outside the range of offsets in the log.

    If a consumer raises this error, its argument is a dict from partition to offset, as in kafka-python.

    Attributes:
        ranges: by partition, the log's first offset and the offset after its last record; empty if unknown.
    """

    errno = 1
    message = "OFFSET_OUT_OF_RANGE"
    description = "The offset is outside the range of the partition's log."
    remedy = (
        "Call `seek_to_beginning()` or `seek_to_end()`, or set a reset policy. Retention has deleted the "
        "records, or the topic was recreated."
    )

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
    remedy = (
        "`seek()` past the record, and check the broker's disk. When sending: records of compacted topics need a key."
    )


class DecompressionLimitError(CorruptRecordError):
    """A batch is larger after decompression than the client allows, because of corruption, an attack or a low limit.

    Attributes:
        topic: the topic of the batch.
        partition: the partition of the batch.
        offset: the batch's first offset.
        limit: the maximum size of a batch's records in bytes.
    """

    remedy = "Raise `max_decompressed_batch_bytes` if you trust the batch."

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
    remedy = "Create the topic, or correct its name. If you are not allowed to describe topics, an ACL may be missing."


class InvalidFetchRequestError(BrokerResponseError):
    errno = 4
    message = "INVALID_FETCH_SIZE"
    description = "The requested fetch size is invalid."


class LeaderNotAvailableError(InvalidMetadataError, BrokerResponseError):
    errno = 5
    message = "LEADER_NOT_AVAILABLE"
    description = "The partition has no leader at the moment: an election is under way."


class NotLeaderForPartitionError(InvalidMetadataError, BrokerResponseError):
    errno = 6
    message = "NOT_LEADER_FOR_PARTITION"
    description = "The broker is not, or no longer, the leader of the partition."


class RequestTimedOutError(RetriableError, BrokerResponseError):
    errno = 7
    message = "REQUEST_TIMED_OUT"
    description = "The broker did not complete the request within its timeout."
    remedy = (
        "Clients retry this automatically until the call's timeout. If it persists, replicas are lagging;"
        " raise `request_timeout_ms`."
    )


class BrokerNotAvailableError(BrokerResponseError):
    errno = 8
    message = "BROKER_NOT_AVAILABLE"
    description = "The broker is not available."


class ReplicaNotAvailableError(InvalidMetadataError, BrokerResponseError):
    errno = 9
    message = "REPLICA_NOT_AVAILABLE"
    description = "The requested replica is not available on this broker."


class MessageSizeTooLargeError(BrokerResponseError):
    errno = 10
    message = "MESSAGE_SIZE_TOO_LARGE"
    description = "The record or batch is larger than the largest the broker accepts."
    remedy = "Raise the topic's `max.message.bytes`, or send smaller records."


class StaleControllerEpochError(BrokerResponseError):
    errno = 11
    message = "STALE_CONTROLLER_EPOCH"
    description = "The controller has moved to another broker."


class OffsetMetadataTooLargeError(BrokerResponseError):
    errno = 12
    message = "OFFSET_METADATA_TOO_LARGE"
    description = "The metadata string of an offset commit is longer than the broker allows."
    remedy = "Shorten the metadata of the commit."


class NetworkExceptionError(InvalidMetadataError, BrokerResponseError):
    errno = 13
    message = "NETWORK_EXCEPTION"
    description = "The broker disconnected before it answered."


class CoordinatorLoadInProgressError(RetriableError, BrokerResponseError):
    errno = 14
    message = "COORDINATOR_LOAD_IN_PROGRESS"
    description = "The coordinator is still loading its state and cannot answer yet."


class CoordinatorNotAvailableError(RetriableError, BrokerResponseError):
    errno = 15
    message = "COORDINATOR_NOT_AVAILABLE"
    description = "There is currently no coordinator, or its internal topic does not exist yet."
    remedy = (
        "Clients retry this automatically until the call's timeout. If it persists, the cluster's "
        "internal topics lack replicas."
    )


class NotCoordinatorError(RetriableError, BrokerResponseError):
    errno = 16
    message = "NOT_COORDINATOR"
    description = "The broker is not the coordinator of this group or transactional id."


class InvalidTopicError(BrokerResponseError):
    errno = 17
    message = "INVALID_TOPIC"
    description = "The topic name is invalid, or the topic cannot be used this way."
    remedy = "Use letters, digits, `.`, `_` and `-`, at most 249 characters."


class RecordListTooLargeError(BrokerResponseError):
    errno = 18
    message = "RECORD_LIST_TOO_LARGE"
    description = "The batch is larger than one log segment of the broker."
    remedy = "Use a smaller `batch_size`, or a larger `segment.bytes` for the topic."


class NotEnoughReplicasError(RetriableError, BrokerResponseError):
    errno = 19
    message = "NOT_ENOUGH_REPLICAS"
    description = "Fewer replicas are in sync than min.insync.replicas; nothing was written."
    remedy = (
        "Clients retry this automatically until the call's timeout. If it persists, start the brokers "
        "that are down, or lower `min.insync.replicas`."
    )


class NotEnoughReplicasAfterAppendError(RetriableError, BrokerResponseError):
    errno = 20
    message = "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
    description = "The records were written, but on fewer in-sync replicas than min.insync.replicas."


class InvalidRequiredAcksError(BrokerResponseError):
    errno = 21
    message = "INVALID_REQUIRED_ACKS"
    description = "acks must be 0, 1 or -1 (all)."
    remedy = "Set `acks` to 0, 1 or 'all'."


class IllegalGenerationError(BrokerResponseError):
    errno = 22
    message = "ILLEGAL_GENERATION"
    description = "The member's generation is not the group's current one."
    remedy = "The member rejoins automatically. Commits of an older generation fail with `CommitFailedError`."


class InconsistentGroupProtocolError(BrokerResponseError):
    errno = 23
    message = "INCONSISTENT_GROUP_PROTOCOL"
    description = "The member has no assignment protocol, or no protocol type, in common with the group."
    remedy = "Configure all members of the group with a common assignor, and with the same `group_protocol`."


class InvalidGroupIdError(BrokerResponseError):
    errno = 24
    message = "INVALID_GROUP_ID"
    description = "The group id is empty or invalid."
    remedy = "Set a `group_id` that is not empty."


class UnknownMemberIdError(BrokerResponseError):
    errno = 25
    message = "UNKNOWN_MEMBER_ID"
    description = "The coordinator does not know this member, or no longer does."
    remedy = "The member rejoins automatically. If this happens often, `session_timeout_ms` is too short."


class InvalidSessionTimeoutError(BrokerResponseError):
    errno = 26
    message = "INVALID_SESSION_TIMEOUT"
    description = (
        "The session timeout is outside group.min.session.timeout.ms to group.max.session.timeout.ms of the broker."
    )
    remedy = "Set `session_timeout_ms` to a value between the broker's limits."


class RebalanceInProgressError(BrokerResponseError):
    errno = 27
    message = "REBALANCE_IN_PROGRESS"
    description = "The group is rebalancing: members must join again."
    remedy = "Call `poll()`: the member rejoins automatically."


class InvalidCommitOffsetSizeError(BrokerResponseError):
    errno = 28
    message = "INVALID_COMMIT_OFFSET_SIZE"
    description = "The offset commit is too large for the broker to store."


class TopicAuthorizationFailedError(AuthorizationError):
    errno = 29
    message = "TOPIC_AUTHORIZATION_FAILED"
    description = "The principal is not authorized for this operation on the topic."


class GroupAuthorizationFailedError(AuthorizationError):
    errno = 30
    message = "GROUP_AUTHORIZATION_FAILED"
    description = "The principal is not authorized to use this group."


class ClusterAuthorizationFailedError(AuthorizationError):
    errno = 31
    message = "CLUSTER_AUTHORIZATION_FAILED"
    description = "The principal is not authorized for this operation on the cluster."


class InvalidTimestampError(BrokerResponseError):
    errno = 32
    message = "INVALID_TIMESTAMP"
    description = "The record's timestamp is too far from the broker's clock for the topic's settings."
    remedy = "Correct the clock or `timestamp_ms`, or the topic's `message.timestamp.*.max.ms`."


class UnsupportedSaslMechanismError(BrokerResponseError):
    errno = 33
    message = "UNSUPPORTED_SASL_MECHANISM"
    description = "The broker does not offer this SASL mechanism."
    remedy = "Choose one of the broker's mechanisms, which the message lists."


class IllegalSaslStateError(BrokerResponseError):
    errno = 34
    message = "ILLEGAL_SASL_STATE"
    description = "The request is invalid in the current state of the SASL exchange."


class UnsupportedVersionError(IncompatibleBrokerVersion, BrokerResponseError):
    errno = 35
    message = "UNSUPPORTED_VERSION"
    description = "One side does not support this version of the request or a field in it."
    remedy = "Upgrade the brokers, or avoid the missing feature; `docs/COMPATIBILITY.md` has a table."


class TopicAlreadyExistsError(BrokerResponseError):
    errno = 36
    message = "TOPIC_ALREADY_EXISTS"
    description = "A topic with this name already exists."
    remedy = "Nothing, if you only want the topic to exist."


class InvalidPartitionsError(BrokerResponseError):
    errno = 37
    message = "INVALID_PARTITIONS"
    description = "The number of partitions is invalid; it can only grow."
    remedy = "Request more partitions than there are; the number cannot decrease."


class InvalidReplicationFactorError(BrokerResponseError):
    errno = 38
    message = "INVALID_REPLICATION_FACTOR"
    description = "The replication factor is below 1 or above the number of brokers."
    remedy = "Request at most as many replicas as there are brokers."


class InvalidReplicationAssignmentError(BrokerResponseError):
    errno = 39
    message = "INVALID_REPLICATION_ASSIGNMENT"
    description = "The assignment of replicas to brokers is invalid."


class InvalidConfigurationError(BrokerResponseError):
    errno = 40
    message = "INVALID_CONFIG"
    description = "A configuration value is invalid."
    remedy = "Correct the setting that the message names."


class NotControllerError(RetriableError, BrokerResponseError):
    errno = 41
    message = "NOT_CONTROLLER"
    description = "The broker is not the controller."
    remedy = "Clients retry this automatically until the call's timeout. If it persists, the cluster has no controller."


class InvalidRequestError(BrokerResponseError):
    errno = 42
    message = "INVALID_REQUEST"
    description = "The request is contradictory or malformed."


class UnsupportedForMessageFormatError(BrokerResponseError):
    errno = 43
    message = "UNSUPPORTED_FOR_MESSAGE_FORMAT"
    description = "The message format of this topic does not support the operation."


class PolicyViolationError(BrokerResponseError):
    errno = 44
    message = "POLICY_VIOLATION"
    description = "A policy of the cluster forbids the request."
    remedy = "Ask the cluster's administrators for its policies."


class OutOfOrderSequenceNumberError(BrokerResponseError):
    errno = 45
    message = "OUT_OF_ORDER_SEQUENCE_NUMBER"
    description = "A batch's sequence number does not follow the last one the broker has from this producer."
    remedy = "The broker lost earlier records: create a new producer, and check the brokers."


class DuplicateSequenceNumberError(BrokerResponseError):
    errno = 46
    message = "DUPLICATE_SEQUENCE_NUMBER"
    description = "The broker already has this batch."


class InvalidProducerEpochError(BrokerResponseError):
    errno = 47
    message = "INVALID_PRODUCER_EPOCH"
    description = "A producer with the same id and a newer epoch has taken over."
    remedy = "Close this producer: another one with its `transactional_id` has taken over."


class InvalidTxnStateError(BrokerResponseError):
    errno = 48
    message = "INVALID_TXN_STATE"
    description = "The operation is not allowed in the current state of the transaction."
    remedy = "Abort the transaction, or create a new producer."


class InvalidProducerIdMappingError(BrokerResponseError):
    errno = 49
    message = "INVALID_PRODUCER_ID_MAPPING"
    description = "The producer id does not belong to this transactional id."
    remedy = "Create a new producer."


class InvalidTransactionTimeoutError(BrokerResponseError):
    errno = 50
    message = "INVALID_TRANSACTION_TIMEOUT"
    description = "The transaction timeout is longer than transaction.max.timeout.ms of the broker."
    remedy = "Set `transaction_timeout_ms` to at most the broker's `transaction.max.timeout.ms`."


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
    description = "The principal is not authorized to use this transactional id."


class SecurityDisabledError(BrokerResponseError):
    errno = 54
    message = "SECURITY_DISABLED"
    description = "Security features are disabled on the cluster."
    remedy = "Configure an authorizer on the brokers."


class OperationNotAttemptedError(BrokerResponseError):
    errno = 55
    message = "OPERATION_NOT_ATTEMPTED"
    description = "The operation was not attempted because another one in the same request failed."


class KafkaStorageError(InvalidMetadataError, BrokerResponseError):
    errno = 56
    message = "KAFKA_STORAGE_ERROR"
    description = "The broker could not access its log on disk."


class LogDirNotFoundError(BrokerResponseError):
    errno = 57
    message = "LOG_DIR_NOT_FOUND"
    description = "The log directory is not in the broker's configuration."


class SaslAuthenticationFailedError(BrokerResponseError):
    errno = 58
    message = "SASL_AUTHENTICATION_FAILED"
    description = "The broker rejected the credentials."
    remedy = "Check user and password, ticket or token, and the mechanism; the broker's log has the cause."


class UnknownProducerIdError(BrokerResponseError):
    errno = 59
    message = "UNKNOWN_PRODUCER_ID"
    description = "The broker has no state left for this producer id: its records have all been deleted."
    remedy = "Create a new producer."


class ReassignmentInProgressError(BrokerResponseError):
    errno = 60
    message = "REASSIGNMENT_IN_PROGRESS"
    description = "A partition reassignment is in progress."


class DelegationTokenAuthDisabledError(BrokerResponseError):
    errno = 61
    message = "DELEGATION_TOKEN_AUTH_DISABLED"
    description = "Delegation tokens are disabled on the cluster."


class DelegationTokenNotFoundError(BrokerResponseError):
    errno = 62
    message = "DELEGATION_TOKEN_NOT_FOUND"
    description = "The delegation token does not exist."


class DelegationTokenOwnerMismatchError(BrokerResponseError):
    errno = 63
    message = "DELEGATION_TOKEN_OWNER_MISMATCH"
    description = "The delegation token belongs to another principal."


class DelegationTokenRequestNotAllowedError(BrokerResponseError):
    errno = 64
    message = "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"
    description = "Delegation tokens cannot be requested over this kind of connection."


class DelegationTokenAuthorizationFailedError(AuthorizationError):
    errno = 65
    message = "DELEGATION_TOKEN_AUTHORIZATION_FAILED"
    description = "The principal is not authorized to use this delegation token."


class DelegationTokenExpiredError(BrokerResponseError):
    errno = 66
    message = "DELEGATION_TOKEN_EXPIRED"
    description = "The delegation token has expired."
    remedy = "Create a new token."


class InvalidPrincipalTypeError(BrokerResponseError):
    errno = 67
    message = "INVALID_PRINCIPAL_TYPE"
    description = "The type of the principal is not supported."


class NonEmptyGroupError(BrokerResponseError):
    errno = 68
    message = "NON_EMPTY_GROUP"
    description = "The group still has members."
    remedy = "Stop the group's members first."


class GroupIdNotFoundError(BrokerResponseError):
    errno = 69
    message = "GROUP_ID_NOT_FOUND"
    description = "The group does not exist."
    remedy = "Correct the name. Brokers delete groups without members and offsets."


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
    description = "The leader has no listener that matches the one used for the metadata request."


class TopicDeletionDisabledError(BrokerResponseError):
    errno = 73
    message = "TOPIC_DELETION_DISABLED"
    description = "Topic deletion is disabled on the cluster."
    remedy = "Set `delete.topic.enable=true` on the brokers."


class FencedLeaderEpochError(InvalidMetadataError, BrokerResponseError):
    errno = 74
    message = "FENCED_LEADER_EPOCH"
    description = "The leader epoch in the request is older than the broker's."


class UnknownLeaderEpochError(InvalidMetadataError, BrokerResponseError):
    errno = 75
    message = "UNKNOWN_LEADER_EPOCH"
    description = "The leader epoch in the request is newer than the broker's."


class UnsupportedCompressionTypeError(BrokerResponseError):
    errno = 76
    message = "UNSUPPORTED_COMPRESSION_TYPE"
    description = "The receiver does not support this compression type."
    remedy = "Use another `compression_type`: zstd requires brokers from 2.1 on."


class StaleBrokerEpochError(BrokerResponseError):
    errno = 77
    message = "STALE_BROKER_EPOCH"
    description = "The epoch of the broker has changed."


class OffsetNotAvailableError(RetriableError, BrokerResponseError):
    errno = 78
    message = "OFFSET_NOT_AVAILABLE"
    description = "A new leader does not know its high watermark yet, so it cannot return offsets."


class MemberIdRequiredError(BrokerResponseError):
    errno = 79
    message = "MEMBER_ID_REQUIRED"
    description = "The member must rejoin with the member id it just received."
    remedy = "The member rejoins automatically."


class PreferredLeaderNotAvailableError(InvalidMetadataError, BrokerResponseError):
    errno = 80
    message = "PREFERRED_LEADER_NOT_AVAILABLE"
    description = "The preferred leader is not available."


class GroupMaxSizeReachedError(BrokerResponseError):
    errno = 81
    message = "GROUP_MAX_SIZE_REACHED"
    description = "The group has reached its maximum number of members."
    remedy = "Use fewer members, or raise the brokers' `group.max.size`."


class FencedInstanceIdError(BrokerResponseError):
    errno = 82
    message = "FENCED_INSTANCE_ID"
    description = "Another member with the same group.instance.id has taken over."
    remedy = "Give each member a different `group_instance_id`."


class EligibleLeadersNotAvailableError(InvalidMetadataError, BrokerResponseError):
    errno = 83
    message = "ELIGIBLE_LEADERS_NOT_AVAILABLE"
    description = "No eligible leader is available."


class ElectionNotNeededError(InvalidMetadataError, BrokerResponseError):
    errno = 84
    message = "ELECTION_NOT_NEEDED"
    description = "The partition already has the preferred leader."
    remedy = "Nothing."


class NoReassignmentInProgressError(BrokerResponseError):
    errno = 85
    message = "NO_REASSIGNMENT_IN_PROGRESS"
    description = "No reassignment of this partition is in progress."


class GroupSubscribedToTopicError(BrokerResponseError):
    errno = 86
    message = "GROUP_SUBSCRIBED_TO_TOPIC"
    description = "Offsets of a topic cannot be deleted while the group is subscribed to it."
    remedy = "Stop the members that read the topic first."


class InvalidRecordError(BrokerResponseError):
    errno = 87
    message = "INVALID_RECORD"
    description = "The broker's validation rejected a record of the batch."
    remedy = "The message gives the broker's reason, which is often a missing key in a compacted topic."


class UnstableOffsetCommitError(RetriableError, BrokerResponseError):
    errno = 88
    message = "UNSTABLE_OFFSET_COMMIT"
    description = "An open transaction has offsets of the group that are not committed yet."


class ThrottlingQuotaExceededError(RetriableError, BrokerResponseError):
    errno = 89
    message = "THROTTLING_QUOTA_EXCEEDED"
    description = "A quota of the cluster was exceeded."
    remedy = (
        "Clients retry this automatically until the call's timeout. If it persists, make fewer changes at"
        " a time, or raise the quota."
    )


class ProducerFencedError(TransactionFatalError, BrokerResponseError):
    errno = 90
    message = "PRODUCER_FENCED"
    description = "A newer producer with the same transactional id has taken over."
    remedy = (
        "Close this producer: another one with its `transactional_id` has taken over. Use each id in one "
        "producer at a time."
    )


class ResourceNotFoundError(BrokerResponseError):
    errno = 91
    message = "RESOURCE_NOT_FOUND"
    description = "The resource in the request does not exist."


class DuplicateResourceError(BrokerResponseError):
    errno = 92
    message = "DUPLICATE_RESOURCE"
    description = "The request contains the same resource twice."


class UnacceptableCredentialError(BrokerResponseError):
    errno = 93
    message = "UNACCEPTABLE_CREDENTIAL"
    description = "The credential does not meet the broker's requirements."
    remedy = "Read the message: SCRAM requires at least 4,096 iterations."


class InconsistentVoterSetError(BrokerResponseError):
    errno = 94
    message = "INCONSISTENT_VOTER_SET"
    description = "The sender is not among the voters, or the voter sets differ."


class InvalidUpdateVersionError(BrokerResponseError):
    errno = 95
    message = "INVALID_UPDATE_VERSION"
    description = "The version of the update is invalid."


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
    description = "The snapshot does not exist."


class PositionOutOfRangeError(BrokerResponseError):
    errno = 99
    message = "POSITION_OUT_OF_RANGE"
    description = "The position is outside the snapshot."


class UnknownTopicIdError(InvalidMetadataError, BrokerResponseError):
    errno = 100
    message = "UNKNOWN_TOPIC_ID"
    description = "This broker does not know the topic id."


class DuplicateBrokerRegistrationError(BrokerResponseError):
    errno = 101
    message = "DUPLICATE_BROKER_REGISTRATION"
    description = "A broker with this id is already registered."


class BrokerIdNotRegisteredError(BrokerResponseError):
    errno = 102
    message = "BROKER_ID_NOT_REGISTERED"
    description = "No broker with this id is registered."


class InconsistentTopicIdError(InvalidMetadataError, BrokerResponseError):
    errno = 103
    message = "INCONSISTENT_TOPIC_ID"
    description = "The topic id of the log does not match the request."


class InconsistentClusterIdError(BrokerResponseError):
    errno = 104
    message = "INCONSISTENT_CLUSTER_ID"
    description = "The cluster id of the request does not match the cluster."


class TransactionalIdNotFoundError(BrokerResponseError):
    errno = 105
    message = "TRANSACTIONAL_ID_NOT_FOUND"
    description = "The transactional id does not exist."
    remedy = "Correct the name. Brokers forget an unused id after a week."


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
    description = "The coordinator has fenced this member's epoch: it must rejoin."
    remedy = "The member rejoins automatically."


class UnreleasedInstanceIdError(BrokerResponseError):
    errno = 111
    message = "UNRELEASED_INSTANCE_ID"
    description = "Another member of the group still uses this instance id."
    remedy = "Close the other member, or wait until its session ends."


class UnsupportedAssignorError(BrokerResponseError):
    errno = 112
    message = "UNSUPPORTED_ASSIGNOR"
    description = "The coordinator does not support the assignor."
    remedy = "Set `group_remote_assignor` to 'uniform' or 'range', unless the broker has others."


class StaleMemberEpochError(BrokerResponseError):
    errno = 113
    message = "STALE_MEMBER_EPOCH"
    description = "The member's epoch is out of date: it gets the new one with its next heartbeat."
    remedy = "The member receives the new epoch automatically."


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
    description = "No controller has this id."


class UnknownSubscriptionIdError(BrokerResponseError):
    errno = 117
    message = "UNKNOWN_SUBSCRIPTION_ID"
    description = "The telemetry subscription has changed."


class TelemetryTooLargeError(BrokerResponseError):
    errno = 118
    message = "TELEMETRY_TOO_LARGE"
    description = "The pushed telemetry is larger than the broker accepts."


class InvalidRegistrationError(BrokerResponseError):
    errno = 119
    message = "INVALID_REGISTRATION"
    description = "The broker's registration is invalid."


class TransactionAbortableError(BrokerResponseError):
    errno = 120
    message = "TRANSACTION_ABORTABLE"
    description = "The transaction failed and must be aborted; the producer can continue."
    remedy = "Call `abort_transaction()`, then start again with the same producer."


class InvalidRecordStateError(BrokerResponseError):
    errno = 121
    message = "INVALID_RECORD_STATE"
    description = "The record cannot be acknowledged in its current state."
    remedy = "The record's lock has expired, and it is delivered again: acknowledge sooner, or renew the lock."


class ShareSessionNotFoundError(RetriableError, BrokerResponseError):
    errno = 122
    message = "SHARE_SESSION_NOT_FOUND"
    description = "The share session does not exist."


class InvalidShareSessionEpochError(RetriableError, BrokerResponseError):
    errno = 123
    message = "INVALID_SHARE_SESSION_EPOCH"
    description = "The epoch of the share session is not the expected one."


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
    description = "The voter is already in the voter set."


class VoterNotFoundError(BrokerResponseError):
    errno = 127
    message = "VOTER_NOT_FOUND"
    description = "The voter is not in the voter set."


class InvalidRegularExpressionError(BrokerResponseError):
    errno = 128
    message = "INVALID_REGULAR_EXPRESSION"
    description = "The regular expression is invalid."
    remedy = "Correct the pattern: the coordinator uses RE2 syntax."


class RebootstrapRequiredError(BrokerResponseError):
    errno = 129
    message = "REBOOTSTRAP_REQUIRED"
    description = "The client's metadata is out of date: it must bootstrap again."


class StreamsInvalidTopologyError(BrokerResponseError):
    errno = 130
    message = "STREAMS_INVALID_TOPOLOGY"
    description = "The topology sent is invalid."


class StreamsInvalidTopologyEpochError(BrokerResponseError):
    errno = 131
    message = "STREAMS_INVALID_TOPOLOGY_EPOCH"
    description = "The epoch of the topology is invalid."


class StreamsTopologyFencedError(BrokerResponseError):
    errno = 132
    message = "STREAMS_TOPOLOGY_FENCED"
    description = "The epoch of the topology is out of date."


class ShareSessionLimitReachedError(RetriableError, BrokerResponseError):
    errno = 133
    message = "SHARE_SESSION_LIMIT_REACHED"
    description = "The broker has reached its maximum number of share sessions."


# Aliases from other generations.
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

# The errors after which clients of kafka-python 0.9 and 1.x retried: after a pause, after a metadata refresh, or both.
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
    """Return the class for an error code; for an unknown code, create a subclass of `UnknownError`."""
    known = kafka_errors.get(error_code)
    if known is not None:
        return known
    description = f"The broker answered with error code {error_code}, which is newer than this client."
    return type("UnrecognizedError", (UnknownError,), {"errno": error_code, "description": description})


def error_text(error: BaseException) -> str:
    """Format an error for people who do not write Python: with Kafka's error name in parentheses, without the code."""
    if not isinstance(error, BrokerResponseError):
        return str(error)
    name = type(error).__name__
    text = RuntimeError.__str__(error) or error.description
    if not text:
        return name
    return text if name in text else f"{text.removesuffix('.')} ({name})"


def check_error(response: Any, context: str = "") -> None:
    """Raise the error that a response contains; return if it contains none.

    Arguments:
        response: an error code; an exception, which is raised; or a response of kafka-python 0.9 or 1.x, whose
            ``error`` is the code.
        context: the operation and its target, for the message.
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
