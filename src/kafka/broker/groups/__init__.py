"""Consumer groups, classic and of KIP-848 (`consumer_members`): membership, rebalancing, and the offsets they commit.

`kafka.broker.api` translates requests, and time comes from a `Clock`, so tests need neither a network nor real time.
"""
