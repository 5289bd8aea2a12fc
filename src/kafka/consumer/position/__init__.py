"""Where to start reading: committed offsets, the start and end of the log, and offsets by time.

May import `kafka.consumer.buffer`, `kafka.consumer.subscription` and `kafka.cluster`.
"""
