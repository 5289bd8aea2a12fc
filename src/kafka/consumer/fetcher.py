"""kafka-python's import path of `ConsumerRecord`, and of errors of fetching."""

from typing import Any

from kafka import _old_names
from kafka.consumer.records.record_errors import RecordTooLargeError
from kafka.errors import NoOffsetForPartitionError
from kafka.record.records import ConsumerRecord

__all__ = ["ConsumerRecord", "NoOffsetForPartitionError", "RecordTooLargeError"]


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
