"""Carries out what the core asks for: waits, and runs the group's callbacks, in the caller's thread or on its loop.

Stands on top of the other parts; only the faces import it. May import `kafka.consumer.core` and all below it.
"""
