"""Fetching ahead of the caller, on the loop: which partition is fetched from which broker, when, in which session.

Metrics are in `kafka.consumer.monitoring`.

May import `kafka.consumer.buffer`, `kafka.consumer.subscription`, `kafka.consumer.records` and `kafka.cluster`.
"""
