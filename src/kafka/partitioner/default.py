"""The default rule: murmur2 of the key over all partitions, a random available partition where there is no key."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from kafka.partitioner.abc import KnownPartitions, Partitioner
from kafka.partitioner.murmur2 import murmur2


class DefaultPartitioner(Partitioner):
    """Equal to the Java client's for records with a key.

    Works both as a callable, ``(key_bytes, all_partitions, available)``, and through `partition`. The producer knows it
    and, for records without a key, stays on one partition until a batch is full (KIP-480, KIP-794).
    """

    @classmethod
    def __call__(cls, key: bytes | None, all_partitions: Sequence[int], available: Sequence[int]) -> int:
        """Pick a partition.

        Arguments:
            key: the serialized key, or None.
            all_partitions: every partition of the topic, sorted.
            available: those with a leader; may be empty.
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
        """Pick a partition by the serialized key. Raises `ValueError` if the cluster has no such topic."""
        everything = sorted(cluster.partitions_for_topic(topic) or ())
        if not everything:
            raise ValueError(
                f"Topic {topic} not found in ClusterMetadata: it is there once the client has asked for it"
            )
        return self(serialized_key, everything, sorted(cluster.available_partitions_for_topic(topic) or ()))
