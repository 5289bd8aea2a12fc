"""The producer. Layer 6: may import every lower layer, but neither the consumer nor the admin client.

The path of a record: `appending` checks and serializes it in the caller's thread, and appends it to a batch (`batch`).
On the event loop, `send` takes batches out of their queues and sends them to the leaders, numbered by `idempotence`.
`delivery` decides what each response means for a batch; the caller learns the result from the record's `future`.
`arrow_encoder` adds tables to the same queues. `kafka_producer` and `async_producer` contain the public classes, and
`_sync` and `_async` contain their methods. Both classes share `core`. `lifetime` closes producers that the program did
not close.

These packages import each other only from left to right: `transactions`, `send`, `appending`, `batch`, `delivery`.
"""

from __future__ import annotations

from typing import Any

from kafka import _old_names
from kafka.producer.async_producer import AsyncKafkaProducer
from kafka.producer.delivery.record_metadata import RecordMetadata
from kafka.producer.future import FutureRecordMetadata
from kafka.producer.kafka import KafkaProducer

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
    """Load one of the producers from kafka-python 0.9 to 1.4."""
    return _old_names.of_a_package(__name__, name, _HOMES)
