"""The caller's subscription, the assigned partitions, and the handling of changes.

May import `kafka.consumer.arguments`, `kafka.consumer.buffer` and `kafka.coordinator`.
"""
