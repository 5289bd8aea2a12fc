"""A partition's records on disk: segments with a sparse index, recovery, producers' state, retention.

It knows nothing about requests and the network. Everything runs on the broker's loop, so there are no locks.
"""
