"""aiokafka's import path for the consumer."""

from kafka.aio.consumer.consumer import AIOKafkaConsumer

__all__ = ["AIOKafkaConsumer"]
