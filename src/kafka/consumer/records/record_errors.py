"""Errors that concern a single record or position of a partition."""

import contextlib
import functools
from typing import Any

from kafka.errors import KafkaError
from kafka.structs import TopicPartition


class RecordTooLargeError(KafkaError):
    """A batch is larger than what is fetched at a time, so no whole batch came (brokers before 0.10.1)."""


class RecordDeserializationError(KafkaError):
    """A deserializer raised, and what it raised is the ``__cause__``. Java: ``RecordDeserializationException``.

    It is of the type of the cause as well, where that is possible, as kafka-python raises the cause itself.

    The position stays at the record, so the next `poll()` raises again;
    ``seek(error.topic_partition, error.offset + 1)`` leads past it.

    Arguments:
        topic_partition: where the record is.
        offset: its offset.
        part: "key" or "value", "key or value" where it is not known.
        why: what the deserializer had to say.
    """

    def __init__(self, topic_partition: TopicPartition, offset: int, part: str, why: str) -> None:
        super().__init__(
            f"the {part} of the record at offset {offset} of partition {topic_partition.partition} of topic "
            f"{topic_partition.topic!r} could not be deserialized: {why}; seek to {offset + 1} to leave it out"
        )
        self.topic_partition = topic_partition
        self.offset = offset


def deserialization_error(tp: TopicPartition, offset: int, part: str, cause: Exception) -> RecordDeserializationError:
    """The error for what a deserializer raised: a `RecordDeserializationError`, and of the type of its cause."""
    error = plain = RecordDeserializationError(tp, offset, part, repr(cause))
    kind: Any = type(cause)
    cls: Any = _of_both_types(kind)
    own: Any = next(base for base in kind.__mro__ if base.__module__ == "builtins")
    if cls is not RecordDeserializationError:
        with contextlib.suppress(Exception):
            both = own.__new__(cls, *cause.args)
            own.__init__(both, *cause.args)  # what C keeps of an error, such as where text cannot be decoded
            both.args = plain.args
            both.__dict__.update(vars(cause) | vars(plain))
            error = both
    error.__cause__ = cause
    return error


@functools.cache
def _of_both_types(cause: type[Exception]) -> type[RecordDeserializationError]:
    """A class for what is a `RecordDeserializationError` and of the type of its cause, if that can be had."""
    if issubclass(RecordDeserializationError, cause) or issubclass(cause, StopIteration | StopAsyncIteration):
        return RecordDeserializationError  # what ends a loop silently must not be raised
    try:
        return type(RecordDeserializationError.__name__, (RecordDeserializationError, cause), {"__module__": __name__})
    except TypeError:
        return RecordDeserializationError
