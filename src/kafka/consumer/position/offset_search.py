"""Looks up offsets by timestamp, or the start or end of the log, until each partition has an offset.

No partition waits for another partition's leader. If a leader fails or does not answer, its partitions are looked up
again after a pause, with fresh metadata. A permanent error ends the search for its partition only.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Protocol

from kafka.cluster import RetryPolicy
from kafka.consumer.position.offset_requests import Answers, LeaderRequests
from kafka.errors import KafkaError, KafkaTimeoutError, UnknownTopicOrPartitionError
from kafka.structs import OffsetAndTimestamp, TopicPartition

_ABSENCES = 2
"""Number of brokers' answers without a partition after which it counts as missing: the first one may be outdated."""
_NEW_TOPIC_S = 5.0
"""How long a topic may be unknown, in seconds: brokers learn of new topics at different times."""


class SearchListener(Protocol):
    """Receives the offsets found by an `OffsetSearch`."""

    def wants(self, tp: TopicPartition) -> bool:
        """Return whether the offset is still needed. Called before each further attempt."""

    def found(self, tp: TopicPartition, offset: OffsetAndTimestamp) -> None:
        """Called when an offset has been found."""

    def refused(self, tp: TopicPartition, error: Exception) -> None:
        """Called after a permanent error; the partition is not looked up again."""

    def failed(self, tp: TopicPartition, error: Exception) -> None:
        """Called when an attempt has failed and another one follows."""


class OffsetSearch:
    """Looks up offsets on one loop; see the module. Tasks end with their search, or when `close` is called.

    Arguments:
        requests: asks brokers.
        policy: decides which errors are fatal, how long to pause, and what to log.
    """

    def __init__(self, requests: LeaderRequests, policy: RetryPolicy) -> None:
        self._requests = requests
        self._policy = policy
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, timestamps: Mapping[TopicPartition, int], seeker: SearchListener, failures: int = 0) -> None:
        """Look up the offset of each partition, and report it to ``seeker``.

        Arguments:
            timestamps: milliseconds since 1970-01-01 UTC, or EARLIEST, LATEST, MAX_TIMESTAMP; epochs for `EpochEnds`.
            failures: the number of attempts that have already failed; if there are any, the search begins with a pause.
        """
        if failures:
            self._spawn(self._again(timestamps, seeker, failures))
            return
        for leader, those in self._requests.by_leader(timestamps).items():
            if leader is None:  # newer metadata may contain a leader, so there is no pause before the first attempt
                self._spawn(self._again(those, seeker, 0))
            else:
                self._spawn(self._ask(leader, those, seeker, 0))

    def close(self) -> None:
        """Stop all searches."""
        for task in self._tasks:
            task.cancel()

    async def _ask(
        self, leader: int, timestamps: Mapping[TopicPartition, int], seeker: SearchListener, failures: int
    ) -> None:
        answers = await self._requests.ask(leader, timestamps)
        for tp, offset in answers.offsets.items():
            if seeker.wants(tp):
                seeker.found(tp, offset)
        what = f"looking up offsets on broker {leader}"
        left = self._left(timestamps, answers, seeker)
        if left:
            self._policy.tell_failure(what, answers.errors[next(iter(left))], failures + 1)
            await self._again(left, seeker, failures + 1)
        elif not answers.errors:
            self._policy.tell_success(what)

    async def _again(self, timestamps: Mapping[TopicPartition, int], seeker: SearchListener, failures: int) -> None:
        """Look up the offsets again after a pause, with newer metadata."""
        await asyncio.sleep(self._policy.pause_s(failures))
        try:
            await self._requests.refresh(timestamps)
        except Exception as error:
            self._policy.tell_failure("refreshing metadata to look up offsets", error, failures + 1)
        wanted = {tp: timestamp for tp, timestamp in timestamps.items() if seeker.wants(tp)}
        for leader, those in self._requests.by_leader(wanted).items():
            if leader is not None:
                self._spawn(self._ask(leader, those, seeker, failures))
                continue
            answers = Answers({}, {tp: self._requests.without_leader(tp) for tp in those})
            left = self._left(those, answers, seeker)
            if left:
                self._spawn(self._again(left, seeker, failures + 1))

    def _left(
        self, timestamps: Mapping[TopicPartition, int], answers: Answers, seeker: SearchListener
    ) -> dict[TopicPartition, int]:
        """Report errors. Returns the partitions to look up again."""
        left: dict[TopicPartition, int] = {}
        for tp, error in answers.errors.items():
            if not seeker.wants(tp):
                continue
            if self._policy.is_fatal(error):
                seeker.refused(tp, error)
            else:
                seeker.failed(tp, error)
                left[tp] = timestamps[tp]
        return left

    def _spawn(self, coroutine: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine, name="look up offsets")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class OffsetsForTimes:
    """Looks up offsets by timestamp for a caller that waits. Java: ``offsetsForTimes``.

    Arguments:
        requests: asks brokers.
        policy: decides which errors are fatal, how long to pause, and what to log.
    """

    def __init__(self, requests: LeaderRequests, policy: RetryPolicy) -> None:
        self._requests = requests
        self._policy = policy

    async def find(
        self, timestamps: Mapping[TopicPartition, int], timeout_ms: float
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        """Return the offset for each partition; -1 if there is no record at or after the timestamp.

        Arguments:
            timestamps: milliseconds since 1970-01-01 UTC, or EARLIEST, LATEST, MAX_TIMESTAMP; epochs for `EpochEnds`.
            timeout_ms: how long to try.

        Raises permanent errors; `UnknownTopicOrPartitionError` for a partition that two answers of brokers in a row
        lack although they contain its topic, or whose topic is unknown for five seconds; and `KafkaTimeoutError`, which
        names the partitions without a result and the causes.
        """
        search = OffsetSearch(self._requests, self._policy)
        waiting = _Waiting(timestamps, self._requests)
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
    """The `SearchListener` of one call."""

    def __init__(self, wanted: Mapping[TopicPartition, int], requests: LeaderRequests) -> None:
        self._requests = requests
        self._began = requests.metadata_version
        self._absent: dict[TopicPartition, tuple[int, int, float]] = {}
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
        if isinstance(error, UnknownTopicOrPartitionError) and (why := self._is_gone(tp)):
            self.done.set_exception(UnknownTopicOrPartitionError(why))

    def _is_gone(self, tp: TopicPartition) -> str | None:
        """Return why a partition does not exist, if enough answers of brokers since the start of the call lack it."""
        why, version = self._requests.absence(tp), self._requests.metadata_version
        now = asyncio.get_running_loop().time()
        if why is None:
            self._absent.pop(tp, None)
            return None
        count, last, since = self._absent.get(tp, (0, self._began, now))
        if version > last:
            count, last = count + 1, version
        self._absent[tp] = count, last, since
        patience = 0.0 if self._requests.has_topic(tp) else _NEW_TOPIC_S
        return why if count >= _ABSENCES and now - since >= patience else None

    def time_is_up(self, timeout_ms: float) -> KafkaError:
        first = list(self._missing.items())[:5]
        why = "; ".join(f"{tp.topic}-{tp.partition}: {error or 'no answer yet'}" for tp, error in first)
        return KafkaTimeoutError(
            f"no offsets for {len(self._missing)} of {self._count} partitions within {timeout_ms:.0f} ms ({why})"
        )
