"""aiokafka's import path of the producer."""

from kafka.aio.producer.producer import AIOKafkaProducer

__all__ = ["AIOKafkaProducer"]
