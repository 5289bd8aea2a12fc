"""Fetching ahead of the caller, on the loop: from which broker, when, and in which session.

Metrics are in `kafka.consumer.monitoring`.

May import `kafka.consumer.buffer`, `kafka.consumer.subscription`, `kafka.consumer.records` and `kafka.cluster`.
"""
