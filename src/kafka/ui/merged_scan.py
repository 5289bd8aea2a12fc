"""Reads records of several partitions in the order of their timestamps, forwards or backwards.

Each partition is read in windows of offsets, which grow while few records match. A record is handed out when no unread
record of another partition can come before it, assuming that timestamps grow along each partition; where they do not,
records of one partition stay in the order of their offsets. The result is always a continuous part of each partition,
so that `lows` and `highs` are the places where another page continues.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka.consumer.bounds import OffsetRange

if TYPE_CHECKING:
    from kafka.record import Columns

_LARGEST_WINDOW = 50_000
"""Maximum number of offsets in a window."""
MOST_BYTES = 64 << 20
"""Maximum size of the records that are kept at a time."""


class Found(NamedTuple):
    """A record that a search found."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]

    @property
    def size(self) -> int:
        """The size of the key, the value and the headers in bytes."""
        return sum(len(each) for each in (self.key, self.value, *(each for _, each in self.headers)) if each)


@dataclasses.dataclass(slots=True)
class _Part:
    """A partition: the offsets that have not been read, and the matching records that have not been handed out."""

    low: int
    high: int
    window: int
    frontier: int | None = None
    found: deque[Found] = dataclasses.field(default_factory=deque)
    partial: list[Found] = dataclasses.field(default_factory=list)

    @property
    def is_read(self) -> bool:
        return self.low >= self.high


Select = Callable[["list[Columns]"], Awaitable[list[Found]]]
"""Returns the matching records of columns."""
Open = Callable[[Mapping[int, OffsetRange]], Awaitable[Any]]
"""Opens a bounded read of offsets of partitions."""


class MergedScan:
    """A scan of partitions in the order of time.

    Arguments:
        ranges: the offsets to read, by partition.
        is_backwards: whether to begin with the newest records.
        window: number of offsets of each partition to read first.
        records: maximum number of records to read.

    Attributes:
        looked_at: number of records that were read.
        ended: why the scan ended before everything was read; "" if it did not.
    """

    def __init__(self, ranges: Mapping[int, OffsetRange], is_backwards: bool, window: int, records: int) -> None:
        self._parts = {number: _Part(each.start, each.end, window) for number, each in ranges.items()}
        self._whole = dict(ranges)
        self._is_backwards = is_backwards
        self._records = records
        self._bytes = 0
        self.looked_at = 0
        self.ended = ""

    def edges(self) -> dict[int, OffsetRange]:
        """Return the offsets of each partition that were read and handed out."""
        done = {}
        for number, part in self._parts.items():
            whole = self._whole[number]
            if self._is_backwards:
                done[number] = OffsetRange(part.found[0].offset + 1 if part.found else part.high, whole.end)
            else:
                done[number] = OffsetRange(whole.start, part.found[0].offset if part.found else part.low)
        return done

    async def run(self, open_read: Open, select: Select) -> AsyncGenerator[list[Found]]:
        """Yield matching records, in order. The scan may be left at any time; `rest` has the remaining records."""
        while True:
            ready = self._ready()
            if ready:
                yield ready
            wanted = self._wanted()
            if not wanted or self.ended:
                return
            await self._load(wanted, open_read, select)

    def take_back(self, records: Iterable[Found]) -> None:
        """Put back records that were handed out but are not used, in the order in which they were handed out."""
        for each in reversed(list(records)):
            self._parts[each.partition].found.appendleft(each)

    def rest(self) -> list[Found]:
        """Return all matching records that were read but not handed out, in order."""
        for part in self._parts.values():
            part.found += part.partial
            part.partial = []
        found = [each for part in self._parts.values() for each in part.found]
        for part in self._parts.values():
            part.found.clear()
        return sorted(found, key=order, reverse=self._is_backwards)

    def _ready(self) -> list[Found]:
        """Return the records that no unread record can precede."""
        ready: list[Found] = []
        while True:
            best = self._best()
            if best is None or self._blocking(best.found[0].timestamp):
                return ready
            ready.append(best.found.popleft())
            self._bytes -= ready[-1].size

    def _best(self) -> _Part | None:
        """Return the partition whose next record comes first."""
        there = [part for part in self._parts.values() if part.found]
        if not there:
            return None
        return (max if self._is_backwards else min)(there, key=lambda part: order(part.found[0]))

    def _blocking(self, timestamp: int | None) -> list[int]:
        """Return the partitions that may have unread records before a timestamp; None: all that have unread records."""
        sign = -1 if self._is_backwards else 1
        return [
            number
            for number, part in self._parts.items()
            if not part.found
            and not part.is_read
            and (timestamp is None or part.frontier is None or sign * part.frontier < sign * timestamp)
        ]

    def _wanted(self) -> dict[int, OffsetRange]:
        """Return the offsets to read next."""
        best = self._best()
        blocking = self._blocking(best.found[0].timestamp if best is not None else None)
        share = max(1, (self._records - self.looked_at) // max(1, len(blocking)))
        found = {}
        for number in blocking:
            part = self._parts[number]
            window = min(part.window, share)
            if self._is_backwards:
                found[number] = OffsetRange(max(part.low, part.high - window), part.high)
            else:
                found[number] = OffsetRange(part.low, min(part.high, part.low + window))
            part.window = min(2 * part.window, _LARGEST_WINDOW)
        return found

    async def _load(self, wanted: Mapping[int, OffsetRange], open_read: Open, select: Select) -> None:
        read = await open_read(wanted)
        async with aclosing(read.columns()) as batches:
            async for columns in batches:
                await asyncio.sleep(0)  # otherwise, reading buffered records blocks the loop, including the timeout
                self._take(columns, await select([columns]))
                if self.ended and not self._is_backwards:
                    return
                if self.ended:
                    break
        for number, each in wanted.items():
            part = self._parts[number]
            if self._is_backwards:
                part.found += reversed(part.partial)
                part.partial = []
                part.high = part.high if self.ended else each.start
            else:
                part.low = each.end
        if self.looked_at >= self._records and not self.ended:
            self.ended = f"{self.looked_at:,} records were searched"

    def _take(self, columns: Columns, matching: list[Found]) -> None:
        part = self._parts[columns.partition]
        timestamps, offsets = columns.timestamps, columns.offsets
        self.looked_at += len(columns)
        self._bytes += sum(each.size for each in matching)
        if self._is_backwards:
            if not part.partial and (part.frontier is None or timestamps[0] < part.frontier):
                part.frontier = timestamps[0]
            part.partial += matching
        else:
            part.found += matching
            part.low = offsets[len(columns) - 1] + 1
            part.frontier = max(part.frontier or 0, timestamps[len(columns) - 1])
        if self._bytes > MOST_BYTES:
            self.ended = f"the records found take more than {MOST_BYTES >> 20} MiB"


def order(record: Found) -> tuple[int, int, int]:
    """Return the key by which records are sorted."""
    return record.timestamp, record.offset, record.partition
