"""Commits of offsets: `commit`, `commit_async`, and automatic ones.

May import `kafka.consumer.subscription` and `kafka.coordinator`.
"""
