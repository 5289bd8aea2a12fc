"""kafka-python's import path of messages of magic 0 and 1."""

from kafka.legacy.record.legacy_base import LegacyRecordBase
from kafka.legacy.record.legacy_batch import LegacyRecord, LegacyRecordBatch
from kafka.legacy.record.legacy_builder import LegacyRecordBatchBuilder, LegacyRecordMetadata

__all__ = ["LegacyRecord", "LegacyRecordBase", "LegacyRecordBatch", "LegacyRecordBatchBuilder", "LegacyRecordMetadata"]
