"""The consumers of 0.9 and 1.x that stand on a `SimpleClient`.

`base` keeps and commits offsets; `simple` hands out what `fetching` fetches, which waits as `fetch_context` says;
`multiprocess` has `worker` processes do so. `marked_consumer` is the `KafkaConsumer` of 0.9: its `options`, the
`topic_forms` that it takes, `marked_fetching`, `auto_commit`.
"""
