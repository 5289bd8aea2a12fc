"""Tracks the topics of a producer: finds them on first use, keeps them up to date, and forgets idle ones."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import NamedTuple
from uuid import UUID

from kafka.cluster.backoff import Backoff
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.cluster.protocols import MetadataAccess
from kafka.cluster.retry import RetryPolicy, anything_unexpected
from kafka.errors import AssertedArgumentError, KafkaTimeoutError, UnknownTopicOrPartitionError
from kafka.producer.appending.checks import checked_topic
from kafka.producer.appending.record_buffer import RecordBuffer
from kafka.producer.batch.queues import TopicQueues
from kafka.structs import is_another_topic

log = logging.getLogger(__name__)

_USUAL_TRIES = 3
"""Number of failed lookups that is normal for a topic that brokers create automatically; more cause a warning."""
_STALE_S = 5.0
"""Seconds for which brokers with outdated metadata may still return a topic's old state."""


class _Doubt(NamedTuple):
    """Possibly outdated metadata for a topic, and the time since which all responses have agreed."""

    topic_id: UUID | None
    partitions: int
    since: float


class TopicLookup:
    """Keeps the buffer's topics up to date with the cluster's metadata. Runs on the event loop.

    Arguments:
        buffer: contains the queues of the known topics.
        cluster: provides the metadata.
        max_block_s: maximum wait for a topic in seconds.
        max_idle_s: seconds after which metadata for an unused topic is no longer requested.
        backoff: pauses between two attempts.
    """

    def __init__(
        self, buffer: RecordBuffer, cluster: MetadataAccess, max_block_s: float, max_idle_s: float, backoff: Backoff
    ) -> None:
        self._buffer = buffer
        self._cluster = cluster
        self._max_block_s = max_block_s
        self._max_idle_s = max_idle_s
        self._retries = RetryPolicy(backoff, log, quiet=_USUAL_TRIES, fatal=anything_unexpected)
        self._watched: dict[str, float] = {}
        """Topics whose metadata is requested, with the time of each topic's last lookup on the loop's clock."""
        self._awaited: set[str] = set()
        """Topics that are added to the buffer when they become known, without a waiting caller."""
        self._misnumbered: set[str] = set()
        self._doubts: dict[str, _Doubt] = {}

    async def find(self, topic: str, partition: int | None = None) -> int:
        """Wait until a topic, and `partition` if given, is known; return the number of partitions.

        Raises `KafkaTimeoutError` after `max_block_ms`, `IllegalArgumentError` for a partition that the topic does not
        have, and the cluster's error for the topic: `TopicAuthorizationFailedError`, `InvalidTopicError`.
        """
        checked_topic(topic)
        self._buffer.check_open()
        what = f"looking for topic {topic!r} to send to"
        attempts = self._retries.attempts(what, self._max_block_s * 1000)
        try:
            return await attempts.run(partial(self._look_up, topic, partition))
        except KafkaTimeoutError:
            last = attempts.last
            answer = f"; the cluster's last answer: {last}" if last is not None else ""
            advice = "; create it first, or check its name" if isinstance(last, UnknownTopicOrPartitionError) else ""
            raise KafkaTimeoutError(
                f"no metadata of topic {topic!r} within max_block_ms ({self._max_block_s * 1000:g}){answer}{advice}"
            ) from last

    def find_later(self, topic: str) -> None:
        """Look up a topic in the background."""
        if not self._buffer.is_refused_for_good:
            self._awaited.add(topic)
            self._watch(topic)
            self._learn(topic)
            self._cluster.request_refresh([topic])  # also for a missing partition, which the topic may have by now

    def _watch(self, topic: str) -> None:
        is_new = topic not in self._watched
        self._watched[topic] = asyncio.get_running_loop().time()
        if is_new:
            self._cluster.watch_topics(set(self._watched))

    def refresh(self, now: float) -> None:
        """Apply new metadata, and forget topics that have not been used or looked up for `max_idle_s`."""
        idle = self._buffer.forget_idle(now - self._max_idle_s)
        known = set(self._buffer.current_topics())
        idle |= {each for each, at in self._watched.items() if at < now - self._max_idle_s and each not in known}
        if idle:
            for topic in idle:
                self._watched.pop(topic, None)
            self._awaited -= idle
            self._cluster.watch_topics(set(self._watched))
        for topic in list(self._awaited):
            if self._learn(topic) is not None:
                self._awaited.discard(topic)
        for topic in self._buffer.current_topics():
            self._learn(topic)

    async def _look_up(self, topic: str, partition: int | None) -> int:
        """Return a topic's number of partitions, refreshing metadata if necessary; raise an error if it is unknown."""
        self._watch(topic)
        count = self._learn(topic)
        if count is not None and (partition is None or partition < count):
            return count
        metadata = await self._cluster.refresh_metadata([topic])
        count = self._learn(topic)
        if count is None:
            error = metadata.topic_errors.get(topic, UnknownTopicOrPartitionError)
            missing = error is UnknownTopicOrPartitionError
            raise error(f"topic {topic!r} does not exist" if missing else f"topic {topic!r}: {error.description}")
        if partition is not None and partition >= count:
            raise AssertedArgumentError(
                f"topic {topic!r} has partitions 0 to {count - 1}, but partition is {partition}"
            )
        return count

    def _learn(self, topic: str) -> int | None:
        """Apply the metadata for a topic; return its number of partitions, or None if the topic is unknown."""
        metadata = self._cluster.metadata
        count, available = self._partitions(metadata, topic)
        if not count:
            return None
        topic_id = metadata.topic_id(topic)
        known = self._buffer.known_topic(topic)
        if known is None or not self._is_another(known, topic_id, count):
            self._buffer.learn_topic(topic, count, available, topic_id)
        elif not self._is_certain(known, topic_id, count):
            self._buffer.learn_topic(topic, known.count, known.available)
            return known.count
        else:
            log.warning(
                "topic %s was deleted and recreated: it has %d partition(s) now, and had %d before; unwritten "
                "records go to the new one",
                topic,
                count,
                known.count,
            )
            self._buffer.start_over(topic, count, available, topic_id)
        return count

    def _is_another(self, known: TopicQueues, topic_id: UUID | None, partitions: int) -> bool:
        """Return whether the metadata describes another topic with the same name as the known one.

        Topic ids distinguish the topics (KIP-516). Brokers before 2.8 have no ids; with these, a topic that has fewer
        partitions than before was recreated.
        """
        is_another = is_another_topic(known.topic_id, topic_id)
        if topic_id is None and known.topic_id is None:
            is_another = partitions < known.count
        if not is_another:
            self._doubts.pop(known.topic, None)
        return is_another

    def _is_certain(self, known: TopicQueues, topic_id: UUID | None, partitions: int) -> bool:
        """Return whether the metadata certainly describes the newer topic, not the one that it replaced.

        For a while, brokers with outdated metadata may return the older topic.
        """
        if topic_id is not None and topic_id not in known.replaced_ids:
            certain = True
        else:
            now = asyncio.get_running_loop().time()
            doubt = self._doubts.get(known.topic)
            if doubt is None or (doubt.topic_id, doubt.partitions) != (topic_id, partitions):
                doubt = self._doubts[known.topic] = _Doubt(topic_id, partitions, now)
            certain = now - doubt.since >= _STALE_S
        if certain:
            self._doubts.pop(known.topic, None)
        return certain

    def _partitions(self, metadata: ClusterMetadata, topic: str) -> tuple[int, list[int]]:
        """Return a topic's number of partitions, and the partitions that have a leader.

        Partitions are numbered from 0 without gaps. Other numbers are unusable, and must not determine how much memory
        is allocated.
        """
        listed = metadata.partitions_for_topic(topic) or set()
        count = sum(1 for number in listed if number >= 0)
        wrong = [number for number in listed if not 0 <= number < count]
        if wrong and topic not in self._misnumbered:
            self._misnumbered.add(topic)
            log.warning("topic %s: the cluster names partitions %s of %d; they are ignored", topic, wrong[:5], count)
        return count, sorted(p for p in metadata.available_partitions_for_topic(topic) or () if 0 <= p < count)
