"""Where to continue reading: committed offsets, the ends of a log, and the offsets that times stand for.

May import `kafka.consumer.handover`, `kafka.consumer.subscription` and `kafka.cluster`.
"""
