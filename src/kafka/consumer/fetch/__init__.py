"""Fetching ahead of the caller, on the loop: which partition is fetched from which broker, when, in which session.

May import `kafka.consumer.buffer`, `kafka.consumer.subscription`, `kafka.consumer.records` and `kafka.cluster`.
"""
