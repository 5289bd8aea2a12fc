"""Membership of share groups (KIP-932): one request, a heartbeat, joins, stays and leaves."""
