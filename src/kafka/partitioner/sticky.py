"""Records without a key stay on one partition for a while, so that batches fill up (KIP-480)."""

from __future__ import annotations

import random
from collections.abc import Collection
from typing import Any

from kafka.partitioner.abc import KnownPartitions
from kafka.partitioner.default import DefaultPartitioner


class StickyPartitioner(DefaultPartitioner):
    """Keys as `DefaultPartitioner`; without a key, the topic's present partition until a new batch is begun."""

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
        """Pick a partition by the serialized key, or the present one of the topic.

        Raises `ValueError` if the cluster has no such topic.
        """
        if serialized_key is not None:
            return super().partition(topic, key, serialized_key, value, serialized_value, cluster)
        present = self._present.get(topic)
        if present is None or present not in _choices(topic, cluster):
            self.on_new_batch(topic, cluster, -1)
        return self._present[topic]

    def on_new_batch(self, topic: str, cluster: KnownPartitions, prev_partition: int) -> None:
        """Move the topic to another available partition than `prev_partition`, if there is one.

        Arguments:
            cluster: what is known of the partitions of topics.
        """
        choices = sorted(_choices(topic, cluster))
        others = [p for p in choices if p != prev_partition] or choices
        self._present[topic] = random.choice(others)


def _choices(topic: str, cluster: KnownPartitions) -> Collection[int]:
    """The partitions with a leader, or all where none has one. Raises `ValueError` if there is no such topic."""
    choices = cluster.available_partitions_for_topic(topic) or cluster.partitions_for_topic(topic)
    if not choices:
        raise ValueError(f"Topic {topic} not found in ClusterMetadata: it is there once the client has asked for it")
    return choices
