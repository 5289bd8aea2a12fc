"""`SimpleProducer` and `KeyedProducer` of 0.9 to 1.4: messages to partitions, by a `SimpleClient`.

`producer_classes` has the producers, which check messages, choose partitions, and send or pass them to the thread of
`background`.
"""
