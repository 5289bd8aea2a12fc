"""aiokafka's import path of the default partitioner."""

from kafka.partitioner.default import DefaultPartitioner
from kafka.partitioner.murmur2 import murmur2

__all__ = ["DefaultPartitioner", "murmur2"]
