"""Transactions (KIP-98): the state of each transactional id, its storage, and the completion of transactions.

Counterpart: Kafka's transaction coordinator. As there is a single broker, all markers of a transaction are written
before the response to EndTxn is sent.
"""
