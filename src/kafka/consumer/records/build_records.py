"""The records that `poll` and iteration return: built from columns, with deserialized keys and values.

Also contains the errors for records that cannot be deserialized.
"""

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, NamedTuple

from kafka.consumer.buffer.partition_state import PartitionState
from kafka.consumer.buffer.polled_batch import PolledBatch, Slice
from kafka.errors import KafkaError, RecordDeserializationError
from kafka.record import Columns, ConsumerRecord
from kafka.record.materialize import Deserialize
from kafka.record.records import Key, Value
from kafka.serialization import SerializationError
from kafka.serializer import adapt_deserializer
from kafka.structs import TopicPartition


class ConsumerRecords(dict[TopicPartition, list[ConsumerRecord[Key, Value]]], Generic[Key, Value]):
    """The result of `KafkaConsumer.poll`: a dict from `TopicPartition` to a list of records, in order of offset.

    ``items()``, ``values()``, ``keys()``, ``get()``, ``[tp]``, ``tp in records`` and comparison with a dict work as for
    any dict. Iteration and ``len()`` cover records, not partitions: ``for record in records`` and ``len(records)``, as
    in Java's ``ConsumerRecords``.

    Arguments:
        record_map: lists of records by partition.
    """

    __slots__ = ()

    def __init__(self, record_map: Mapping[TopicPartition, list[ConsumerRecord[Key, Value]]] | None = None) -> None:
        super().__init__()
        if record_map is not None:
            for tp in record_map.keys():  # noqa: SIM118  # iteration over one of these goes over records
                self[tp] = record_map[tp]

    def __iter__(self) -> Iterator[ConsumerRecord[Key, Value]]:  # type: ignore[override]  # of a dict: keys
        """Iterate over all records, partition by partition."""
        for records in self.values():
            yield from records

    def __len__(self) -> int:
        """Return the number of records."""
        return sum(map(len, self.values()))

    def __bool__(self) -> bool:
        """Return whether there are any records."""
        return any(self.values())

    def __missing__(self, key: object) -> list[ConsumerRecord[Key, Value]]:
        if isinstance(key, ConsumerRecord):
            raise KeyError(
                "poll() returned records, and iterating over them yields records, not partitions: use 'for record in "
                "records', or 'for tp, batch in records.items()'; the key was a record of "
                f"{key.topic}-{key.partition}"
            )
        raise KeyError(key)

    def records(self, partition: TopicPartition) -> list[ConsumerRecord[Key, Value]]:
        """Return the records from a partition; an empty list if there are none."""
        return self.get(partition, [])

    def by_topic(self) -> dict[str, list[ConsumerRecord[Key, Value]]]:
        """Return the records by the name of their topic: partition after partition, each in the order of offsets."""
        topics: dict[str, list[ConsumerRecord[Key, Value]]] = {}
        for tp, records in self.items():
            topics.setdefault(tp.topic, []).extend(records)
        return topics

    def partitions(self) -> set[TopicPartition]:
        """Return the partitions that have records here: the keys of this dict. Java: ``partitions()``."""
        return set(self.keys())

    def count(self) -> int:
        """Return the number of records in all partitions: ``len(records)``. Java: ``count()``."""
        return len(self)

    def __reduce__(
        self,
    ) -> tuple[type["ConsumerRecords[Any, Any]"], tuple[dict[TopicPartition, list[ConsumerRecord[Key, Value]]]]]:
        return ConsumerRecords, (dict(self.items()),)

    def __repr__(self) -> str:
        return f"ConsumerRecords({dict(self.items())!r})"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a table of the first records."""
        from kafka.display.html_tables import many_records

        title = f"{len(self):,} record(s) of {len(self.keys()):,} partition(s)"
        return many_records(title, self, len(self))


log = logging.getLogger(__name__)

ErrorHandler = Callable[[RecordDeserializationError], ConsumerRecord | None]
"""A function that returns a replacement for a record that cannot be deserialized, or None to skip the record."""


class Failure(NamedTuple):
    """An error to raise when the caller reaches a record."""

    offset: int
    error: Exception


class FailedRow(NamedTuple):
    """A record that could not be deserialized: its row, the part ("key" or "value"), and the exception.

    The part is empty if the exception does not concern the record.
    """

    row: int
    part: str
    cause: Exception


class RecordBuilder:
    """Builds records from columns.

    Arguments:
        key_deserializer, value_deserializer: called with topic, bytes (None for null) and headers; None: the bytes are
            kept.
        cls: the class of the records.
    """

    def __init__(
        self,
        key_deserializer: Deserialize | None,
        value_deserializer: Deserialize | None,
        cls: type[ConsumerRecord] = ConsumerRecord,
    ) -> None:
        self._key = key_deserializer
        self._value = value_deserializer
        self._class = cls

    def build(self, columns: Columns, more: int | None = None) -> tuple[list[ConsumerRecord], FailedRow | None]:
        """Return the records before the first that cannot be deserialized; see `Columns.to_records` for ``more``."""
        records: list[ConsumerRecord] = []
        while True:
            rest = columns.slice(len(records), len(columns)) if records else columns
            try:
                rest.to_records(None, None, self._key, self._value, self._class, more, records)
                return records, None
            except Exception as failure:  # user code may raise anything
                if self._key is None and self._value is None:
                    raise
                if not is_about_record(failure):  # a second attempt, to find the part, would send another request
                    return records, FailedRow(len(records), "", failure)
            failed = self._add_row(columns, len(records), more, records)
            if failed is not None:
                return records, failed

    def _add_row(self, columns: Columns, row: int, more: int | None, records: list[ConsumerRecord]) -> FailedRow | None:
        """Find the part of a row that cannot be deserialized. If the second attempt succeeds, the record is added."""
        columns = columns.slice(row, row + 1)
        part = "key"
        try:
            if self._key is not None:
                columns.to_records(None, None, self._key, None)
            part = "value"
            columns.to_records(None, None, self._key, self._value, self._class, more, records)
        except Exception as failure:  # user code may raise anything here, too
            return FailedRow(row, part, failure)
        return None


class Materializer:
    """Builds records from slices.

    Arguments:
        key_deserializer, value_deserializer: called with topic, bytes (None for null) and headers; None: the bytes are
            kept.
        on_error: how to handle a record that cannot be deserialized: "raise", "skip" or a function.
    """

    def __init__(
        self,
        key_deserializer: Deserialize | None,
        value_deserializer: Deserialize | None,
        on_error: str | ErrorHandler = "raise",
    ) -> None:
        self._builder = RecordBuilder(key_deserializer, value_deserializer)
        self._on_error: ErrorHandler | None = None
        if on_error != "raise":
            self._on_error = skip if isinstance(on_error, str) else on_error
        self._advice = "it is skipped" if on_error == "skip" else None

    def records(self, piece: Slice) -> tuple[list[ConsumerRecord], Failure | None]:
        """Return the records in a slice before the first that is neither deserialized nor skipped, and its error."""
        return self.of_columns(piece.columns)

    def of_columns(self, columns: Columns) -> tuple[list[ConsumerRecord], Failure | None]:
        """Return the records in columns before the first that is neither deserialized nor skipped, and its error."""
        records, failed = self._builder.build(columns)
        while failed is not None:
            columns = columns.slice(failed.row, len(columns))
            [record] = columns.slice(0, 1).to_records()
            error = failure_of(record, failed.part, failed.cause, self._advice)
            if self._on_error is None or not isinstance(error, RecordDeserializationError):
                return records, Failure(record.offset, error)
            try:
                instead = self._on_error(error)
            except Exception as refusal:  # user code may raise anything
                return records, Failure(record.offset, refusal)
            if instead is not None:
                records.append(instead)
            columns = columns.slice(1, len(columns))
            more, failed = self._builder.build(columns)
            records += more
        return records, None

    def batch(self, polled: PolledBatch) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Return the records in a polled batch, by partition.

        A record that cannot be deserialized ends the batch. If it is the first record, its error is raised.
        """
        gathered: dict[TopicPartition, list[ConsumerRecord]] = {}
        for piece in polled.slices:
            if not piece.count:
                continue
            records, failure = self.of_columns(piece.columns)
            if records:
                before = gathered.setdefault(piece.state.tp, records)
                if before is not records:
                    before += records
            if failure is not None:
                if not gathered:
                    raise failure.error
                polled.end_at(piece, failure.offset)
                break
        return gathered


