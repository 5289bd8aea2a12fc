"""The consumers of 0.9 and 1.x, which use a `SimpleClient`.

`consumer_base` tracks and commits offsets. `simple` fetches messages and returns them; `multiprocess` does so in
separate processes. `marked_consumer` is the `KafkaConsumer` of 0.9, with its options, and `marked_fetching` fetches for
it.
"""
