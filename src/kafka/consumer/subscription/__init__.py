"""What the caller wants to read, which partitions it has, and what to do when they change.

May import `kafka.consumer.arguments`, `kafka.consumer.buffer` and `kafka.coordinator`.
"""
