"""Searches records by key, value, offset, time and filter, with limits on duration, memory and records.

`merged_scan.py` reads the partitions in the order of time. `Searches` limits how many searches run at once. To add a
condition, add it to `Search` and to `Selection`.
"""

import asyncio
import contextlib
import dataclasses
import datetime
import decimal
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from kafka.consumer._async.bounded_read import read_async
from kafka.consumer.bounds import NOT_FOR_READS, SKIP_ADVICE, OffsetRange
from kafka.errors import OffsetOutOfRangeError
from kafka.filters import Filter, FilterRecord
from kafka.structs import TopicPartition
from kafka.ui.merged_scan import Found, MergedScan

if TYPE_CHECKING:
    from kafka.record import Columns
    from kafka.ui.page_registry import PageRegistry

__all__ = ["MOST", "Found", "Progress", "Search", "Searches", "Selection", "matcher", "text_to_bytes"]

MOST = 500
"""Maximum number of records on a page."""
_FIRST_WINDOW = 500
"""Number of offsets of each partition that a search with conditions reads first."""
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
        where: a filter on fields of the record.
        newest: whether to begin with the newest records; None: if there is no start.
        before: read backwards from these offsets, by partition; set on older pages.
        after: read forwards from these offsets, by partition; set on newer pages.
    """

    topic: str
    partition: int | None = None
    start: int | str | datetime.datetime | datetime.timedelta | None = None
    end: int | str | datetime.datetime | datetime.timedelta | None = None
    key: bytes | None = None
    exact: bool = False
    value: bytes | None = None
    most: int = 50
    where: Filter | None = None
    newest: bool | None = None
    before: Mapping[int, int] | None = None
    after: Mapping[int, int] | None = None

    @property
    def filters(self) -> bool:
        """Whether the search has conditions on records."""
        return self.key is not None or self.value is not None or self.where is not None

    @property
    def is_newest_first(self) -> bool:
        """Whether the newest records are shown first."""
        return self.start is None if self.newest is None else self.newest

    @property
    def is_backwards(self) -> bool:
        """Whether records are read from the newest to the oldest."""
        return self.before is not None or (self.after is None and self.is_newest_first)


@dataclasses.dataclass(slots=True)
class Progress:
    """The progress of a search, and the reason why it ended.

    Attributes:
        looked_at: number of records read.
        offsets: number of offsets between start and end.
        found: number of matching records.
        ended: which limit ended the search; "" if it was not ended by one.
        edges: the offsets that were searched, by partition.
        has_older, has_newer: whether there are more offsets to search before or after them.
    """

    looked_at: int = 0
    offsets: int = 0
    found: int = 0
    ended: str = ""
    edges: dict[int, OffsetRange] = dataclasses.field(default_factory=dict)
    has_older: bool = False
    has_newer: bool = False


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

    async def run(
        self, search: Search, progress: Progress, registry: "PageRegistry | None" = None
    ) -> AsyncGenerator[list[Found]]:
        """Yield records as they are found, in the order of their timestamps.

        Arguments:
            progress: is kept up to date, even if an error is raised.
            registry: decodes keys and values for the filter.

        Closing the iterator ends the search. If the records have to be shown in the other order than they are read,
        they come in one list.
        """
        deadline = asyncio.get_running_loop().time() + self._longest_s
        reverse = search.is_backwards != search.is_newest_first
        kept: list[Found] = []
        scan: MergedScan | None = None
        read: Any = None
        try:
            async with self._until(deadline):
                await self._free.acquire()
            try:
                async with self._until(deadline):
                    read, scan = await self._opened(search, progress)
                found = scan.run(self._reopening(search, read), Selection(search, registry).of)
                async with aclosing(found):
                    async for records in self._limited(found, deadline):
                        fitting = self._fitting(search, progress, scan, records)
                        kept += fitting if reverse else []
                        if fitting and not reverse:
                            yield fitting
                        if progress.found == search.most:
                            break
            finally:
                self._free.release()
                if read is not None:
                    await read.close()
        except OffsetOutOfRangeError as error:
            raise OffsetOutOfRangeError(str(error.args[0]).replace(SKIP_ADVICE, "; search again")) from error
        except TimeoutError:
            progress.ended = f"the time limit was reached ({self._longest_s:g} s)"
        rest = self._finish(search, progress, scan)
        if reverse:
            rest = list(reversed(kept + rest))
        if rest:
            yield rest

    async def _limited(self, found: AsyncGenerator[list[Found]], deadline: float) -> AsyncGenerator[list[Found]]:
        """Iterate until the deadline, which does not apply to the code that uses the records."""
        while True:
            async with self._until(deadline):
                records = await anext(found, None)
            if records is None:
                return
            yield records

    @staticmethod
    def _fitting(search: Search, progress: Progress, scan: MergedScan, records: list[Found]) -> list[Found]:
        """Return the records that the page still has room for, and put the others back."""
        room = search.most - progress.found
        scan.take_back(records[room:])
        progress.found += len(records[:room])
        progress.looked_at = scan.looked_at
        return records[:room]

    @staticmethod
    def _finish(search: Search, progress: Progress, scan: MergedScan | None) -> list[Found]:
        """Note where the search ended; return the records that were read but not handed out, if a limit ended it."""
        if scan is None:
            return []
        rest: list[Found] = []
        if scan.ended or progress.ended:
            progress.ended = progress.ended or scan.ended
            if progress.found < search.most:
                rest = scan.rest()
                room = search.most - progress.found
                scan.take_back(rest[room:])
                rest = rest[:room]
                progress.found += len(rest)
            else:
                progress.ended = ""
        progress.looked_at = scan.looked_at
        reached = scan.edges()
        whole = progress.edges
        progress.has_older = any(each.start > whole[number].start for number, each in reached.items())
        progress.has_newer = any(each.end < whole[number].end for number, each in reached.items())
        progress.edges = reached
        return rest

    async def _opened(self, search: Search, progress: Progress) -> tuple[Any, MergedScan]:
        """Return a bounded read, and the scan of the offsets that this page covers."""
        read = await self._open(search)
        whole = {tp.partition: each for tp, each in read.ranges.items()}
        progress.offsets = sum(each.end - each.start for each in whole.values())
        progress.edges = whole
        ranges = {}
        for number, each in whole.items():
            first, last = each
            if search.before is not None:
                last = max(first, min(last, search.before.get(number, last)))
            elif search.after is not None:
                first = min(last, max(first, search.after.get(number, first)))
            ranges[number] = OffsetRange(first, last)
        window = _FIRST_WINDOW if search.filters else search.most
        return read, MergedScan(ranges, search.is_backwards, window, self._records)

    def _reopening(self, search: Search, first: Any) -> "Callable[[Mapping[int, OffsetRange]], Any]":
        """Return a function that opens reads of parts. The first one uses the read that determined the offsets."""
        reads = [first]

        async def open_read(wanted: Mapping[int, OffsetRange]) -> Any:
            ranges = {TopicPartition(search.topic, number): each for number, each in wanted.items()}
            if reads:
                read = reads.pop()
                read.ranges = ranges
                return read
            starts = {tp: each.start for tp, each in ranges.items()}
            ends = {tp: each.end for tp, each in ranges.items()}
            return await read_async(list(ranges), start=starts, end=ends, **self._configs)

        return open_read

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

    async def _open(self, search: Search) -> Any:
        target = search.topic if search.partition is None else TopicPartition(search.topic, search.partition)
        start = "earliest" if search.start is None else search.start
        end = "latest" if search.end is None else search.end
        return await read_async(target, start=start, end=end, **self._configs)


class Selection:
    """Finds the matching records of columns.

    Arguments:
        registry: decodes keys and values that have a schema, for the filter; None if there is none.
    """

    def __init__(self, search: Search, registry: "PageRegistry | None") -> None:
        self._topic = search.topic
        self._where = search.where
        self._matches = matcher(search)
        decodes = search.where is not None and search.where.roots & {"key", "value"}
        self._registry = registry if decodes else None

    async def of(self, batches: "list[Columns]") -> list[Found]:
        """Return the matching records."""
        found = [
            _record(columns, row) for columns in batches for row in range(len(columns)) if self._matches(columns, row)
        ]
        if self._where is None or not found:
            return found
        texts: list[Any] = [(None, None)] * len(found)
        if self._registry is not None:
            texts = await self._registry.decoded(self._topic, found)
        pairs = zip(found, texts, strict=True)
        return [each for each, (key, value) in pairs if self._where.matches(self._seen(each, key, value))]

    def _seen(self, record: Found, key: Any, value: Any) -> FilterRecord:
        return FilterRecord(
            topic=self._topic,
            partition=record.partition,
            offset=record.offset,
            timestamp=record.timestamp,
            key=_decoded(record.key, key),
            value=_decoded(record.value, value),
            headers=record.headers,
        )


def _decoded(data: bytes | None, decoded: Any) -> Any:
    """Return the object that was decoded with a schema, or else the bytes."""
    return data if decoded is None or decoded.text is None else json.loads(decoded.text, parse_float=decimal.Decimal)


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