def skip(error: RecordDeserializationError) -> None:
    """Skip the record, and log the error."""
    log.warning("left out (on_deserialization_error='skip'): %s", error)


class Deserializers:
    """The deserializers for keys and values, adapted from the user's objects; None keeps bytes.

    Arguments:
        key, value: the user's deserializers.
    """

    def __init__(self, key: Any, value: Any) -> None:
        self.key = adapt_deserializer(key, "key")
        self.value = adapt_deserializer(value)

    def close(self) -> None:
        """Close both deserializers. Raises their errors."""
        try:
            if self.key is not None:
                self.key.close()
        finally:
            if self.value is not None:
                self.value.close()


def is_about_record(cause: Exception) -> bool:
    """Return whether an exception concerns the record, and not, for example, an unavailable schema registry."""
    return not isinstance(cause, KafkaError) or cause.about_record


def failure_of(record: ConsumerRecord, part: str, cause: Exception, advice: str | None = None) -> Exception:
    """Return the error to raise for a deserializer's exception.

    This is a `RecordDeserializationError` if the exception concerns the record, and otherwise the exception itself, so
    that no program skips a record that can be read later.

    Arguments:
        record, part, cause, advice: as in `deserialization_error`.
    """
    if is_about_record(cause):
        return deserialization_error(record, part, cause, advice)
    note = (
        f"The record at offset {record.offset} of partition {record.partition} of topic {record.topic!r} could not be "
        "deserialized because of this; the next call returns it again."
    )
    if note not in getattr(cause, "__notes__", ()):  # a deserializer may raise the same object each time
        cause.add_note(note)
    return cause


