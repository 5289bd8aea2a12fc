"""kafka-python's import path of partitioners that hash, from 0.9 to 1.4."""

from kafka.legacy.partitioners import HashedPartitioner as HashedPartitioner
from kafka.legacy.partitioners import LegacyPartitioner as LegacyPartitioner
from kafka.legacy.partitioners import Murmur2Partitioner as Murmur2Partitioner
from kafka.legacy.partitioners import Partitioner as Partitioner
from kafka.legacy.partitioners import murmur2 as murmur2
