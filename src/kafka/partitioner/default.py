"""The included partitioners: Kafka's default rule, sticky (KIP-480), and round-robin."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from typing import Any

from kafka.partitioner.abc import KnownPartitions, Partitioner
from kafka.partitioner.murmur2 import murmur2


class DefaultPartitioner(Partitioner):
    """Chooses the same partitions as the Java client for records with a key.

    Works both as a callable, ``(key_bytes, all_partitions, available)``, and through `partition`. The producer
    recognizes it, and keeps records without a key on one partition until a batch is full (KIP-480, KIP-794).
    """

    @classmethod
    def __call__(cls, key: bytes | None, all_partitions: Sequence[int], available: Sequence[int]) -> int:
        """Choose a partition.

        Arguments:
            key: the serialized key, or None.
            all_partitions: all partitions of the topic, sorted.
            available: the partitions with a leader; may be empty.
        """
        if key is None:
            return random.choice(available or all_partitions)
        return all_partitions[(murmur2(key) & 0x7FFFFFFF) % len(all_partitions)]

    def partition(
        self,
        topic: str,
        key: Any,
        serialized_key: bytes | None,
        value: Any,
        serialized_value: bytes | None,
        cluster: KnownPartitions,
    ) -> int:
        """Choose a partition by the serialized key. Raises `ValueError` if the topic does not exist."""
        everything = sorted(cluster.partitions_for_topic(topic) or ())
        if not everything:
            raise ValueError(
                f"Topic {topic} not found in ClusterMetadata: the client has not requested its metadata yet"
            )
        return self(serialized_key, everything, sorted(cluster.available_partitions_for_topic(topic) or ()))


class StickyPartitioner(DefaultPartitioner):
    """Chooses like `DefaultPartitioner` if there is a key; otherwise keeps to a partition until its batch is full."""

    def __init__(self) -> None:
        self._present: dict[str, int] = {}

    def partition(
        self,
        topic: str,
        key: Any,
        serialized_key: bytes | None,
        value: Any,
        serialized_value: bytes | None,
        cluster: KnownPartitions,
    ) -> int:
        """Choose a partition by the serialized key, or the topic's current partition if there is no key.

        Raises `ValueError` if the topic does not exist.
        """
        if serialized_key is not None:
            return super().partition(topic, key, serialized_key, value, serialized_value, cluster)
        present = self._present.get(topic)
        if present is None or present not in _choices(topic, cluster):
            self.on_new_batch(topic, cluster, -1)
        return self._present[topic]

    def on_new_batch(self, topic: str, cluster: KnownPartitions, prev_partition: int) -> None:
        """Switch the topic to an available partition other than `prev_partition`, if there is one.

        Arguments:
            cluster: the known partitions of topics.
        """
        choices = sorted(_choices(topic, cluster))
        others = [p for p in choices if p != prev_partition] or choices
        self._present[topic] = random.choice(others)


def _choices(topic: str, cluster: KnownPartitions) -> Collection[int]:
    """Return the partitions with a leader, or all if none has one. Raises `ValueError` if the topic is unknown."""
    choices = cluster.available_partitions_for_topic(topic) or cluster.partitions_for_topic(topic)
    if not choices:
        raise ValueError(f"Topic {topic} not found in ClusterMetadata: the client has not requested its metadata yet")
    return choices


class RoundRobinPartitioner:
    """Cycles through the available partitions in the given order, regardless of the key.

    Works as a callable, ``(key_bytes, all_partitions, available)``, and through `partition`, as in kafka-python 0.9 to
    1.4. If the partitions change, it continues at the same index.

    Arguments:
        partitions: the partitions to cycle through if a call does not pass any.
    """

    def __init__(self, partitions: Sequence[int] | None = None) -> None:
        self.partitions = list(partitions or ())
        self._next = 0

    def __call__(
        self,
        key: bytes | None,
        all_partitions: Sequence[int] | None = None,
        available_partitions: Sequence[int] | None = None,
    ) -> int:
        """Return the next partition. Raises `ValueError` if there is none."""
        choices = available_partitions or all_partitions or self.partitions
        if not choices:
            raise ValueError("expected at least one partition to choose from, got none")
        at = self._next if self._next < len(choices) else 0
        self._next = at + 1
        return choices[at]

    def partition(
        self,
        key: bytes | None,
        all_partitions: Sequence[int] | None = None,
        available_partitions: Sequence[int] | None = None,
        *,
        partitions: Sequence[int] | None = None,
    ) -> int:
        """Return the next partition; `partitions` is the name of `all_partitions` in kafka-python 0.9 and 1.0."""
        return self(key, all_partitions or partitions, available_partitions)
