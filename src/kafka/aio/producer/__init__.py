"""aiokafka's import path for the producer."""

from kafka.aio.producer.producer import AIOKafkaProducer

__all__ = ["AIOKafkaProducer"]
