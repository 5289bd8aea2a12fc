"""From slices of columns to what a caller gets: records, with their keys and values deserialized."""

from collections.abc import Callable
from typing import Any

from kafka.consumer.handover.fetched import Slice
from kafka.consumer.records.record_errors import RecordDeserializationError
from kafka.record import ConsumerRecord
from kafka.structs import TopicPartition

Deserialize = Callable[[str, bytes | None], Any]


class Materializer:
    """Makes records of slices.

    Arguments:
        key_deserializer, value_deserializer: called with topic and bytes (None for null); None: the bytes are kept.
    """

    def __init__(self, key_deserializer: Deserialize | None, value_deserializer: Deserialize | None) -> None:
        self._key = key_deserializer
        self._value = value_deserializer

    def records(self, piece: Slice) -> tuple[list[ConsumerRecord], RecordDeserializationError | None]:
        """The records of a slice up to the first that cannot be deserialized, and the error of that one."""
        try:
            return piece.columns.to_records(None, None, self._key, self._value), None
        except Exception as cause:  # a deserializer of the user's may raise anything
            if self._key is None and self._value is None:
                raise
            return self._up_to_failure(piece, cause)

    def _up_to_failure(
        self, piece: Slice, cause: Exception
    ) -> tuple[list[ConsumerRecord], RecordDeserializationError | None]:
        """Go record by record, to find the one that fails."""
        records: list[ConsumerRecord] = []
        columns = piece.columns
        for index in range(len(columns)):
            row = columns.slice(index, index + 1)
            part = "key"
            try:
                if self._key is not None:
                    row.to_records(None, None, self._key, None)
                part = "value"
                records += row.to_records(None, None, self._key, self._value)
            except Exception as failure:  # as above
                error = RecordDeserializationError(piece.state.tp, columns.offsets[index], part, repr(failure))
                error.__cause__ = failure
                return records, error
        # It failed before and does not now: whatever it depends on has changed, and the records are all here.
        del cause
        return records, None

    def batch(
        self, pieces: list[Slice], unread: Callable[[list[Slice]], None]
    ) -> tuple[dict[TopicPartition, list[ConsumerRecord]], list[Slice]]:
        """The records of several slices by partition, and the slices that they are of.

        A record that cannot be deserialized ends them; it and what comes after goes back through ``unread``. If it is
        the very first, its error is raised.
        """
        gathered: dict[TopicPartition, list[ConsumerRecord]] = {}
        used: list[Slice] = []
        for index, piece in enumerate(pieces):
            records, error = self.records(piece)
            if records:
                before = gathered.setdefault(piece.state.tp, records)
                if before is not records:
                    before += records
            if error is None:
                used.append(piece)
                continue
            unread([piece.from_offset(error.offset), *pieces[index + 1 :]])
            if not gathered:
                raise error
            piece.next_offset = error.offset
            used.append(piece)
            break
        return gathered, used
