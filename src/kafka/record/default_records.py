"""kafka-python's import path of batches of magic 2."""

from kafka.legacy.record.default_base import DefaultRecordBase
from kafka.legacy.record.default_batch import DefaultRecordBatch
from kafka.legacy.record.default_builder import DefaultRecordBatchBuilder
from kafka.legacy.record.default_record import ControlRecord, DefaultRecord, DefaultRecordMetadata

__all__ = [
    "ControlRecord",
    "DefaultRecord",
    "DefaultRecordBase",
    "DefaultRecordBatch",
    "DefaultRecordBatchBuilder",
    "DefaultRecordMetadata",
]
