"""`KafkaClient` of 1.0 to 2.x: requests by node, futures, and `poll()`, in which everything happens.

`kafka_client` has the class, with the tasks that programs schedule. `node_connections` does its work on the loop,
reports the states of nodes, and brings answers to the polling thread. `cluster_metadata` is the view of the cluster
that programs read.
"""
