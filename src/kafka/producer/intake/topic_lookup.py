"""Which topics a producer knows: found when they are first sent to, kept up to date, given up when they are idle."""

from __future__ import annotations

import asyncio
import logging

from kafka.cluster.metadata import ClusterMetadata
from kafka.cluster.seam import MetadataAccess
from kafka.errors import IllegalArgumentError, KafkaError, KafkaTimeoutError
from kafka.producer.batch.record_buffer import RecordBuffer
from kafka.producer.intake.checks import checked_topic

log = logging.getLogger(__name__)

IDLE_S = 300.0
"""A topic that nothing was sent to for so long is asked about no more (Java: metadata.max.idle.ms)."""


class TopicLookup:
    """Keeps the buffer's topics like those of the cluster. On the loop.

    Arguments:
        buffer: has the queues of the topics that are known.
        cluster: has the metadata.
        max_block_s: longest wait for a topic, in seconds.
        retry_s: seconds between two attempts.
    """

    def __init__(self, buffer: RecordBuffer, cluster: MetadataAccess, max_block_s: float, retry_s: float) -> None:
        self._buffer = buffer
        self._cluster = cluster
        self._max_block_s = max_block_s
        self._retry_s = retry_s
        self._watched: set[str] = set()
        self._misnumbered: set[str] = set()

    async def find(self, topic: str, partition: int | None = None) -> int:
        """Wait until a topic is known, and a partition of it if one is named; returns the number of partitions.

        Raises `KafkaTimeoutError` after `max_block_ms`, `IllegalArgumentError` for a partition that the topic does not
        have, and what the cluster says against the topic: `TopicAuthorizationFailedError`, `InvalidTopicError`.
        """
        checked_topic(topic)
        if self._buffer.refusal is not None:
            raise self._buffer.refusal
        if topic not in self._watched:
            self._watched.add(topic)
            self._cluster.watch_topics(self._watched)
        last: KafkaError | None = None
        try:
            async with asyncio.timeout(self._max_block_s):
                count = self._learn(topic)
                while count is None or (partition is not None and partition >= count):
                    last = await self._ask(topic, last)
                    count = self._learn(topic)
                    if count is not None and partition is not None and partition >= count:
                        raise IllegalArgumentError(
                            f"topic {topic!r} has partitions 0 to {count - 1}, but partition is {partition}"
                        )
        except TimeoutError:
            raise KafkaTimeoutError(
                f"no metadata of topic {topic!r} within max_block_ms ({self._max_block_s * 1000:g})"
                + (f"; the cluster's last answer: {last}" if last is not None else "")
            ) from last
        return count

    def refresh(self, metadata: ClusterMetadata, now: float) -> None:
        """Take over new metadata, and give up the topics that nothing was sent to for a while."""
        idle = self._buffer.forget_idle(now - IDLE_S)
        if idle:
            self._watched -= idle
            self._cluster.watch_topics(self._watched)
        for topic, queues in list(self._buffer.topics.items()):
            count, available = self._partitions(metadata, topic)
            if count:
                self._buffer.learn_topic(topic, max(count, queues.count), available)

    def _learn(self, topic: str) -> int | None:
        """Take over what the metadata say of a topic; None if they do not know it."""
        count, available = self._partitions(self._cluster.metadata, topic)
        if not count:
            return None
        self._buffer.learn_topic(topic, count, available)
        return count

    def _partitions(self, metadata: ClusterMetadata, topic: str) -> tuple[int, list[int]]:
        """The number of a topic's partitions, and those that have a leader.

        Partitions are numbered from 0 without a gap. Other numbers are no partitions that can be sent to, and their
        size must not decide how much memory is taken.
        """
        listed = metadata.partitions_for_topic(topic) or set()
        count = sum(1 for number in listed if number >= 0)
        wrong = [number for number in listed if not 0 <= number < count]
        if wrong and topic not in self._misnumbered:
            self._misnumbered.add(topic)
            log.warning("topic %s: the cluster names partitions %s of %d; they are ignored", topic, wrong[:5], count)
        return count, sorted(p for p in metadata.available_partitions_for_topic(topic) or () if 0 <= p < count)

    async def _ask(self, topic: str, last: KafkaError | None) -> KafkaError | None:
        """Refresh the metadata of a topic; returns why it is not known. Raises what waiting cannot change."""
        try:
            metadata = await self._cluster.refresh_metadata([topic])
        except KafkaError as failure:
            if not failure.retriable:
                raise
            await asyncio.sleep(self._retry_s)
            return failure
        refused = metadata.topic_errors.get(topic)
        if refused is None:
            return last
        error = refused(f"topic {topic!r}: {refused.description}")
        if not refused.retriable:
            raise error
        return error
