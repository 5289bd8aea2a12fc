"""kafka-python's import path of `ConsumerRecord`, and of errors of fetching."""

from kafka.consumer.records.record_errors import RecordTooLargeError
from kafka.errors import NoOffsetForPartitionError
from kafka.record.records import ConsumerRecord

__all__ = ["ConsumerRecord", "NoOffsetForPartitionError", "RecordTooLargeError"]
