"""`KafkaClient` of 1.0 to 2.x: requests to nodes, futures, and `poll()`, which drives everything.

`kafka_client` contains the class and its scheduled tasks. `node_connections` runs on the loop: it connects, tracks the
states of nodes, and passes responses to the polling thread. `cluster_metadata` is the view of the cluster that programs
see.
"""
