"""Record batches of magic 0, 1 and 2: bytes to columns and back, codecs, Arrow. Pure: no I/O, no clock.

May import `kafka.errors`, `kafka.partitioner` and the standard library; pyarrow only inside what gives or takes Arrow.
"""

from __future__ import annotations

from kafka.record.batch import BatchHeader, batch_headers, check_batch, set_offsets, set_producer_state
from kafka.record.columns import Columns
from kafka.record.decode import decode_batches
from kafka.record.encode import BatchBuilder
from kafka.record.records import ConsumerRecord
from kafka.record.types import Compression, TimestampType

__all__ = [
    "BatchBuilder",
    "BatchHeader",
    "Columns",
    "Compression",
    "ConsumerRecord",
    "TimestampType",
    "batch_headers",
    "check_batch",
    "decode_batches",
    "set_offsets",
    "set_producer_state",
]
