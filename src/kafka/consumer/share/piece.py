"""Acquired records with an acknowledgement type for each, and acknowledgements to send."""

import enum
import math
from bisect import bisect_left
from typing import NamedTuple
from uuid import UUID

from kafka.errors import IllegalStateError
from kafka.record import Columns
from kafka.structs import TopicPartition


class AcknowledgeType(enum.IntEnum):
    """What becomes of a record that a share consumer got: the second argument of `KafkaShareConsumer.acknowledge`.

    Java: ``AcknowledgeType`` (KIP-932).
    """

    ACCEPT = 1
    """The record was processed and is not delivered again."""
    RELEASE = 2
    """The record was not processed: it is delivered again, to any consumer of the group, up to the delivery limit."""
    REJECT = 3
    """The record cannot be processed: it is not delivered again."""
    RENEW = 4
    """The record is still being processed: its lock is renewed, and the next poll() returns it again (KIP-1222)."""


GAP = 0
"""The type for an offset without a record, because of compaction or a transaction marker."""
OPEN, SENT = 0xFF, 0xFE
"""OPEN: the row is not acknowledged. SENT: its acknowledgement was sent and can no longer be changed."""
_LONG_GAP = 32
"""Gaps of up to this many offsets are sent offset by offset, in one batch with their neighbours."""
_ACCEPT, _RENEW = int(AcknowledgeType.ACCEPT), int(AcknowledgeType.RENEW)


class Piece:
    """A range of acquired records: columns, and an acknowledgement for each row. No object is created for each row.

    Used in the caller's thread.

    Arguments:
        tp, topic_id: the partition.
        node_id: the broker that sent the records and receives the acknowledgements.
        columns: the records; there may be fewer records than offsets.
        first, last: the first and the last acquired offset.
        delivery_count: how often the records were delivered, including this delivery.

    Attributes:
        handed: the number of rows returned to the program, from the front.
        has_gaps: whether there are offsets without a record to acknowledge as gaps.
        locked_until: the latest time at which the lock expires, by the loop's clock in seconds.
    """

    __slots__ = (
        "_types",
        "columns",
        "delivery_count",
        "first",
        "handed",
        "has_gaps",
        "last",
        "locked_until",
        "node_id",
        "topic_id",
        "tp",
    )

    def __init__(
        self,
        tp: TopicPartition,
        topic_id: UUID,
        node_id: int,
        columns: Columns,
        first: int,
        last: int,
        delivery_count: int,
        has_gaps: bool,
        locked_until: float = math.inf,
    ) -> None:
        self.locked_until = locked_until
        self.tp = tp
        self.topic_id = topic_id
        self.node_id = node_id
        self.columns = columns
        self.first = first
        self.last = last
        self.delivery_count = delivery_count
        self.handed = 0
        self.has_gaps = has_gaps
        self._types: bytearray | None = None

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return f"<Piece {self.tp.topic}-{self.tp.partition} {self.first}..{self.last}, {self.handed} handed out>"

    @property
    def types(self) -> bytearray:
        """The acknowledgement of each row."""
        if self._types is None:
            self._types = bytearray((OPEN,)) * len(self.columns)
        return self._types

    def row_of(self, offset: int) -> int | None:
        """Return the row of a returned record, or None."""
        offsets = self.columns.offsets
        row = bisect_left(offsets, offset, 0, self.handed)
        return row if row < self.handed and offsets[row] == offset else None

    def say(self, row: int, kind: AcknowledgeType) -> None:
        """Acknowledge a row. Raises `IllegalStateError` if its acknowledgement was already sent."""
        types = self.types
        if types[row] == SENT:
            raise IllegalStateError(
                f"the record at offset {self.columns.offsets[row]} of partition {self.tp.partition} of topic "
                f"{self.tp.topic!r} has already been acknowledged"
            )
        types[row] = kind

    def accept_rest(self) -> None:
        """Accept the returned rows that are not acknowledged."""
        if self._types is not None:
            head = self._types[: self.handed].replace(bytes((OPEN,)), bytes((_ACCEPT,)))
            self._types[: self.handed] = head
        else:
            self._types = bytearray((_ACCEPT,)) * self.handed + bytearray((OPEN,)) * (len(self) - self.handed)

    @property
    def is_open(self) -> bool:
        """Whether any returned row is not acknowledged."""
        if self._types is None:
            return self.handed > 0
        return self._types.find(OPEN, 0, self.handed) >= 0

    @property
    def is_said(self) -> bool:
        """Whether there are acknowledgements or gaps to send."""
        if self.has_gaps:
            return True
        return self._types is not None and bool(self._types.strip(bytes((OPEN, SENT))))

    @property
    def is_done(self) -> bool:
        """Whether all acknowledgements have been sent."""
        if self.has_gaps:
            return False
        return not len(self) or (self._types is not None and self._types.count(SENT) == len(self))

    def split(self) -> "Piece | None":
        """Cut off and return the rows that were not returned to the program; None if there are none."""
        if self.handed >= len(self):
            return None
        offsets = self.columns.offsets
        cut = offsets[self.handed]
        rest = self._part(self.handed, len(self), cut, self.last)
        rest.has_gaps = self.has_gaps and len(rest) <= rest.last - rest.first
        self.columns = self.columns.slice(0, self.handed)
        self.last = cut - 1
        self.has_gaps = self.has_gaps and len(self) <= self.last - self.first
        if self._types is not None:
            del self._types[self.handed :]
        return rest

    def _part(self, start: int, stop: int, first: int, last: int) -> "Piece":
        columns = self.columns.slice(start, stop)
        return Piece(
            self.tp, self.topic_id, self.node_id, columns, first, last, self.delivery_count, False, self.locked_until
        )

    def take(self) -> tuple[list[tuple[int, int, bytes]], list["Piece"]]:
        """Return the new acknowledgements as offset ranges with their types, and the pieces to renew."""
        count, types = len(self), self.types
        if count == self.last - self.first + 1:  # the usual case: a row for each offset
            ranges = _ranges(self.first, types)
        else:
            ranges = self._with_gaps(types)
        self.has_gaps = False
        renewed = self._renewed(types)
        for row in range(count) if types.find(OPEN) >= 0 else ():
            if types[row] != OPEN:
                types[row] = SENT
        if types.find(OPEN) < 0:
            types[:] = bytes((SENT,)) * count
        return ranges, renewed

    def _with_gaps(self, types: bytearray) -> list[tuple[int, int, bytes]]:
        """Return acknowledgements for rows and the offsets between them; memory grows with the number of rows only.

        A long gap is a separate range, because a broker may report any number of offsets as acquired.
        """
        filler = GAP if self.has_gaps else SENT
        found: list[tuple[int, int, bytes]] = []
        kinds, start = bytearray(), self.first  # the acknowledgements from `start` on
        for offset, kind in zip([*self.columns.offsets, self.last + 1], [*types, SENT], strict=True):
            gap = offset - start - len(kinds)
            if gap > _LONG_GAP:
                found += _ranges(start, kinds)
                if self.has_gaps:
                    found.append((offset - gap, offset - 1, bytes((GAP,))))
                kinds, start = bytearray(), offset
            else:
                kinds += bytes((filler,)) * gap
            kinds.append(kind)
        return found + _ranges(start, kinds)

    def _renewed(self, types: bytearray) -> list["Piece"]:
        """Return the rows whose locks are to be renewed, as pieces that can be returned again."""
        found, start = [], types.find(_RENEW)
        offsets = self.columns.offsets
        while start >= 0:
            stop = start + 1
            while stop < len(types) and types[stop] == _RENEW and offsets[stop] == offsets[stop - 1] + 1:
                stop += 1
            found.append(self._part(start, stop, offsets[start], offsets[stop - 1]))
            start = types.find(_RENEW, stop)
        return found


