"""aiokafka's import path of the consumer."""

from kafka.aio.consumer.consumer import AIOKafkaConsumer

__all__ = ["AIOKafkaConsumer"]
