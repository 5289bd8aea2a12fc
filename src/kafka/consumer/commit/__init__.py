"""Offset commits: `commit`, `commit_async`, and automatic commits.

May import `kafka.consumer.subscription` and `kafka.coordinator`.
"""
