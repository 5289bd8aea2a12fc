"""The lag of groups in time: how much older the next record of a group is than the newest record of its partition.

The history of the poller says it without reading records, if the group has caught up with an end that the poller has
seen. Otherwise, `LagTimes` compares the timestamps of the two records.
"""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka.admin import OffsetSpec
from kafka.consumer._async.bounded_read import read_async
from kafka.consumer.bounds import NOT_FOR_READS
from kafka.display.time_axis import duration_text
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.admin import AsyncKafkaAdminClient
    from kafka.ui.history import History
    from kafka.ui.snapshot import GroupState

_MOST = 50
"""Maximum number of partitions whose records are read for a page."""
_PATIENCE_S = 3.0
"""Maximum duration of reading them, in seconds."""
_MEMORY_S = 60.0
"""Seconds until the timestamps of a position are read again."""
_FETCH = {"fetch_max_bytes": 4 << 20, "max_partition_fetch_bytes": 64 << 10, "max_poll_records": 500}


class Behind(NamedTuple):
    """A lag in time.

    Arguments:
        seconds: the lag; None if it is unknown.
        is_minimum: whether the lag is at least `seconds`, because the history does not reach further.
        by_timestamps: whether it was computed from timestamps of records.
    """

    seconds: float | None
    is_minimum: bool = False
    by_timestamps: bool = False

    def text(self) -> str:
        """Return the lag with its unit."""
        if self.seconds is None:
            return "–"  # noqa: RUF001
        if self.seconds < 1:
            return "0 s"
        return f"{'over ' if self.is_minimum else ''}{duration_text(self.seconds)}"


def by_history(history: "History", group: "GroupState", tp: TopicPartition) -> Behind:
    """Return the lag of a partition according to the poller's history."""
    lag = group.lags.get(tp)
    if lag is None or tp in group.beyond_end:
        return Behind(None)
    if lag == 0:
        return Behind(0.0)
    seconds = history.seconds_behind(tp, group.committed[tp])
    if seconds is not None:
        return Behind(seconds)
    kept = list(history.ends.get(tp, ()))
    return Behind(kept[-1][0] - kept[0][0], is_minimum=True) if len(kept) > 1 else Behind(None)


def longest(history: "History", group: "GroupState") -> Behind:
    """Return the longest lag of a group's partitions."""
    found = [by_history(history, group, tp) for tp in group.lags]
    known = [each for each in found if each.seconds is not None]
    return max(known, key=lambda each: (each.seconds or 0.0, each.is_minimum), default=Behind(None))


class LagTimes:
    """Reads timestamps of records, for the partitions of one group at a time.

    Arguments:
        admin: used for the newest timestamps.
        consumer: keyword arguments of the consumer that reads the groups' next records.
    """

    def __init__(self, admin: "AsyncKafkaAdminClient", consumer: Mapping[str, Any]) -> None:
        self._admin = admin
        self._configs = {name: value for name, value in consumer.items() if name not in NOT_FOR_READS} | _FETCH
        self._kept: dict[tuple[TopicPartition, int], tuple[float, float]] = {}
        self._reading = asyncio.Lock()

    async def seconds(self, positions: Mapping[TopicPartition, int]) -> dict[TopicPartition, float]:
        """Return the lag in seconds of the partitions for which it could be determined in a short time.

        Arguments:
            positions: the committed offsets of partitions with a lag.
        """
        async with self._reading:
            now = time.monotonic()
            self._kept = {key: kept for key, kept in self._kept.items() if kept[0] > now}
            wanted = {tp: at for tp, at in positions.items() if (tp, at) not in self._kept}
            wanted = dict(list(wanted.items())[:_MOST])
            if wanted:
                found: dict[TopicPartition, float] = {}
                with contextlib.suppress(KafkaError, TimeoutError):
                    async with asyncio.timeout(_PATIENCE_S):
                        await self._read(wanted, found)
                self._kept |= {(tp, wanted[tp]): (now + _MEMORY_S, seconds) for tp, seconds in found.items()}
            return {tp: self._kept[tp, at][1] for tp, at in positions.items() if (tp, at) in self._kept}

    async def _read(self, wanted: Mapping[TopicPartition, int], found: dict[TopicPartition, float]) -> None:
        """Fill in the lags as the records are read."""
        specs = dict.fromkeys(wanted, OffsetSpec.MAX_TIMESTAMP)
        newest: Mapping[TopicPartition, Any] = await self._admin.list_partition_offsets(specs, raise_errors=False)
        times = {tp: each.timestamp for tp, each in newest.items() if not isinstance(each, KafkaError)}
        ends = {tp: at + 1 for tp, at in wanted.items()}
        read = await read_async(list(wanted), start=dict(wanted), end=ends, on_missing="skip", **self._configs)
        async with aclosing(read.columns()) as batches:
            async for columns in batches:
                tp = TopicPartition(columns.topic, columns.partition)
                if len(columns) and times.get(tp, -1) >= 0:
                    found[tp] = max(0.0, (times[tp] - columns.timestamps[0]) / 1000)
