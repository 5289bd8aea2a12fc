"""Record batches (magic 0, 1 and 2): encoding, decoding into columns, codecs, Arrow. Pure: no I/O, no clock.

May import `kafka.errors`, `kafka.partitioner` and the standard library; pyarrow only for Arrow data.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kafka import _old_names
from kafka.record.batch_headers import (
    BatchHeader,
    ProducerState,
    batch_headers,
    check_batch,
    set_offsets,
    set_producer_state,
)
from kafka.record.batch_runs import whole_batches
from kafka.record.batch_types import Buffer, Compression, TimestampType
from kafka.record.builder import BatchBuilder
from kafka.record.columns import Columns
from kafka.record.decode import BatchDecoder, decode_batches, decode_run
from kafka.record.records import ConsumerRecord
from kafka.record.validate import BatchContents, validate_batch

if TYPE_CHECKING:
    from kafka.record.arrow_batches import arrow_schema as arrow_schema
    from kafka.record.arrow_batches import concat_arrow as concat_arrow
    from kafka.record.arrow_rows import ArrowRows as ArrowRows
    from kafka.record.arrow_rows import EncodedBatch as EncodedBatch

__all__ = [
    "ArrowRows",
    "BatchBuilder",
    "BatchContents",
    "BatchDecoder",
    "BatchHeader",
    "Buffer",
    "Columns",
    "Compression",
    "ConsumerRecord",
    "EncodedBatch",
    "ProducerState",
    "TimestampType",
    "arrow_schema",
    "batch_headers",
    "check_batch",
    "concat_arrow",
    "decode_batches",
    "decode_run",
    "set_offsets",
    "set_producer_state",
    "validate_batch",
    "whole_batches",
]

_NEED_ARROW = {
    "ArrowRows": "kafka.record.arrow_rows",
    "EncodedBatch": "kafka.record.arrow_rows",
    "arrow_schema": "kafka.record.arrow_batches",
    "concat_arrow": "kafka.record.arrow_batches",
}


_OLD_NAMES = {
    "MemoryRecords": "kafka.record.memory_records",
    "MemoryRecordsBuilder": "kafka.record.memory_records",
}
"""The names that kafka-python's package of the same name exports."""


def __getattr__(name: str) -> Any:
    """Load names that need pyarrow, or that only old releases export, on first use (PEP 562)."""
    if name in _NEED_ARROW:
        return getattr(importlib.import_module(_NEED_ARROW[name]), name)
    return _old_names.of_a_package(__name__, name, _OLD_NAMES)
