"""kafka-python's import path of `ConsumerRecord`, and of the error of a position that is nowhere."""

from kafka.errors import NoOffsetForPartitionError
from kafka.record.records import ConsumerRecord

__all__ = ["ConsumerRecord", "NoOffsetForPartitionError"]