def deserialization_error(
    record: ConsumerRecord, part: str, cause: Exception, advice: str | None = None
) -> RecordDeserializationError:
    """Return a `RecordDeserializationError` that is also an instance of the type of the deserializer's exception.

    Arguments:
        record: the record, with its key and value as they were fetched.
        advice: how to proceed; None: as in `RecordDeserializationError`.
    """
    tp = TopicPartition(record.topic, record.partition)
    if advice is None and (record.value if part == "value" else record.key) is None:
        what = "value is null, a tombstone" if part == "value" else "key is null"
        advice = (
            f"the {what}: let {part}_deserializer return None for None, as in lambda data: None if data is None else "
            "data.decode(); or set on_deserialization_error='skip'"
        )
    named = (cause.schema_id, cause.field) if isinstance(cause, SerializationError) else (None, None)
    error = plain = RecordDeserializationError(tp, record.offset, part, repr(cause), record, advice, *named)
    kind: Any = type(cause)
    cls: Any = _of_both_types(kind)
    own: Any = next(base for base in kind.__mro__ if base.__module__ == "builtins")
    if cls is not RecordDeserializationError:
        with contextlib.suppress(Exception):
            both = own.__new__(cls, *cause.args)
            own.__init__(both, *cause.args)  # sets attributes that are implemented in C, as in UnicodeDecodeError
            both.args = plain.args
            both.__dict__.update(vars(cause) | vars(plain))
            error = both
    error.__cause__ = cause
    return error


@functools.cache
def _of_both_types(cause: type[Exception]) -> type[RecordDeserializationError]:
    """Return a subclass of both `RecordDeserializationError` and the type of its cause, if they can be combined."""
    if issubclass(RecordDeserializationError, cause) or issubclass(cause, StopIteration | StopAsyncIteration):
        return RecordDeserializationError  # exceptions that end a loop silently must not be raised
    try:
        own = {"__module__": __name__, "of_cause": True}
        return type(RecordDeserializationError.__name__, (RecordDeserializationError, cause), own)
    except Exception:  # the classes are incompatible, or one forbids subclasses
        return RecordDeserializationError


OnConsume = Callable[[dict[TopicPartition, list[ConsumerRecord]]], dict[TopicPartition, list[ConsumerRecord]]]

_NOWHERE = PartitionState(TopicPartition("", -1))


class RecordCursor:
    """Iterates over a consumer's records one by one. The position follows each record. The cursor never waits.

    A record counts as returned immediately: a commit in the loop body includes it. Records that were taken from the
    buffer and not returned go back there when the program calls `poll()` or `pause()`.

    The code that takes a record from `rest` sets `state.last_record` to it, which moves the position.

    Arguments:
        materializer: builds records.

    Attributes:
        rest: the records in one slice that have not been returned.
        state: the partition of these records.
        on_consume: passes records, by partition, through the interceptors; None: there are no interceptors.
    """

    __slots__ = ("_failure", "_loaded", "_materializer", "_polled", "on_consume", "rest", "state")

    def __init__(self, materializer: Materializer) -> None:
        self._materializer = materializer
        self.on_consume: OnConsume | None = None
        self._polled: PolledBatch | None = None
        self._loaded: Slice | None = None
        self._failure: Failure | None = None
        self.rest: Iterator[ConsumerRecord] = iter(())
        self.state = _NOWHERE

    def begin(self, polled: PolledBatch) -> None:
        """Continue with the records in ``polled``."""
        self._stop()
        polled.on_change = self._stop
        self._polled = polled

    def load(self) -> bool:
        """Refill the exhausted `rest` from the next slice. Returns False if there is none.

        Raises the error for a record that cannot be deserialized.
        """
        polled = self._polled
        if polled is None:
            return False
        polled.settle()
        failure, self._failure = self._failure, None
        if failure is not None:
            polled.roll_back()
            raise failure.error
        if self._loaded is not None:
            self._loaded = None
            polled.commit_first()
        while polled.slices:
            piece = polled.slices[0]
            records, failure = self._materializer.records(piece.unread())
            if self.on_consume is not None and records:
                records = self.on_consume({piece.state.tp: list(records)}).get(piece.state.tp, [])
            rest = iter(records)
            if polled.slices and polled.slices[0] is piece:  # false if a deserializer called pause() or seek()
                self.rest, self.state, self._loaded, self._failure = rest, piece.state, piece, failure
                return True
        self._polled = None
        return False

    def _stop(self) -> None:
        """Drop the loaded records, because they are put back or outdated by a seek."""
        self._loaded = self._failure = None  # first, so that the remainder of `rest` does not count as read
        self.rest = iter(())
        self.state = _NOWHERE
