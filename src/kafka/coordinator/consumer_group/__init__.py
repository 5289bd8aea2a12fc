"""The group protocol of KIP-848: the coordinator computes assignments, and heartbeats are the only request.

Java: ``ConsumerMembershipManager`` and ``ConsumerHeartbeatRequestManager``.
"""
