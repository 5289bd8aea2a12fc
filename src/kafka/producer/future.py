"""kafka-python's import path of what `send()` returns."""

from kafka.producer.outcome.future import FutureRecordMetadata
from kafka.producer.outcome.record_metadata import RecordMetadata

__all__ = ["FutureRecordMetadata", "RecordMetadata"]