def _ranges(first: int, said: bytearray) -> list[tuple[int, int, bytes]]:
    """Return the ranges of acknowledged offsets, with a single type if it is the same for a whole range."""
    found = []
    kinds = bytes(said)
    start, size = 0, len(kinds)
    while start < size:
        if kinds[start] in (OPEN, SENT):
            start += 1
            continue
        stops = [at for at in (kinds.find(OPEN, start), kinds.find(SENT, start)) if at >= 0]
        stop = min(stops, default=size)
        part = kinds[start:stop]
        found.append((first + start, first + stop - 1, part[:1] if part.count(part[0]) == len(part) else part))
        start = stop
    return found


_MOST_OF_A_RANGE = 1 << 20


class AckBatch(NamedTuple):
    """Consecutive offsets, with one acknowledgement type for all or one for each."""

    first: int
    last: int
    types: bytes


class Acknowledgements:
    """The acknowledgements for one partition, to send to the broker that sent the records.

    Arguments:
        tp, topic_id: the partition.
        node_id: the broker.

    Attributes:
        batches: the batches, in order of offset after `sort`.
        renewed: the pieces to return again if the broker agrees.
        error: the error, or None.
        done: whether the result is known.
    """

    __slots__ = ("batches", "done", "error", "node_id", "renewed", "topic_id", "tp")

    def __init__(self, tp: TopicPartition, topic_id: UUID, node_id: int) -> None:
        self.tp = tp
        self.topic_id = topic_id
        self.node_id = node_id
        self.batches: list[AckBatch] = []
        self.renewed: list[Piece] = []
        self.error: Exception | None = None
        self.done = False

    def sort(self) -> None:
        """Sort the batches, as brokers require."""
        self.batches.sort()

    def offsets(self) -> set[int]:
        """Return the offsets of records, without gaps; for a range that was not decoded, only the first million."""
        found: set[int] = set()
        for batch in self.batches:
            if len(batch.types) == 1:
                if batch.types[0] != GAP:
                    found.update(range(batch.first, min(batch.last + 1, batch.first + _MOST_OF_A_RANGE)))
            else:
                found.update(offset for offset, kind in enumerate(batch.types, batch.first) if kind != GAP)
        return found
