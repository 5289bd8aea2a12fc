"""Commits: asked for, automatic, and what they return.

May import `kafka.consumer.subscription` and `kafka.coordinator`.
"""
