"""The producer's part of `Health`: whether acknowledgements arrive."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kafka.cluster.client_health import STALLED_S, Observed
from kafka.config import ProducerOptions
from kafka.producer.idempotence import Idempotence, IdempotenceState
from kafka.producer.transactions.state_machine import TransactionState

if TYPE_CHECKING:
    from kafka.producer.appending.record_buffer import RecordBuffer
    from kafka.producer.transactions.transaction_manager import TransactionManager

_OVERDUE = 0.5
"""Fraction of ``delivery_timeout_ms`` after which a batch counts as late."""


def observe(
    options: ProducerOptions,
    buffer: RecordBuffer,
    acknowledged_at: float,
    transactions: TransactionManager | None,
    idempotence: Idempotence | None,
    now: float,
) -> Observed:
    """Return the observable state of a producer. Any thread may call this.

    Arguments:
        acknowledged_at: time of the last acknowledgement on the loop's clock, in seconds; minus infinity if there has
            been none.
    """
    batches = list(buffer.incomplete)
    oldest = min((batch.created for batch in batches), default=math.inf)
    late = now - oldest > _OVERDUE * options.delivery_timeout_ms / 1000
    waits_for = []
    if batches:
        waits_for.append(f"acknowledgements of {sum(batch.count for batch in batches)} record(s)")
    if idempotence is not None and idempotence.state is IdempotenceState.WANTED and not idempotence.transactional:
        waits_for.append("a producer id")
    fatal = None if idempotence is None or idempotence.state is not IdempotenceState.REFUSED else idempotence.error
    failed = False
    if transactions is not None:
        state = transactions.state
        fatal = transactions.error if state is TransactionState.FATAL else fatal
        failed = state is TransactionState.FAILED
        if failed:
            waits_for.append("abort_transaction(): the transaction has failed")
    since = max(acknowledged_at, oldest) if batches else None
    return Observed(since, STALLED_S + options.linger_ms / 1000, tuple(waits_for), late or failed, fatal)
