"""The consumer: `KafkaConsumer`, its asyncio face `AsyncKafkaConsumer`, and what they stand on.

Layer 6: may import `kafka.coordinator` and what lies below it. A core on the loop fetches, joins the group and commits;
buffered bytes are decoded in the caller's thread. `docs/DESIGN.md`, "Three journeys", has the way of a record.
"""

from kafka.consumer.async_consumer import AsyncKafkaConsumer
from kafka.consumer.kafka_consumer import KafkaConsumer
from kafka.consumer.subscription.subscription_state import AsyncConsumerRebalanceListener, ConsumerRebalanceListener

__all__ = ["AsyncConsumerRebalanceListener", "AsyncKafkaConsumer", "ConsumerRebalanceListener", "KafkaConsumer"]
