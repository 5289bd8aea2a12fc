"""Fetches ahead of the caller, on the loop: chooses brokers, schedules requests, and manages fetch sessions.

Metrics are in `kafka.consumer.monitoring`.

May import `kafka.consumer.buffer`, `kafka.consumer.subscription`, `kafka.consumer.records` and `kafka.cluster`.
"""
