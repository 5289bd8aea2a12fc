"""`SimpleProducer` and `KeyedProducer` of 0.9 to 1.4, which send messages with a `SimpleClient`.

`producer_classes` contains the producers, which check messages, choose partitions, and then send the messages or pass
them to the thread of `background`.
"""
