"""Ends transactions that earlier attempts have left open under a prefix: commits decided ones, aborts the others.

The functions run on the loop.
"""

import logging
from collections.abc import Sequence

from kafka.admin.transactions import TransactionDescription
from kafka.producer.transactions import TransactionIdentity
from kafka.producer.transactions.two_phase_commit import Outcome
from kafka.spark.exactly_once.decision import BATCH_WRITE, Decision, Written
from kafka.spark.exactly_once.prefix_access import PrefixAccess
from kafka.spark.exactly_once.replay_check import DriverFencedError
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)

NAMED_RUN = "transactionalBatchId "
"""Followed by the `transactionalBatchId`, this is the run of a batch write that has one."""


async def recover(
    access: PrefixAccess,
    decided: Decision | None,
    open_ids: Sequence[str],
    driver: TransactionIdentity | None,
    *,
    keep: Sequence[Written] = (),
) -> None:
    """Commit decided transactions that are still open; abort the others, if no other driver can decide them.

    Arguments:
        open_ids: the transactional ids with an open transaction.
        driver: the driver that had fenced the others before these ids were listed; None: they are not fenced, and
            nothing is aborted.
        keep: the transactions of the current write.

    Raises `KafkaError` if a decided transaction is not committed yet but still can be, and `DriverFencedError` if open
    transactions may belong to another driver.
    """
    left = set(open_ids) - {each.transaction.transactional_id for each in keep}
    if not left:
        return
    written = decided.written if decided is not None else ()
    pending = [each.transaction for each in written if each.transaction.transactional_id in left]
    outcome = await access.end(pending, commit=True)
    check_known(outcome)
    left -= {identity.transactional_id for identity, error in outcome.items() if error is None}
    if driver is not None and left:
        await _check_not_fenced(access, driver)
        log.info("aborting %d transactions that an earlier attempt left open", len(left))
        await access.abort_ids(sorted(left))


async def _check_not_fenced(access: PrefixAccess, driver: TransactionIdentity) -> None:
    """Raise `DriverFencedError` if another driver has taken over, because its tasks may have started to write."""
    found = (await access.describe([driver.transactional_id])).get(driver.transactional_id)
    if isinstance(found, TransactionDescription) and (found.producer_id, found.producer_epoch) != driver[1:3]:
        raise taken_over(access.prefix)


async def surely_committed(
    access: PrefixAccess, decided: Decision | None, where: TopicPartition | None
) -> frozenset[TransactionIdentity]:
    """Commit the transactions of the last decided batch write; return those that never need to be ended again.

    A write that is repeated with its `transactionalBatchId` commits them again, unless it is recorded that they are
    committed. Until then, no other transactions may follow them.

    Raises `KafkaError` if they are not committed yet but still can be.
    """
    if decided is None or where is None or decided.query != BATCH_WRITE:
        return frozenset()
    transactions = frozenset(each.transaction for each in decided.written)
    batch_id = decided.run.removeprefix(NAMED_RUN) if decided.run.startswith(NAMED_RUN) else None
    if batch_id is not None and await access.is_finished(batch_id):
        return transactions
    outcome = await access.end(transactions, commit=True)
    check_known(outcome)
    lost = {identity.transactional_id: error for identity, error in outcome.items() if error is not None}
    if lost:
        log.warning("rows of a batch write (%s) are lost: they were decided but not committed: %s", decided.run, lost)
    if batch_id is not None and (lost or not await access.note_finished(batch_id, where, decided.batch)):
        return frozenset()
    return frozenset(each for each in transactions if outcome[each] is None)


def taken_over(prefix: str) -> DriverFencedError:
    return DriverFencedError(
        f"another driver has taken over transactionalIdPrefix {prefix!r} since this batch began: this one must stop, "
        "and has committed nothing of the batch"
    )


def check_known(outcome: Outcome) -> None:
    """Raise a retriable error: it is unknown whether the decided transaction is committed, so it is not aborted."""
    for error in outcome.values():
        if error is not None and error.retriable:
            raise error
