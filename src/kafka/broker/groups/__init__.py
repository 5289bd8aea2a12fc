"""Consumer groups, classic and of KIP-848 (`consumer_members`): membership, rebalancing, and the offsets they commit.

Requests are translated in `kafka.broker.api`, and time comes from outside (`Clock`), so that the tests need neither a
network nor a clock.
"""
