"""An import path of `AsyncKafkaConsumer` that programs use."""

from kafka.consumer.async_consumer import AsyncKafkaConsumer as AsyncKafkaConsumer
