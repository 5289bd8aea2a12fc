"""The producer. Layer 6: may import everything below, but neither the consumer nor the admin client.

The journey of a record: `intake` checks and serializes it in the caller's thread and adds it to a batch of `batch`;
`send`, on the loop, takes batches out of their queues and brings them to the leaders, numbered by `idempotence`. It
acts on each answer as `outcome` decides, whose future tells the caller. `arrow` puts tables into the same queues. The
faces are `kafka_producer` and `async_producer`; `core` is what both have in common, and `lifetime` looks after
producers that nobody closes.

Of these packages, one imports another only to the right: `transactions`, `send`, `arrow`, `intake`, `batch`, `outcome`.
"""

from __future__ import annotations

from typing import Any

from kafka import _old_names
from kafka.producer.async_producer import AsyncKafkaProducer
from kafka.producer.future import FutureRecordMetadata
from kafka.producer.kafka import KafkaProducer
from kafka.producer.outcome.record_metadata import RecordMetadata

__all__ = [
    "AsyncKafkaProducer",
    "FutureRecordMetadata",
    "KafkaProducer",
    "KeyedProducer",
    "RecordMetadata",
    "SimpleProducer",
]

_HOMES = {
    "KeyedProducer": "kafka.producer.keyed",
    "SimpleProducer": "kafka.producer.simple",
}


def __getattr__(name: str) -> Any:
    """Load a producer of kafka-python 0.9 to 1.4."""
    return _old_names.of_a_package(__name__, name, _HOMES)
