"""kafka-python's import path of the producer.

The producer is loaded through it: agents that trace programs wait for the import of this module.
"""

from kafka.producer.kafka_producer import KafkaProducer

__all__ = ["KafkaProducer"]
