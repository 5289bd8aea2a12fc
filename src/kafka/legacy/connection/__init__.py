"""Connections of kafka-python: `BrokerConnection`, based on `kafka.net`, and `KafkaConnection`, based on a socket."""
