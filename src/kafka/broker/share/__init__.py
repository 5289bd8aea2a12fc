"""Share groups (KIP-932): membership, records in flight, share sessions, and their state on disk.

`kafka.broker.api` translates requests, and time comes from a `Clock`, so tests need neither a network nor real time.
"""
