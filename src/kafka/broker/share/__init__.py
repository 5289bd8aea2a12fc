"""Share groups (KIP-932): membership, the records that are in flight, share sessions, and what of it is kept on disk.

Requests are translated in `kafka.broker.api`, and time comes from outside (`Clock`), so that the tests need neither a
network nor a clock.
"""
