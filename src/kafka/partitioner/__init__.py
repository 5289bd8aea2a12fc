"""Partitioners, which choose the partition of a record. Layer 0.

`DefaultPartitioner` is Kafka's own rule: murmur2 of the key, as in the Java client, so that clients of all languages
put a key into the same partition.
"""

from typing import Any

from kafka import _old_names
from kafka.partitioner.abc import Partitioner
from kafka.partitioner.default import DefaultPartitioner, RoundRobinPartitioner, StickyPartitioner
from kafka.partitioner.murmur2 import murmur2

__all__ = [
    "DefaultPartitioner",
    "HashedPartitioner",
    "LegacyPartitioner",
    "Murmur2Partitioner",
    "Partitioner",
    "RoundRobinPartitioner",
    "StickyPartitioner",
    "murmur2",
]

_HOMES = dict.fromkeys(("HashedPartitioner", "LegacyPartitioner", "Murmur2Partitioner"), "kafka.partitioner.hashed")


def __getattr__(name: str) -> Any:
    """Load a partitioner that only kafka-python 0.9 to 1.4 had."""
    return _old_names.of_a_package(__name__, name, _HOMES)
