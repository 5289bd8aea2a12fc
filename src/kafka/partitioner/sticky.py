"""Records without a key stay on one partition for a while, so that batches fill up (KIP-480)."""

from __future__ import annotations

import random
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
        """Pick a partition by the serialized key, or the present one of the topic."""
        if serialized_key is not None:
            return super().partition(topic, key, serialized_key, value, serialized_value, cluster)
        if topic not in self._present:
            self.on_new_batch(topic, cluster, -1)
        return self._present[topic]

    def on_new_batch(self, topic: str, cluster: KnownPartitions, prev_partition: int) -> None:
        """Move the topic to another available partition than `prev_partition`, if there is one."""
        choices = sorted(cluster.available_partitions_for_topic(topic) or cluster.partitions_for_topic(topic) or {0})
        others = [p for p in choices if p != prev_partition] or choices
        self._present[topic] = random.choice(others)
