"""Errors that concern a single record or position of a partition."""

import contextlib
import functools
from typing import Any

from kafka.errors import KafkaError, RecordDeserializationError
from kafka.record import ConsumerRecord
from kafka.serialization import SerializationError
from kafka.structs import TopicPartition


class RecordTooLargeError(KafkaError):
    """A batch is larger than what is fetched at a time, so no whole batch came (brokers before 0.10.1)."""


def is_about_record(cause: Exception) -> bool:
    """Whether what a deserializer raised is about its record: not if it could read none, without its registry, say."""
    return not isinstance(cause, KafkaError) or cause.about_record


def failure_of(record: ConsumerRecord, part: str, cause: Exception, advice: str | None = None) -> Exception:
    """What to raise for what a deserializer raised.

    This is a `RecordDeserializationError` if it is about the record, and else the cause itself, so that no program
    leaves out a record that can be read later.

    Arguments:
        as of `deserialization_error`.
    """
    if is_about_record(cause):
        return deserialization_error(record, part, cause, advice)
    note = (
        f"The record at offset {record.offset} of partition {record.partition} of topic {record.topic!r} could not be "
        "deserialized without it; it comes again with the next call."
    )
    if note not in getattr(cause, "__notes__", ()):  # a deserializer may raise the same object each time
        cause.add_note(note)
    return cause


def deserialization_error(
    record: ConsumerRecord, part: str, cause: Exception, advice: str | None = None
) -> RecordDeserializationError:
    """The error for what a deserializer raised: a `RecordDeserializationError`, and of the type of its cause.

    Arguments:
        record: with its key and value as they were fetched.
        advice: what can be done; None: seek past it.
    """
    tp = TopicPartition(record.topic, record.partition)
    named = (cause.schema_id, cause.field) if isinstance(cause, SerializationError) else (None, None)
    error = plain = RecordDeserializationError(tp, record.offset, part, repr(cause), record, advice, *named)
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
