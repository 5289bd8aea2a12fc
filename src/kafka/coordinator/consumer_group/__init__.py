"""The group protocol of KIP-848: the coordinator works out assignments, and one request, the heartbeat, says all.

Java: ``ConsumerMembershipManager`` and ``ConsumerHeartbeatRequestManager``.
"""
