"""Looks up offsets by time, or the start or end of the log, for a caller that waits for them."""

import asyncio
from collections.abc import Mapping

from kafka.cluster import RetryPolicy
from kafka.consumer.position.leader_question import LeaderQuestion
from kafka.consumer.position.offset_search import OffsetSearch
from kafka.errors import KafkaError, KafkaTimeoutError
from kafka.structs import OffsetAndTimestamp, TopicPartition


class OffsetsForTimes:
    """Finds the offset of each partition at a time. Java: ``offsetsForTimes``.

    Arguments:
        requests: asks brokers.
        policy: what is fatal, pauses, log lines.
    """

    def __init__(self, requests: LeaderQuestion, policy: RetryPolicy) -> None:
        self._requests = requests
        self._policy = policy

    async def find(
        self, timestamps: Mapping[TopicPartition, int], timeout_ms: float
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        """The offset of each partition, -1 where there is no record at or after the time.

        Arguments:
            timestamps: milliseconds since 1970-01-01 UTC, or EARLIEST, LATEST, MAX_TIMESTAMP; of `EpochEnds` epochs.
            timeout_ms: how long to try.

        Raises `KafkaTimeoutError`, which names what could not be looked up and why, and what trying again does not
        mend.
        """
        search = OffsetSearch(self._requests, self._policy)
        waiting = _Waiting(timestamps)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                search.begin(timestamps, waiting)
                await waiting.done
        except TimeoutError:
            raise waiting.time_is_up(timeout_ms) from None
        finally:
            search.close()
        return waiting.offsets


class _Waiting:
    """The `Seeker` of one call."""

    def __init__(self, wanted: Mapping[TopicPartition, int]) -> None:
        self._missing: dict[TopicPartition, Exception | None] = dict.fromkeys(wanted)
        self._count = len(wanted)
        self.offsets: dict[TopicPartition, OffsetAndTimestamp] = {}
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if not wanted:
            self.done.set_result(None)

    def wants(self, tp: TopicPartition) -> bool:
        return tp in self._missing and not self.done.done()

    def found(self, tp: TopicPartition, offset: OffsetAndTimestamp) -> None:
        self.offsets[tp] = offset
        del self._missing[tp]
        if not self._missing:
            self.done.set_result(None)

    def refused(self, tp: TopicPartition, error: Exception) -> None:
        self.done.set_exception(error)

    def failed(self, tp: TopicPartition, error: Exception) -> None:
        self._missing[tp] = error

    def time_is_up(self, timeout_ms: float) -> KafkaError:
        first = list(self._missing.items())[:5]
        why = "; ".join(f"{tp.topic}-{tp.partition}: {error or 'no answer yet'}" for tp, error in first)
        return KafkaTimeoutError(
            f"no offsets for {len(self._missing)} of {self._count} partitions within {timeout_ms:.0f} ms ({why})"
        )
