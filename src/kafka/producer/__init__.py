"""The producer. Layer 6: may import everything below, but neither the consumer nor the admin client.

The journey of a record: `intake` checks and serializes it in the caller's thread and adds it to a batch of `batch`;
`send`, on the loop, takes batches out of their queues and brings them to the leaders, numbered by `idempotence`;
`outcome` decides about each answer and tells the record's future. `arrow` puts tables into the same queues. The faces
are `kafka_producer` and `async_producer`; `core` is what both have in common, and `lifetime` looks after producers that
nobody closes.
"""

from __future__ import annotations

from kafka.producer.async_producer import AsyncKafkaProducer
from kafka.producer.kafka_producer import KafkaProducer
from kafka.producer.outcome.future import FutureRecordMetadata
from kafka.producer.outcome.record_metadata import RecordMetadata

__all__ = ["AsyncKafkaProducer", "FutureRecordMetadata", "KafkaProducer", "RecordMetadata"]
