"""The response for one partition: whole batches, which of their records were acquired, and how they become pieces.

Records that cannot be decoded are acknowledged at once, so that they are not delivered forever. A damaged batch is
rejected. Records that could not be read behind it, or whose codec is missing, are released. Java does so in
``ShareCompletedFetch``.

A broker may report more offsets as acquired than it sends batches for. Offsets behind the last batch are left alone:
the client cannot know whether they have records, and their lock expires without its help.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from kafka.consumer.buffer.partition_response import SharedFrame
from kafka.consumer.share.piece import AcknowledgeType, Piece
from kafka.errors import CorruptRecordError, KafkaError
from kafka.record import BatchDecoder, Columns, batch_headers
from kafka.structs import TopicPartition

_NO_LIMIT = 1 << 62


class Range(NamedTuple):
    """Offsets that were acquired, and how often they were delivered."""

    first: int
    last: int
    delivery_count: int


def in_order(ranges: Iterable[Range]) -> list[Range]:
    """The ranges as they came, without what is empty, or stands in an earlier one, so that no record comes twice."""
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
    """Offsets that could not be decoded, and how to acknowledge them."""

    first: int
    last: int
    kind: AcknowledgeType


class Decoded(NamedTuple):
    """What became of an answer.

    ``beyond`` is the first offset that was called acquired and is behind the last batch; None: there is none.
    """

    pieces: list[Piece]
    refused: list[Refused]
    error: KafkaError | None
    beyond: int | None = None


class Acquired:
    """See the module. Made on the loop, decoded by the caller.

    Arguments:
        tp, topic_id: the partition.
        node_id: who handed the records out.
        ranges: what was acquired, by `in_order`; at least one.
        records: whole batches.
        frame: holds the bytes.

    Attributes:
        locked_until: when the locks are over at the latest, in the loop's seconds.
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
        """How many bytes came."""
        return 0 if self._records is None else len(self._records)

    def drop(self) -> None:
        """Let go of the bytes."""
        if self._records is not None:
            self._records = None
            self._frame.release()

    def decode(self, options: DecodeOptions) -> Decoded:
        """Columns of what was acquired. The bytes are kept, until `drop`."""
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
        """The last offset of the damaged batch; -1: no batch is damaged, it only could not be read here."""
        if not isinstance(error, CorruptRecordError):
            return -1
        try:
            header = next(batch_headers(memoryview(records)[columns.bytes_consumed :]), None)
        except CorruptRecordError:
            header = None
        last = self.ranges[-1].last
        return last if header is None or header.last_offset < columns.next_offset else min(header.last_offset, last)

    def _refused(self, start: int, end_of_damage: int) -> list[Refused]:
        """What is acquired from ``start`` on: rejected up to the end of the damage, and released behind that."""
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
    """The error for the caller: what happened, and what was done about it."""
    done = ", ".join(f"{one.first} to {one.last} {_DONE[one.kind]}" for one in refused)
    kind: type[KafkaError] = type(error) if isinstance(error, KafkaError) else KafkaError
    told = kind(f"{error}; of what was acquired, offsets {done}")
    told.__cause__ = error
    return told


_DONE = {AcknowledgeType.REJECT: "are rejected", AcknowledgeType.RELEASE: "are released, to be delivered again"}
