"""A partition's records on disk: segments with a sparse index, recovery, producers' state, retention.

Imports `kafka.record` and the standard library only. Nothing here knows of requests or of the network; everything runs
on the broker's loop, so there are no locks.
"""
