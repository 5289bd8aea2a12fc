"""Consumer groups of both protocols, classic and KIP-848 (`consumer_members`): members, rebalances, committed offsets.

`kafka.broker.api` decodes the requests, and a `Clock` provides the time, so tests need neither a network nor real time.
"""
