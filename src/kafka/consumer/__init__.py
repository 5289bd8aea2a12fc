"""The consumer: `KafkaConsumer`, its asyncio counterpart `AsyncKafkaConsumer`, and the parts of both.

Layer 6: may import `kafka.coordinator` and what lies below it. Fetching, group membership and commits run on the event
loop. Fetched bytes are decoded in the caller's thread. `docs/DESIGN.md`, "Journeys", follows a record through it.
"""

from kafka.consumer.async_consumer import AsyncKafkaConsumer
from kafka.consumer.kafka_consumer import KafkaConsumer
from kafka.consumer.subscription.subscription_state import AsyncConsumerRebalanceListener, ConsumerRebalanceListener

__all__ = ["AsyncConsumerRebalanceListener", "AsyncKafkaConsumer", "ConsumerRebalanceListener", "KafkaConsumer"]
