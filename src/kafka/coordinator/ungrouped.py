"""A subscription without a group: the consumer takes all partitions of its topics, as in kafka-python."""

import itertools
from collections.abc import Callable

from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.coordinator.membership import (
    NO_GENERATION,
    Generation,
    MembershipListener,
    Partitions,
    Step,
    StepKind,
    step_towards,
)
from kafka.errors import CommitFailedError, UnknownTopicOrPartitionError
from kafka.structs import TopicPartition


class UngroupedMembership:
    """A `Membership` without a coordinator.

    Partitions are given up if their topic is no longer subscribed to or does not exist, or was recreated with fewer
    partitions. They stay assigned while a topic's metadata is unavailable for another reason.

    Arguments:
        metadata: returns the newest metadata.
        listener: the consumer.
        is_still_there: returns whether a partition still exists although it is missing from the metadata, because the
            broker lags behind.
    """

    generation: Generation = NO_GENERATION
    last_generation: Generation = NO_GENERATION

    def __init__(
        self,
        metadata: Callable[[], ClusterMetadata],
        listener: MembershipListener,
        is_still_there: Callable[[TopicPartition], bool],
    ) -> None:
        self._is_still_there = is_still_there
        self._metadata = metadata
        self._listener = listener
        self._turns = itertools.count()

    def status(self) -> None:
        """Return None: there is no group."""

    def commit_generation(self) -> Generation:
        """Raise an error: there is no group to commit to."""
        raise CommitFailedError

    def next_step(self, held: Partitions) -> Step | None:
        """See `Membership`."""
        metadata, topics = self._metadata(), self._listener.subscribed_topics()
        target: set[TopicPartition] = set()
        lacking = set()
        for topic in topics:
            numbers = metadata.partitions_for_topic(topic)
            target.update(TopicPartition(topic, number) for number in numbers or ())
            if numbers is None and metadata.topic_errors.get(topic) is not UnknownTopicOrPartitionError:
                lacking.add(topic)
        target.update(tp for tp in held if tp.topic in lacking or (tp.topic in topics and self._is_still_there(tp)))
        # Each call is a separate turn, because no step waits for the loop.
        return None if target == held else step_towards(frozenset(target), held, next(self._turns))

    def leave_step(self, held: Partitions) -> Step:
        """See `Membership`."""
        return Step(StepKind.REVOKE, held, next(self._turns))

    def step_done(self, step: Step, held: Partitions) -> None:
        """Do nothing: no request waits for the step."""

    def subscription_changed(self, reason: str) -> None:
        """See `Membership`."""
        self._listener.step_ready()

    def metadata_changed(self, metadata: ClusterMetadata) -> None:
        """Report that there may be new partitions."""
        self._listener.step_ready()

    def commit_refused(self, error_code: int, generation: Generation) -> None:
        """Do nothing: without a group, there are no commits."""

    def begin_to_leave(self, reason: str) -> None:
        """Do nothing: there is no coordinator."""

    async def leave(self, reason: str, timeout_ms: float) -> None:
        """Do nothing: there is no coordinator."""

    async def close(self, timeout_ms: float) -> None:
        """Do nothing: there is nothing to stop."""
