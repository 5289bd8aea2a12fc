"""Fetching ahead, on the loop: which partition is asked of which broker, when, and in which session.

May import `kafka.consumer.handover`, `kafka.consumer.subscription`, `kafka.consumer.records` and `kafka.cluster`.
"""
