"""`kafka.consumer.subscription_state` of 1.0 to 2.x: what a program, or a `ConsumerCoordinator`, reads and from where.

`state` is what is subscribed to and assigned, `topic_partition_state` the position of one partition. `KafkaConsumer`
has a state of its own (`kafka.consumer.subscription`), which its loop reads; this one belongs to who made it.
"""
