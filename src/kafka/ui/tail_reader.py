"""Reads new messages of a topic as they are written, for the live tail: with a rate limit, until the viewer leaves.

Each viewer has a consumer without a group. Messages beyond the rate are counted but not shown. `places` is where
another tail continues, so that a pause loses nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from typing import Any, NamedTuple

from kafka.consumer.async_consumer import AsyncKafkaConsumer
from kafka.consumer.bounds import NOT_FOR_READS
from kafka.errors import UnknownTopicOrPartitionError
from kafka.structs import TopicPartition
from kafka.ui.merged_scan import Found, order
from kafka.ui.page_registry import PageRegistry
from kafka.ui.search import Search, Selection

FASTEST = 200
"""Maximum number of messages per second."""
_POLL_MS = 500
_MOST_POLLED = 2000
_ALIVE_POLLS = 6
"""Number of polls without messages after which an empty part is yielded, to notice that viewers or the cluster left."""


class TailPart(NamedTuple):
    """Some new messages.

    Attributes:
        records: the messages to show, in the order of their timestamps.
        skipped: number of matching messages that exceeded the rate.
        places: the next offset of each partition.
    """

    records: list[Found]
    skipped: int
    places: dict[int, int]


class Tails:
    """Runs a limited number of live tails.

    Arguments:
        consumer: options of the consumers.
        at_once: maximum number of tails at a time.
        longest_s: duration after which a tail ends, in seconds.

    Attributes:
        assigned: number of tails that have begun to read so far.
    """

    def __init__(self, consumer: Mapping[str, Any], at_once: int, longest_s: float) -> None:
        self._configs = {name: value for name, value in consumer.items() if name not in NOT_FOR_READS}
        self._at_once = at_once
        self._longest_s = longest_s
        self._running = 0
        self.assigned = 0
        self._closed = False

    def close(self) -> None:
        """End all tails, which takes no longer than a poll."""
        self._closed = True

    async def run(self, search: Search, per_second: int, registry: PageRegistry | None) -> AsyncGenerator[TailPart]:
        """Yield new messages until the time limit; closing the iterator closes the consumer.

        Arguments:
            search: the topic and the conditions; ``after`` is where to continue, and without it, the end of the log.
            per_second: maximum number of messages to show per second.

        Raises `ValueError` if there are too many tails, `UnknownTopicOrPartitionError` if there is no such topic, and
        the errors of the consumer.
        """
        if self._running >= self._at_once:
            raise ValueError(f"{self._at_once} live tails are running, which is the limit: close another one")
        ends_at = asyncio.get_running_loop().time() + self._longest_s
        self._running += 1
        try:
            options: Any = {
                **self._configs,
                "allow_auto_create_topics": False,
                "auto_offset_reset": "latest",
                "enable_auto_commit": False,
            }
            async with contextlib.AsyncExitStack() as stack:
                consumer = await stack.enter_async_context(AsyncKafkaConsumer(**options))
                await self._assign(consumer, search)
                self.assigned += 1
                selection, quiet = Selection(search, registry), 0
                while not self._closed and asyncio.get_running_loop().time() < ends_at:
                    part = await self._part(consumer, search, selection, per_second)
                    quiet = 0 if part.records or part.skipped else quiet + 1
                    if quiet % _ALIVE_POLLS == 0:
                        yield part
        finally:
            self._running -= 1

    async def _part(
        self, consumer: AsyncKafkaConsumer[Any, Any], search: Search, selection: Selection, per_second: int
    ) -> TailPart:
        """Return the messages of about a second, or none if there are none for half a second."""
        loop = asyncio.get_running_loop()
        until = loop.time() + 1
        found: list[Found] = []
        polled = await consumer.poll_columns(timeout_ms=_POLL_MS, max_records=_MOST_POLLED)
        while polled:
            found += await selection.of(list(polled.values()))
            if loop.time() >= until or len(found) > _MOST_POLLED:
                break
            polled = await consumer.poll_columns(timeout_ms=100, max_records=_MOST_POLLED)
        places = {tp.partition: await consumer.position(tp) for tp in consumer.assignment()}
        if len(found) > per_second and loop.time() < until:
            await asyncio.sleep(until - loop.time())
        shown = sorted(found[-per_second:], key=order)
        return TailPart(shown, len(found) - len(shown), places)

    @staticmethod
    async def _assign(consumer: AsyncKafkaConsumer[Any, Any], search: Search) -> None:
        there = await consumer.partitions_for_topic(search.topic)
        if not there or (search.partition is not None and search.partition not in there):
            what = f"topic {search.topic!r}" if not there else f"partition {search.partition} of {search.topic!r}"
            raise UnknownTopicOrPartitionError(f"there is no {what} to follow; see the Topics page")
        chosen = [TopicPartition(search.topic, each) for each in sorted(there)]
        chosen = [each for each in chosen if search.partition in (None, each.partition)]
        await consumer.assign(chosen)
        ends = await consumer.end_offsets(chosen)
        for tp in chosen:
            consumer.seek(tp, min((search.after or {}).get(tp.partition, ends[tp]), ends[tp]))
