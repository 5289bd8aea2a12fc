"""`KafkaClient` of 1.0 to 2.x: requests by node, futures, and `poll()`, in which everything happens.

`client` is the class; `node_connections` does on the loop what it asks for; `completions` brings answers to the thread
that polls. `cluster_metadata` is the picture of the cluster that programs read, `delayed_tasks` what they schedule.
"""
