"""Makes records of slices of columns, and deserializes their keys and values."""

from kafka.consumer.handover.hand_out import HandOut, Slice
from kafka.consumer.records.record_errors import RecordDeserializationError, deserialization_error
from kafka.record import ConsumerRecord
from kafka.record.materialize import Deserialize
from kafka.structs import TopicPartition


class Materializer:
    """Makes records of slices.

    Arguments:
        key_deserializer, value_deserializer: called with topic, bytes (None for null) and headers; None: the bytes are
            kept.
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
                return records, deserialization_error(piece.state.tp, columns.offsets[index], part, failure)
        # It failed before and does not now: whatever it depends on has changed, and the records are all here.
        del cause
        return records, None

    def batch(self, hand_out: HandOut) -> dict[TopicPartition, list[ConsumerRecord]]:
        """The records of a hand-out by partition.

        A record that cannot be deserialized ends the hand-out. If it is the very first, its error is raised.
        """
        gathered: dict[TopicPartition, list[ConsumerRecord]] = {}
        for piece in hand_out.slices:
            if not piece.count:
                continue
            records, error = self.records(piece)
            if records:
                before = gathered.setdefault(piece.state.tp, records)
                if before is not records:
                    before += records
            if error is not None:
                if not gathered:
                    raise error
                hand_out.end_at(piece, error.offset)
                break
        return gathered
