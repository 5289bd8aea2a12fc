"""The consumer's waiting calls for offsets: commits, committed offsets, positions, and offset lookups."""

from collections.abc import Iterable, Mapping
from typing import overload

from kafka.consumer._async.poll_loop import AsyncPollLoop
from kafka.consumer.arguments import (
    check_offsets,
    check_partition,
    check_partitions,
    check_timeout,
    check_times,
    is_several,
)
from kafka.consumer.base_consumer import BaseConsumer, found_or_none
from kafka.consumer.commit.commit_future import CommittedOffset
from kafka.consumer.position.special_timestamps import EARLIEST, LATEST
from kafka.structs import OffsetAndMetadata, OffsetAndTimestamp, TopicPartition


class AsyncOffsetCalls(BaseConsumer):
    """The methods of `AsyncKafkaConsumer` for offsets."""

    _poll_loop: AsyncPollLoop

    async def commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata] | None = None, timeout_ms: float | None = None
    ) -> None:
        """Commit offsets to the group, and wait for the result. Returns immediately if there is nothing to commit.

        Arguments:
            offsets: the next offset to read, by partition; None: the positions of all assigned partitions, except those
                in topics that were deleted and recreated since they were read.
            timeout_ms: how long to try; None: ``default_api_timeout_ms``.

        Raises `CommitFailedError` if the group has rebalanced in the meantime, `KafkaTimeoutError`, `IllegalStateError`
        without a ``group_id``, the broker's error, and, before anything is sent, `TypeError` or `IllegalArgumentError`
        for invalid offsets or metadata.
        """
        self._check_open()
        chosen = self._core.consumed_offsets() if offsets is None else self._core.given_offsets(check_offsets(offsets))
        limit = self._limit(timeout_ms)
        await self._poll_loop.run(self._core.commits.commit(chosen, limit), limit)
        if chosen and self._core.interceptors is not None:
            self._core.interceptors.on_commit(chosen)
        await self._poll_loop.run_callbacks()

    @overload
    async def committed(
        self, partition: TopicPartition, metadata: bool = False, timeout_ms: float | None = None
    ) -> CommittedOffset | OffsetAndMetadata | None: ...
    @overload
    async def committed(
        self, partition: Iterable[TopicPartition], metadata: bool = False, timeout_ms: float | None = None
    ) -> dict[TopicPartition, CommittedOffset | OffsetAndMetadata | None]: ...
    async def committed(
        self,
        partition: TopicPartition | Iterable[TopicPartition],
        metadata: bool = False,
        timeout_ms: float | None = None,
    ) -> CommittedOffset | OffsetAndMetadata | dict[TopicPartition, CommittedOffset | OffsetAndMetadata | None] | None:
        """Return the offset that the group last committed for a partition, assigned or not; None if there is none.

        Arguments:
            partition: one partition or several. Several are requested together, and the result is a dict with the
                result for each. Java: ``committed(Set)`` (KIP-520).
            metadata: True returns an `OffsetAndMetadata`; False an int that also has ``offset`` and ``metadata``.
            timeout_ms: how long to try; None: ``default_api_timeout_ms``.

        Raises `IllegalStateError` without a ``group_id``, `KafkaTimeoutError`, the coordinator's error, and, before
        anything is sent, `TypeError` or `IllegalArgumentError` for an invalid partition.
        """
        self._check_open()
        several = is_several(partition)
        wanted = check_partitions(partition) if several else [check_partition(partition)]
        limit = self._limit(timeout_ms)
        there = await self._poll_loop.run(self._core.commits.committed(wanted, limit), limit)
        found = {
            tp: None if each is None else each if metadata else CommittedOffset(each)
            for tp, each in ((tp, there.get(tp)) for tp in wanted)
        }
        return found if several else found[wanted[0]]

    async def position(self, partition: TopicPartition, timeout_ms: float | None = None) -> int:
        """Return the offset of the next record to be returned, looking it up if necessary.

        Raises `IllegalStateError` for a partition that is not assigned, `NoOffsetForPartitionError`, and
        `KafkaTimeoutError` after ``timeout_ms`` (None: ``default_api_timeout_ms``).
        """
        state = self._assigned(partition)
        if state.position is not None:
            return state.position.offset
        limit = self._limit(timeout_ms)
        return await self._poll_loop.run(self._core.position(state.tp, limit), limit)

    async def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> dict[TopicPartition, int]:
        """Return the first available offset of each partition.

        Raises `UnknownTopicOrPartitionError` for a partition that does not exist, or for a topic that is unknown for
        five seconds, and `KafkaTimeoutError`, for example if a partition has no leader.

        Arguments:
            partitions: any partitions, assigned or not.
            timeout_ms: how long to try; None: ``default_api_timeout_ms``, or ``request_timeout_ms`` if only that is
                set.
        """
        found = await self._look_up(dict.fromkeys(check_partitions(partitions), EARLIEST), timeout_ms)
        return {tp: each.offset for tp, each in found.items()}

    async def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> dict[TopicPartition, int]:
        """Return the offset after the last record of each partition; with read_committed, the last stable offset.

        Raises the errors of `beginning_offsets`.

        Arguments:
            partitions: any partitions, assigned or not.
            timeout_ms: how long to try; None: ``default_api_timeout_ms``, or ``request_timeout_ms`` if only that is
                set.
        """
        found = await self._look_up(dict.fromkeys(check_partitions(partitions), LATEST), timeout_ms)
        return {tp: each.offset for tp, each in found.items()}

    async def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int], timeout_ms: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """Return the offset of the first record at or after a timestamp, by partition; None if there is no such record.

        Raises the errors of `beginning_offsets`.

        Arguments:
            timestamps: milliseconds since 1970-01-01 UTC.
            timeout_ms: how long to try; None: ``default_api_timeout_ms``, or ``request_timeout_ms`` if only that is
                set.
        """
        return found_or_none(await self._look_up(check_times(timestamps), timeout_ms))

    async def _look_up(
        self, timestamps: Mapping[TopicPartition, int], timeout_ms: float | None
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        self._check_open()
        limit = self._look_up_timeout_ms if timeout_ms is None else check_timeout(timeout_ms)
        return await self._poll_loop.run(self._core.offsets_for_times.find(timestamps, limit), limit)

    async def _epoch_ends(
        self, epochs: Mapping[TopicPartition, int], timeout_ms: float
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        """Return the end offset of each leader epoch in the leader's log (KIP-320); -1 if unknown."""
        self._check_open()
        return await self._poll_loop.run(self._core.epoch_ends.find(epochs, timeout_ms), timeout_ms)

    def _limit(self, timeout_ms: float | None) -> float:
        return self._api_timeout_ms if timeout_ms is None else check_timeout(timeout_ms)
