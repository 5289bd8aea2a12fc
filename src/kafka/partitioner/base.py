"""kafka-python's import path of the partitioners' base class, from 0.9 to 1.4."""

from kafka.legacy.partitioners import Partitioner as Partitioner
