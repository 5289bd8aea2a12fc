"""Which partition a record goes to. Layer 0.

`DefaultPartitioner` is Kafka's own rule: murmur2 of the key, as in the Java client, so that clients of all languages
put a key into the same partition.
"""

from kafka.partitioner.abc import Partitioner
from kafka.partitioner.default import DefaultPartitioner
from kafka.partitioner.murmur2 import murmur2
from kafka.partitioner.roundrobin import RoundRobinPartitioner
from kafka.partitioner.sticky import StickyPartitioner

__all__ = ["DefaultPartitioner", "Partitioner", "RoundRobinPartitioner", "StickyPartitioner", "murmur2"]
