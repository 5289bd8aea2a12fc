"""Makes records of slices of columns, and deserializes their keys and values."""

import logging
from collections.abc import Callable
from typing import NamedTuple

from kafka.consumer.handover.hand_out import HandOut, Slice
from kafka.consumer.records.record_errors import failure_of, is_about_record
from kafka.errors import RecordDeserializationError
from kafka.record import Columns, ConsumerRecord
from kafka.record.materialize import Deserialize
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)

ErrorHandler = Callable[[RecordDeserializationError], ConsumerRecord | None]
"""Gives the record to hand out instead of one that cannot be deserialized, or None to leave it out."""


class Failure(NamedTuple):
    """What is to be raised when the caller gets to a record."""

    offset: int
    error: Exception


class FailedRow(NamedTuple):
    """A record that could not be deserialized: its row, "key" or "value", and what was raised.

    The part is empty if what was raised is not about the record.
    """

    row: int
    part: str
    cause: Exception


class RecordBuilder:
    """Makes records of columns.

    Arguments:
        key_deserializer, value_deserializer: called with topic, bytes (None for null) and headers; None: the bytes are
            kept.
        cls: the records' class.
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
        """The records up to the first that cannot be deserialized; `more` as of `Columns.to_records`."""
        records: list[ConsumerRecord] = []
        while True:
            rest = columns.slice(len(records), len(columns)) if records else columns
            try:
                rest.to_records(None, None, self._key, self._value, self._class, more, records)
                return records, None
            except Exception as failure:  # a deserializer of the user's may raise anything
                if self._key is None and self._value is None:
                    raise
                if not is_about_record(failure):  # to ask again which part it was would mean another request
                    return records, FailedRow(len(records), "", failure)
            failed = self._add_row(columns, len(records), more, records)
            if failed is not None:
                return records, failed

    def _add_row(self, columns: Columns, row: int, more: int | None, records: list[ConsumerRecord]) -> FailedRow | None:
        """See what of a row cannot be deserialized. One that does not fail again is there like any other."""
        columns = columns.slice(row, row + 1)
        part = "key"
        try:
            if self._key is not None:
                columns.to_records(None, None, self._key, None)
            part = "value"
            columns.to_records(None, None, self._key, self._value, self._class, more, records)
        except Exception as failure:  # as above
            return FailedRow(row, part, failure)
        return None


class Materializer:
    """Makes records of slices.

    Arguments:
        key_deserializer, value_deserializer: called with topic, bytes (None for null) and headers; None: the bytes are
            kept.
        on_error: what to do with a record that cannot be deserialized, "raise", "skip" or a function.
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
        self._advice = "it is left out" if on_error == "skip" else None

    def records(self, piece: Slice) -> tuple[list[ConsumerRecord], Failure | None]:
        """The records of a slice up to the first that cannot be deserialized and may not be left out, and its error."""
        return self.of_columns(piece.columns)

    def of_columns(self, columns: Columns) -> tuple[list[ConsumerRecord], Failure | None]:
        """Likewise of columns."""
        records, failed = self._builder.build(columns)
        while failed is not None:
            columns = columns.slice(failed.row, len(columns))
            [record] = columns.slice(0, 1).to_records()
            error = failure_of(record, failed.part, failed.cause, self._advice)
            if self._on_error is None or not isinstance(error, RecordDeserializationError):
                return records, Failure(record.offset, error)
            try:
                instead = self._on_error(error)
            except Exception as refusal:  # a function of the user's, too
                return records, Failure(record.offset, refusal)
            if instead is not None:
                records.append(instead)
            columns = columns.slice(1, len(columns))
            more, failed = self._builder.build(columns)
            records += more
        return records, None

    def batch(self, hand_out: HandOut) -> dict[TopicPartition, list[ConsumerRecord]]:
        """The records of a hand-out by partition.

        A record that cannot be deserialized ends the hand-out. If it is the very first, its error is raised.
        """
        gathered: dict[TopicPartition, list[ConsumerRecord]] = {}
        for piece in hand_out.slices:
            if not piece.count:
                continue
            records, failure = self.records(piece)
            if records:
                before = gathered.setdefault(piece.state.tp, records)
                if before is not records:
                    before += records
            if failure is not None:
                if not gathered:
                    raise failure.error
                hand_out.end_at(piece, failure.offset)
                break
        return gathered


def skip(error: RecordDeserializationError) -> None:
    """Leave it out, and say so."""
    log.warning("left out (on_deserialization_error='skip'): %s", error)
