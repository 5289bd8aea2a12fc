"""`SimpleProducer` and `KeyedProducer` of 0.9 to 1.4: messages to partitions, by a `SimpleClient`.

`base` checks messages and sends them, or gives them to the thread of `background`;
`simple` and `keyed` choose partitions.
"""
