"""kafka-python's import path of the producer."""

from kafka.producer.kafka_producer import KafkaProducer

__all__ = ["KafkaProducer"]
