"""What the caller subscribes to, which partitions are assigned, and what to do when they change.

May import `kafka.consumer.arguments`, `kafka.consumer.buffer` and `kafka.coordinator`.
"""
