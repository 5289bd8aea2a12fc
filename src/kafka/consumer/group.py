"""kafka-python's import path of `KafkaConsumer`."""

from kafka.consumer.kafka_consumer import KafkaConsumer as KafkaConsumer
