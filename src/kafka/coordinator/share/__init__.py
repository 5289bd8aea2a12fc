"""Membership in share groups (KIP-932): heartbeats are the only request, to join, stay in and leave the group."""
