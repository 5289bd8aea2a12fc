"""What names one transaction in the cluster."""

from __future__ import annotations

from typing import NamedTuple


class TransactionIdentity(NamedTuple):
    """A transaction, as another process can end it: plain values, which can be written down.

    Arguments:
        transactional_id: of the producer.
        producer_id, producer_epoch: that the coordinator gave to the producer.
        transaction_version: 1, or 2 where every transaction has an epoch of its own (KIP-890). It belongs to the
            transaction: what was begun as one cannot be ended as the other.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    transaction_version: int
