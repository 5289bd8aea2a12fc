"""Acquired records before they are decoded (`Acquired`) and until they are acknowledged (`InFlight`).

Records that cannot be decoded are acknowledged at once, so that they are not delivered forever. A damaged batch is
rejected. Records after it, and records whose codec is missing, are released. Java does so in ``ShareCompletedFetch``.

A broker may report more offsets as acquired than it sends batches for. Offsets after the last batch are not
acknowledged, because the client cannot know whether they have records; their lock simply expires.
"""

import math
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from kafka.consumer.buffer.partition_response import SharedFrame
from kafka.consumer.share.piece import AckBatch, Acknowledgements, AcknowledgeType, Piece
from kafka.errors import CorruptRecordError, IllegalStateError, KafkaError
from kafka.record import BatchDecoder, Columns, batch_headers
from kafka.structs import TopicPartition

_NO_LIMIT = 1 << 62


class Range(NamedTuple):
    """Acquired offsets and their delivery count."""

    first: int
    last: int
    delivery_count: int


def in_order(ranges: Iterable[Range]) -> list[Range]:
    """Return the ranges in order, without empty or overlapping ones, so that no record is returned twice."""
    found: list[Range] = []
    start = 0
    for one in ranges:
        first = max(one.first, start)
        if first <= one.last:
            found.append(one._replace(first=first))
            start = one.last + 1
    return found


class DecodeOptions(NamedTuple):
    """How batches are decoded; see `BatchDecoder`."""

    check_crcs: bool
    max_decompressed_size: int


class Refused(NamedTuple):
    """Offsets that could not be decoded, and their acknowledgement type."""

    first: int
    last: int
    kind: AcknowledgeType


class Decoded(NamedTuple):
    """The result of decoding a response.

    ``beyond`` is the first acquired offset after the last batch; None if there is none.
    """

    pieces: list[Piece]
    refused: list[Refused]
    error: KafkaError | None
    beyond: int | None = None


class Acquired:
    """The response for one partition. Created on the loop, decoded by the caller.

    Arguments:
        tp, topic_id: the partition.
        node_id: the broker that sent the records.
        ranges: the acquired offsets, as returned by `in_order`; at least one range.
        records: whole batches.
        frame: contains the bytes.

    Attributes:
        locked_until: the latest time at which the locks expire, by the loop's clock in seconds.
    """

    __slots__ = ("_frame", "_records", "locked_until", "node_id", "ranges", "topic_id", "tp")

    def __init__(
        self,
        tp: TopicPartition,
        topic_id: UUID,
        node_id: int,
        ranges: Sequence[Range],
        records: memoryview | bytes,
        frame: SharedFrame,
    ) -> None:
        self.tp = tp
        self.topic_id = topic_id
        self.node_id = node_id
        self.ranges = ranges
        self.locked_until = math.inf
        self._records: memoryview | bytes | None = records
        self._frame = frame

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return 0 if self._records is None else len(self._records)

    def drop(self) -> None:
        """Release the bytes."""
        if self._records is not None:
            self._records = None
            self._frame.release()

    def decode(self, options: DecodeOptions) -> Decoded:
        """Decode the acquired records. The bytes are kept until `drop`."""
        records = self._records
        assert records is not None
        decoder = BatchDecoder(
            records,
            topic=self.tp.topic,
            partition=self.tp.partition,
            check_crcs=options.check_crcs,
            start_offset=self.ranges[0].first,
            max_decompressed_size=options.max_decompressed_size,
        )
        columns, error = decoder.part(_NO_LIMIT)
        if error is None and not decoder.finished:
            error = KafkaError(f"{self.tp}: one answer has more records than columns can hold; lower fetch_max_bytes")
        end = columns.next_offset
        whole = [Range(one.first, min(one.last, end - 1), one.delivery_count) for one in self.ranges if one.first < end]
        if error is None:
            beyond = next((max(one.first, end) for one in self.ranges if one.last >= end), None)
            return Decoded([self._piece(columns, one) for one in whole], [], None, beyond)
        refused = self._refused(end, self._end_of_damage(columns, records, error))
        return Decoded([self._piece(columns, one) for one in whole], refused, _told(error, refused))

    def _piece(self, columns: Columns, acquired: Range) -> Piece:
        offsets = columns.offsets
        start = bisect_left(offsets, acquired.first)
        stop = bisect_right(offsets, acquired.last, start)
        first, last, count = acquired
        has_gaps = stop - start <= last - first
        taken = columns.slice(start, stop)
        return Piece(self.tp, self.topic_id, self.node_id, taken, first, last, count, has_gaps, self.locked_until)

    def _end_of_damage(self, columns: Columns, records: memoryview | bytes, error: Exception) -> int:
        """Return the last offset of the damaged batch; -1 if the batch is intact but the client cannot decode it."""
        if not isinstance(error, CorruptRecordError):
            return -1
        try:
            header = next(batch_headers(memoryview(records)[columns.bytes_consumed :]), None)
        except CorruptRecordError:
            header = None
        last = self.ranges[-1].last
        return last if header is None or header.last_offset < columns.next_offset else min(header.last_offset, last)

    def _refused(self, start: int, end_of_damage: int) -> list[Refused]:
        """Refuse the acquired offsets from ``start`` on: reject those in the damaged batch, and release the rest."""
        found = []
        for first, last, _ in self.ranges:
            first = max(first, start)
            if first <= min(last, end_of_damage):
                found.append(Refused(first, min(last, end_of_damage), AcknowledgeType.REJECT))
                first = end_of_damage + 1
            if first <= last:
                found.append(Refused(first, last, AcknowledgeType.RELEASE))
        return found


