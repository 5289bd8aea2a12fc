"""Transactions (KIP-98): what is known of each transactional id, how it is kept, and how transactions end.

Counterpart: Kafka's transaction coordinator, for one broker: a transaction has ended everywhere before it is answered.
"""
