"""Share groups (KIP-932): members, records in flight, share sessions, and their state on disk.

`kafka.broker.api` decodes the requests, and a `Clock` provides the time, so tests need neither a network nor real time.
"""
