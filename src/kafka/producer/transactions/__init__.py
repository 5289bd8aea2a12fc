"""Transactions (KIP-98): several records, and offsets, that are committed together or not at all.

`state` has the states of a producer and the moves between them, `transactions` what its calls do, `partitions` what is
in the open transaction, `requests` the requests to coordinators, `failures` what each error means. `ending` is for
programs that end a transaction which another process has written: two-phase commits.
"""

from kafka.producer.transactions.transaction_state import TransactionIdentity
from kafka.producer.transactions.two_phase_commit import end_transactions, end_transactions_async

__all__ = ["TransactionIdentity", "end_transactions", "end_transactions_async"]
