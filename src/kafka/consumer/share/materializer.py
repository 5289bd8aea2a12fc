"""The records and Arrow batches that a share consumer returns, both with the delivery count.

Records whose key or value cannot be deserialized are released.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, cast

from kafka.consumer.records.build_records import (
    ConsumerRecords,
    FailedRow,
    RecordBuilder,
    deserialization_error,
    failure_of,
    is_about_record,
)
from kafka.consumer.share.acquired import Refused
from kafka.consumer.share.core import ShareCore
from kafka.consumer.share.piece import AcknowledgeType, Piece
from kafka.record import ConsumerRecord, decode_batches
from kafka.record.materialize import Deserialize
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    import pyarrow


_COUNT = len(ConsumerRecord._fields)
DELIVERY_COUNT = "delivery_count"


class ShareConsumerRecord(ConsumerRecord):
    """A `ConsumerRecord` with an additional last field.

    Attributes:
        delivery_count: how often the record was delivered to the group, including this time. Java: ``deliveryCount()``.
    """

    __slots__ = ()
    _fields = (*ConsumerRecord._fields, DELIVERY_COUNT)  # type: ignore[assignment]  # the base declares a shorter tuple
    __match_args__ = _fields  # type: ignore[literal-required]  # checkers expect literals

    @property
    def delivery_count(self) -> int:
        """See the class."""
        count: int = tuple.__getitem__(self, _COUNT)
        return count

    @classmethod
    def of(cls, record: tuple[Any, ...], delivery_count: int) -> ShareConsumerRecord:
        """Create a record with its delivery count."""
        return tuple.__new__(cls, (*record[:_COUNT], delivery_count))

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Self:  # type: ignore[override]  # a fixed length in the base
        fields = tuple(iterable)
        if len(fields) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} fields, got {len(fields)}")
        return tuple.__new__(cls, fields)

    def _replace(self, /, **changes: Any) -> Self:
        made = self._make(changes.pop(name, value) for name, value in zip(self._fields, self, strict=True))
        if changes:
            raise ValueError(f"Expected names of fields, got {', '.join(changes)}")
        return made

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return ShareConsumerRecord.of, (tuple(self)[:_COUNT], self.delivery_count)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({fields})"


def to_arrow(pieces: Iterable[Piece]) -> pyarrow.RecordBatch:
    """Return the pieces as one Arrow batch: the columns of `Columns.to_arrow`, and ``delivery_count`` (int32)."""
    import pyarrow as pa

    from kafka.record.arrow_batches import concat_arrow

    counts = array("i")
    batches = []
    for piece in pieces:
        if len(piece):
            batches.append(piece.columns.to_arrow())
            counts += array("i", (piece.delivery_count,)) * len(piece)
    batch = concat_arrow(batches) if batches else decode_batches(b"").to_arrow()
    column = pa.Array.from_buffers(pa.int32(), len(counts), [None, pa.py_buffer(counts)])
    schema = batch.schema.append(pa.field(DELIVERY_COUNT, pa.int32()))
    return pa.RecordBatch.from_arrays([*batch.columns, column], schema=schema)


_RELEASED = "the record is released, to be delivered again up to the group's limit of deliveries"
_CHOICE = "; acknowledge(topic, partition, offset, AcknowledgeType.REJECT) before the next poll() gives it up instead"


class ShareMaterializer:
    """Builds records from pieces.

    Arguments:
        key_deserializer, value_deserializer: called with topic, bytes (None for null) and headers; None: the bytes are
            kept.
    """

    def __init__(self, key_deserializer: Deserialize | None, value_deserializer: Deserialize | None) -> None:
        self._builder = RecordBuilder(key_deserializer, value_deserializer, ShareConsumerRecord)

    def records(self, core: ShareCore, pieces: list[Piece]) -> ConsumerRecords:
        """Return the records in the pieces, by partition.

        If a record cannot be deserialized, the list of pieces is cut before it. If it is the first record, it is
        released and its error is raised. If the error does not concern the record, the record is not released, and the
        next call tries again.
        """
        gathered: dict[TopicPartition, list[ConsumerRecord]] = {}
        for number, piece in enumerate(pieces):
            made, failed = self.made(piece)
            if made:
                gathered.setdefault(piece.tp, []).extend(made)
            if failed is not None:
                if not gathered:
                    self.check_about_record(piece, failed)
                    raise self._refuse(core, piece, failed)
                if made:
                    core.cut(piece, failed.row)
                del pieces[number + bool(made) :]
                break
        return ConsumerRecords(gathered)

    def made(self, piece: Piece) -> tuple[list[ShareConsumerRecord], FailedRow | None]:
        """Return the records in a piece before the first that cannot be deserialized, and how that one failed."""
        built = self._builder.build(piece.columns, piece.delivery_count)
        return cast("tuple[list[ShareConsumerRecord], FailedRow | None]", built)

    @staticmethod
    def check_about_record(piece: Piece, failed: FailedRow) -> None:
        """Raise a deserializer's exception if it does not concern the record."""
        if not is_about_record(failed.cause):
            [record] = piece.columns.slice(failed.row, failed.row + 1).to_records()
            raise failure_of(record, failed.part, failed.cause)

    def _refuse(self, core: ShareCore, piece: Piece, failed: FailedRow) -> Exception:
        """Release the first record of the next piece, and continue after it. Returns the error to raise."""
        core.cut(piece, failed.row + 1)
        core.drop(piece)
        return self.refuse(core, piece, failed)

    @staticmethod
    def refuse(core: ShareCore, piece: Piece, failed: FailedRow) -> Exception:
        """Release a record. Returns the error to raise."""
        [record] = piece.columns.slice(failed.row, failed.row + 1).to_records()
        offset = record.offset
        core.in_flight.refuse(piece, [Refused(offset, offset, AcknowledgeType.RELEASE)])
        advice = _RELEASED if core.is_implicit else _RELEASED + _CHOICE
        return deserialization_error(record, failed.part, failed.cause, advice)
