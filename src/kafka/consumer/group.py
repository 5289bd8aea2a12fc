"""kafka-python's import path of `KafkaConsumer`.

The consumer is loaded through it: agents that trace programs wait for the import of this module.
"""

from kafka.consumer.kafka_consumer import KafkaConsumer as KafkaConsumer
