"""kafka-python's connections: `BrokerConnection` over a connection of `kafka.net`, `KafkaConnection` over a socket."""
