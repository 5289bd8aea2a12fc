"""Membership in share groups (KIP-932): members join, stay in and leave a group by heartbeats alone."""
