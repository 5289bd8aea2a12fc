"""Membership of share groups (KIP-932): heartbeats are the only request, to join, stay and leave."""
