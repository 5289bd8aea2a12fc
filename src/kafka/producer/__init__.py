"""The producer. Layer 6: may import everything below, but neither the consumer nor the admin client.

The journey of a record: `accumulator` (serialize, choose the partition; the caller's thread) puts it into a batch of
`buffer`; `sender`, on the loop, takes batches out of the `queues`, gives them their `identity`, and brings them to the
leaders through `exchange`; `verdict` decides about each answer and `outcomes` applies it. A record's `future` is a view
of its `batch`.
"""

from __future__ import annotations

from kafka.producer.aio import AsyncKafkaProducer
from kafka.producer.future import FutureRecordMetadata
from kafka.producer.kafka import KafkaProducer
from kafka.producer.metadata import RecordMetadata

__all__ = ["AsyncKafkaProducer", "FutureRecordMetadata", "KafkaProducer", "RecordMetadata"]
