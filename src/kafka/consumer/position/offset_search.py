"""Looks up offsets until each partition has one. No partition waits for another one's leader.

If a leader fails or does not answer, its partitions are asked for again after a pause, with fresh metadata. An error
that does not pass ends the search for its partition only.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Protocol

from kafka.cluster import RetryPolicy
from kafka.consumer.position.leader_question import Answers, LeaderQuestion
from kafka.structs import OffsetAndTimestamp, TopicPartition


class Seeker(Protocol):
    """Who wants offsets."""

    def wants(self, tp: TopicPartition) -> bool:
        """Whether the offset is still of use; asked before each further try."""

    def found(self, tp: TopicPartition, offset: OffsetAndTimestamp) -> None:
        """It has been found."""

    def refused(self, tp: TopicPartition, error: Exception) -> None:
        """It cannot be found; the partition is not asked for again."""

    def failed(self, tp: TopicPartition, error: Exception) -> None:
        """A try has failed, another one follows."""


class OffsetSearch:
    """See the module. Runs on one loop; its tasks end with what they look for, or by `close`.

    Arguments:
        requests: asks brokers.
        policy: what is fatal, pauses, log lines.
    """

    def __init__(self, requests: LeaderQuestion, policy: RetryPolicy) -> None:
        self._requests = requests
        self._policy = policy
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, timestamps: Mapping[TopicPartition, int], seeker: Seeker, failures: int = 0) -> None:
        """Look for the offset of each partition, and tell ``seeker``.

        Arguments:
            timestamps: milliseconds since 1970-01-01 UTC, or EARLIEST, LATEST, MAX_TIMESTAMP; of `EpochEnds` epochs.
            failures: how many tries have failed already: there is a pause first.
        """
        if failures:
            self._spawn(self._again(timestamps, seeker, failures))
            return
        for leader, those in self._requests.by_leader(timestamps).items():
            if leader is None:  # newer metadata may know one: no pause before the first try
                self._spawn(self._again(those, seeker, 0))
            else:
                self._spawn(self._ask(leader, those, seeker, 0))

    def close(self) -> None:
        """Stop all."""
        for task in self._tasks:
            task.cancel()

    async def _ask(self, leader: int, timestamps: Mapping[TopicPartition, int], seeker: Seeker, failures: int) -> None:
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

    async def _again(self, timestamps: Mapping[TopicPartition, int], seeker: Seeker, failures: int) -> None:
        """Ask after a pause, and with newer metadata."""
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
        self, timestamps: Mapping[TopicPartition, int], answers: Answers, seeker: Seeker
    ) -> dict[TopicPartition, int]:
        """Tell of the errors; what to ask for again."""
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
