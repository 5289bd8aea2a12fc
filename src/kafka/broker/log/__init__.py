"""A partition's records on disk: segments with a sparse index, recovery, producer states, and retention.

The package is independent of requests and the network. It runs on the broker's loop, so there are no locks.
"""
