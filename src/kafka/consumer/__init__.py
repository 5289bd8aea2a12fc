"""The consumer: `KafkaConsumer`, its asyncio counterpart `AsyncKafkaConsumer`, and the parts of both.

Layer 6: may import `kafka.coordinator` and the layers below it. Fetching, group membership and commits run on the event
loop. Fetched bytes are decoded in the caller's thread. `docs/DESIGN.md`, "Data flow", follows a record through it. To
add a metric, see `monitoring`.
"""

from typing import TYPE_CHECKING, Any

from kafka import _old_names
from kafka.consumer.subscription.subscription_state import AsyncConsumerRebalanceListener, ConsumerRebalanceListener

if TYPE_CHECKING:
    from kafka.consumer._async.bounded_read import AsyncBoundedRead
    from kafka.consumer._sync.bounded_read import BoundedRead
    from kafka.consumer.async_consumer import AsyncKafkaConsumer
    from kafka.consumer.kafka_consumer import KafkaConsumer
    from kafka.consumer.records.build_records import ConsumerRecords
    from kafka.record import Columns, ConsumerRecord

__all__ = [
    "AsyncBoundedRead",
    "AsyncConsumerRebalanceListener",
    "AsyncKafkaConsumer",
    "BoundedRead",
    "Columns",
    "ConsumerRebalanceListener",
    "ConsumerRecord",
    "ConsumerRecords",
    "KafkaConsumer",
    "MultiProcessConsumer",
    "SimpleConsumer",
]

_HOMES = {
    "AsyncBoundedRead": "kafka.consumer._async.bounded_read",
    "AsyncKafkaConsumer": "kafka.consumer.async_consumer",
    "BoundedRead": "kafka.consumer._sync.bounded_read",
    "Columns": "kafka.record",
    "ConsumerRecord": "kafka.record",
    "ConsumerRecords": "kafka.consumer.records.build_records",
    "KafkaConsumer": "kafka.consumer.group",
    "MultiProcessConsumer": "kafka.consumer.multiprocess",
    "SimpleConsumer": "kafka.consumer.simple",
}


def __getattr__(name: str) -> Any:
    """Load a consumer on first access: most programs use only one of them."""
    return _old_names.of_a_package(__name__, name, _HOMES)
