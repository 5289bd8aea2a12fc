"""What the caller wants to read, which partitions it has, and what to do when that changes.

May import `kafka.consumer.handover` and `kafka.coordinator`.
"""
