"""Searches records by key, value, offset and time, with limits on the duration and the number of scanned records."""

import asyncio
import contextlib
import dataclasses
import datetime
import heapq
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka.consumer._async.bounded_read import read_async
from kafka.consumer.bounds import NOT_FOR_READS, SKIP_ADVICE
from kafka.errors import OffsetOutOfRangeError
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.record import Columns

MOST = 500
"""Maximum number of records on a page."""
_FETCH = {"fetch_max_bytes": 4 << 20, "max_partition_fetch_bytes": 1 << 20, "max_poll_records": 500}


@dataclasses.dataclass(frozen=True, slots=True)
class Search:
    """The conditions of a search.

    Arguments:
        partition: the partition to search; None for all partitions.
        start: where to start, as in `kafka.read`; None for the newest records.
        end: where to stop, as in `kafka.read`; None for the current end.
        key: bytes that the key must contain.
        exact: whether the key must equal `key`.
        value: bytes that the value must contain.
        most: maximum number of records shown.
    """

    topic: str
    partition: int | None = None
    start: int | str | datetime.datetime | datetime.timedelta | None = None
    end: int | str | datetime.datetime | datetime.timedelta | None = None
    key: bytes | None = None
    exact: bool = False
    value: bytes | None = None
    most: int = 50

    @property
    def filters(self) -> bool:
        """Whether the search filters records by key or value."""
        return self.key is not None or self.value is not None


class Found(NamedTuple):
    """A record that a search found."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


@dataclasses.dataclass(slots=True)
class Progress:
    """The progress of a search, and the reason why it ended."""

    looked_at: int = 0
    offsets: int = 0
    found: int = 0
    ended: str = ""


def text_to_bytes(text: str, as_hex: bool) -> bytes | None:
    """Convert the text of a form field to bytes; an empty field is None. Raises `ValueError`."""
    if not text:
        return None
    if not as_hex:
        return text.encode("utf-8", "surrogateescape")
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise ValueError(f"expected hexadecimal digits, two per byte, such as 00 0f a1, got {text!r:.60}") from None


class Searches:
    """Runs a limited number of searches concurrently, each within its limits.

    Each running search has its own consumer, because a consumer has only one position per partition.
    """

    def __init__(self, consumer: Mapping[str, Any], at_once: int, longest_s: float, records: int) -> None:
        self._configs = {name: value for name, value in consumer.items() if name not in NOT_FOR_READS} | _FETCH
        self._free = asyncio.Semaphore(at_once)
        self._longest_s = longest_s
        self._records = records
        self._limits: set[asyncio.Timeout] = set()
        self._closed = False

    def close(self) -> None:
        """End all running and future searches, as if they had timed out."""
        self._closed = True
        for limit in self._limits:
            limit.reschedule(0)

    @contextlib.asynccontextmanager
    async def _until(self, deadline: float) -> AsyncGenerator[None]:
        """Raise `TimeoutError` in the block at a given loop time, or when all searches end."""
        async with asyncio.timeout_at(0 if self._closed else deadline) as limit:
            self._limits.add(limit)
            try:
                yield
            finally:
                self._limits.discard(limit)

    async def run(self, search: Search, progress: Progress) -> AsyncGenerator[list[Found]]:
        """Yield records as they are found. Without filters and a start, yield the newest ones in one list.

        Closing the iterator ends the search. ``progress`` stays up to date, even if an error is raised.
        """
        deadline = asyncio.get_running_loop().time() + self._longest_s
        newest = search.start is None and not search.filters
        found = self._newest(search, progress) if newest else self._scan(search, progress)
        try:
            async with self._until(deadline):
                await self._free.acquire()
            try:
                async with aclosing(found):
                    while True:
                        async with self._until(deadline):  # not around the yield, which runs the caller's code
                            records = await anext(found, None)
                        if records is None:
                            return
                        yield records
            finally:
                self._free.release()
        except OffsetOutOfRangeError as error:
            raise OffsetOutOfRangeError(str(error.args[0]).replace(SKIP_ADVICE, "; search again")) from error
        except TimeoutError:
            progress.ended = f"the time limit was reached ({self._longest_s:g} s)"

    async def one(self, partition: TopicPartition, offset: int) -> Found | None:
        """Return the record at an offset; None if there is no record. Raises `TimeoutError`."""
        async with self._until(asyncio.get_running_loop().time() + self._longest_s), self._free:
            read = await read_async(partition, start=offset, end=offset + 1, **self._configs)
            if read.ranges[partition].start != offset:
                await read.close()
                return None
            async with aclosing(read.columns()) as found:
                async for columns in found:
                    return _record(columns, 0)
            return None

    async def _newest(self, search: Search, progress: Progress) -> AsyncGenerator[list[Found]]:
        """Yield the last records from all partitions, newest first."""
        read = await self._open(search, last=search.most)
        progress.offsets = sum(each.end - each.start for each in read.ranges.values())
        kept: list[tuple[int, int, int, Found]] = []
        async with aclosing(read.columns()) as batches:
            async for columns in batches:
                await asyncio.sleep(0)  # otherwise, reading buffered records blocks the loop, including the timeout
                progress.looked_at += len(columns)
                for row in range(len(columns)):
                    record = _record(columns, row)
                    heapq.heappush(kept, (record.timestamp, record.offset, record.partition, record))
                    if len(kept) > search.most:
                        heapq.heappop(kept)
        progress.found = len(kept)
        yield [each[-1] for each in sorted(kept, reverse=True, key=lambda each: each[:-1])]

    async def _scan(self, search: Search, progress: Progress) -> AsyncGenerator[list[Found]]:
        """Yield matching records in reading order."""
        read = await self._open(search)
        progress.offsets = sum(each.end - each.start for each in read.ranges.values())
        matches = matcher(search)
        async with aclosing(read.columns()) as batches:
            async for columns in batches:
                await asyncio.sleep(0)
                found = []
                for row in range(len(columns)):
                    progress.looked_at += 1
                    if matches(columns, row):
                        found.append(_record(columns, row))
                        progress.found += 1
                    if progress.found == search.most:
                        progress.ended = f"{search.most} were found"
                        break
                    if progress.looked_at == self._records:
                        progress.ended = f"{self._records:,} records were searched"
                        break
                if found:
                    yield found
                if progress.ended:
                    return

    async def _open(self, search: Search, last: int | None = None) -> Any:
        target = search.topic if search.partition is None else TopicPartition(search.topic, search.partition)
        start = "earliest" if search.start is None else search.start
        end = "latest" if search.end is None else search.end
        return await read_async(target, start=start, end=end, last=last, **self._configs)


def matcher(search: Search) -> "Callable[[Columns, int], bool]":
    """Return a function that determines whether a row matches the search."""
    key, value, exact = search.key, search.value, search.exact

    def matches(columns: "Columns", row: int) -> bool:
        if key is not None:
            has = columns.key(row)
            if has is None or (has != key if exact else key not in has):
                return False
        if value is None:
            return True
        has = columns.value(row)
        return has is not None and value in has

    return matches


def _record(columns: "Columns", row: int) -> Found:
    return Found(
        columns.partition,
        columns.offsets[row],
        columns.timestamps[row],
        columns.key(row),
        columns.value(row),
        columns.headers(row),
    )
