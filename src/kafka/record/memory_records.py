"""kafka-python's import path of records in memory."""

from kafka.legacy.record.memory_records import MemoryRecords, MemoryRecordsBuilder

__all__ = ["MemoryRecords", "MemoryRecordsBuilder"]
