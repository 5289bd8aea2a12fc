"""The record that a share consumer hands out, and Arrow batches of pieces: both with the count of deliveries."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

from kafka.consumer.share.piece import Piece
from kafka.record import ConsumerRecord, decode_batches

if TYPE_CHECKING:
    import pyarrow

_COUNT = len(ConsumerRecord._fields)
DELIVERY_COUNT = "delivery_count"


class ShareConsumerRecord(ConsumerRecord):
    """A `ConsumerRecord` with one field more, the last.

    Attributes:
        delivery_count: how often the record was delivered to the group, this time included. Java: ``deliveryCount()``.
    """

    __slots__ = ()
    _fields = (*ConsumerRecord._fields, DELIVERY_COUNT)  # type: ignore[assignment]
    __match_args__ = _fields  # type: ignore[literal-required]

    @property
    def delivery_count(self) -> int:
        """See the class."""
        count: int = tuple.__getitem__(self, _COUNT)
        return count

    @classmethod
    def of(cls, record: tuple[Any, ...], delivery_count: int) -> ShareConsumerRecord:
        """A record with its count."""
        return tuple.__new__(cls, (*record[:_COUNT], delivery_count))

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Self:  # type: ignore[override]
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
    """The records of pieces as one Arrow batch: the columns of `Columns.to_arrow`, and ``delivery_count`` (int32)."""
    import pyarrow as pa

    from kafka.record.arrow import concat_arrow

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