def _told(error: Exception, refused: Sequence[Refused]) -> KafkaError:
    """Return the error for the caller, which also states what happens to the records."""
    done = ", ".join(f"{one.first} to {one.last} {_DONE[one.kind]}" for one in refused)
    kind: type[KafkaError] = type(error) if isinstance(error, KafkaError) else KafkaError
    told = kind(f"{error}; of the acquired records, offsets {done}")
    told.__cause__ = error
    return told


_DONE = {AcknowledgeType.REJECT: "are rejected", AcknowledgeType.RELEASE: "are released, to be delivered again"}


class InFlight:
    """The records that were returned to the program but not acknowledged. Used in the caller's thread.

    Attributes:
        pieces: the returned pieces, in order.
        refused: acknowledgements to send for offsets that could not be decoded or deserialized.
    """

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.refused: list[tuple[TopicPartition, UUID, int, Refused]] = []

    def acknowledge(self, topic: str, partition: int, offset: int, kind: AcknowledgeType) -> None:
        """Set the acknowledgement of a record. Raises `IllegalStateError` if the program does not have the record."""
        for piece in self.pieces:
            tp = piece.tp
            if piece.first <= offset <= piece.last and tp.partition == partition and tp.topic == topic:
                row = piece.row_of(offset)
                if row is not None:
                    piece.say(row, kind)
                    return
        for at, (tp, topic_id, node_id, refused) in enumerate(self.refused):
            if refused.first == offset == refused.last and (tp.topic, tp.partition) == (topic, partition):
                self.refused[at] = tp, topic_id, node_id, refused._replace(kind=kind)
                return
        raise IllegalStateError(
            f"the record at offset {offset} of partition {partition} of topic {topic!r} cannot be acknowledged: this "
            "consumer did not receive it, or has already acknowledged it"
        )

    def refuse(self, source: Acquired | Piece, refused: Iterable[Refused]) -> None:
        """Add acknowledgements for offsets that could not be decoded or deserialized."""
        self.refused += [(source.tp, source.topic_id, source.node_id, one) for one in refused]

    def accept_all(self) -> None:
        """Accept the returned records that are not acknowledged."""
        for piece in self.pieces:
            piece.accept_rest()

    @property
    def is_open(self) -> bool:
        """Whether any returned record is not acknowledged."""
        return any(piece.is_open for piece in self.pieces)

    def put_back(self, decoded: deque[Piece]) -> None:
        """Put back records that iteration has taken but not returned."""
        if not any(piece.handed < len(piece) for piece in self.pieces):
            return
        rests = [rest for piece in self.pieces if (rest := piece.split()) is not None]
        self.pieces = [piece for piece in self.pieces if len(piece) or piece.has_gaps]
        decoded.extendleft(reversed(rests))

    def cut(self, piece: Piece, row: int) -> Piece | None:
        """Cut a piece before a row. Returns the remaining piece; None if there is none."""
        piece.handed = row
        rest = piece.split()
        piece.handed = 0
        if rest is not None:
            place = next(place for place, one in enumerate(self.pieces) if one is piece)
            self.pieces.insert(place + 1, rest)
        return rest

    def drop(self, piece: Piece) -> None:
        """Remove a piece that the program does not receive after all."""
        self.pieces = [one for one in self.pieces if one is not piece]

    def take(self) -> list[Acknowledgements]:
        """Return the acknowledgements to send, by partition and broker; unacknowledged rows are kept."""
        found: dict[tuple[TopicPartition, UUID, int], Acknowledgements] = {}

        def of(tp: TopicPartition, topic_id: UUID, node_id: int) -> Acknowledgements:
            key = tp, topic_id, node_id
            return found.setdefault(key, Acknowledgements(*key))

        for piece in self.pieces:
            if piece.is_said:
                acks = of(piece.tp, piece.topic_id, piece.node_id)
                batches, renewed = piece.take()
                acks.batches += [AckBatch(*batch) for batch in batches]
                acks.renewed += renewed
        for tp, topic_id, node_id, refused in self.refused:
            of(tp, topic_id, node_id).batches.append(AckBatch(refused.first, refused.last, bytes((refused.kind,))))
        self.pieces, self.refused = [piece for piece in self.pieces if not piece.is_done], []
        made = [acks for acks in found.values() if acks.batches]
        for acks in made:
            acks.sort()
        return made
