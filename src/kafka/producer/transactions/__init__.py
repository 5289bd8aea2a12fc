"""Transactions (KIP-98): several records and offsets that are committed together or not at all.

`state_machine` defines the producer's states and what errors mean, `transaction_manager` carries out the calls,
`transaction_partitions` tracks the partitions of the open transaction, and `transaction_requests` sends the requests to
coordinators. `two_phase_commit` lets a program end transactions that another process has written.
"""

from kafka.producer.transactions.state_machine import TransactionIdentity
from kafka.producer.transactions.two_phase_commit import end_transactions, end_transactions_async

__all__ = ["TransactionIdentity", "end_transactions", "end_transactions_async"]
