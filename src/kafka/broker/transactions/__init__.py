"""Transactions (KIP-98): the state of each transactional id, its storage, and how transactions end.

Counterpart: Kafka's transaction coordinator, for a single broker: a transaction ends everywhere before EndTxn is
answered.
"""
