"""The driver's steps: plan a write, decide and commit it, or abort it. They run on the event loop.

The decision is the commit point. Before it, any failure aborts everything; after it, nothing is ever aborted. `recover`
ends the transactions that earlier attempts have left open: it commits decided ones and aborts the others.
"""

import asyncio
import dataclasses
import logging
import secrets
from collections.abc import Sequence

from kafka._loop_services import wall_clock_ns
from kafka.admin.admin_requests import gather
from kafka.admin.transactions import TransactionDescription, TransactionState
from kafka.errors import (
    InvalidProducerEpochError,
    InvalidTransactionTimeoutError,
    KafkaConfigurationError,
    KafkaError,
    ProducerFencedError,
)
from kafka.producer.transactions import TransactionIdentity
from kafka.producer.transactions.two_phase_commit import Outcome
from kafka.spark.exactly_once.decision import BATCH_WRITE, Decision, Written
from kafka.spark.exactly_once.prefix_access import PrefixAccess
from kafka.spark.exactly_once.replay_check import (
    DriverFencedError,
    NotDecidedError,
    TransactionLostError,
    Write,
    check_replay,
    is_done,
)
from kafka.spark.options.parsing import WriteOptions
from kafka.structs import TopicPartition

log = logging.getLogger(__name__)

LONGEST_TIMEOUT_MS = 15 * 60_000
"""The default of the brokers' transaction.max.timeout.ms."""


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """The driver's message to the tasks of one attempt at a write.

    Arguments:
        token: identifies the attempt.
        run: the id of a batch write.
        timeout_ms: the transaction timeout.
        decided: the last decision.
        committed: the transactions of the last decision, if it belongs to a batch write and they need not be ended
            again.
        driver: the identity of this driver if it has already fenced the others; None if it fences them when it decides.
        newest: the newest driver, if it has not been fenced yet; None if unknown. This driver decides only if no other
            driver has fenced the newest one in the meantime.
        is_marked: whether a batch write with this `transactionalBatchId` has already been decided.
    """

    token: str
    run: str
    timeout_ms: int
    decided: Decision | None
    committed: frozenset[TransactionIdentity]
    driver: TransactionIdentity | None
    newest: TransactionIdentity | None
    is_marked: bool


@dataclasses.dataclass(frozen=True, slots=True)
class TaskResult:
    """A task's message to the driver.

    Arguments:
        write: the write that the task belongs to.
        driver, newest, timeout_ms: as in the plan.
        rows: number of rows that the task received.
        written: the transaction that contains the rows; None if there are no rows, or if the write had already been
            decided.
    """

    write: Write
    driver: TransactionIdentity | None
    newest: TransactionIdentity | None
    timeout_ms: int
    rows: int
    written: Written | None


async def plan(access: PrefixAccess, options: WriteOptions, checkpoint: str) -> Plan:
    """Read the last decision, end the open transactions of an earlier driver of the same query, and fence that driver.

    At this point, the location of the checkpoint identifies the query, because only the tasks know the query's id. If
    the prefix may belong to another query, no driver is fenced yet, because a wrong prefix must not stop that query.

    Arguments:
        checkpoint: the location of the query's checkpoint, if the sink knows it; otherwise "".
    """
    exactly_once = options.exactly_once
    assert exactly_once is not None
    timeout_ms = await _timeout_ms(access, exactly_once.timeout_ms)
    decided, where = await access.read(stable=False)
    driver = newest = None
    if not _is_of(decided, checkpoint):
        last = await access.last_driver()
        newest = last.identity
        if last.has_decided:  # a recent decision may not be visible yet
            decided, where = await access.read(stable=True)
    left = await access.open_ids()
    if _is_of(decided, checkpoint):
        driver = await _fence(access, timeout_ms)
        decided, where = await access.read(stable=True)
    await recover(access, decided, left, driver)
    batch_id = exactly_once.batch_id
    return Plan(
        token=secrets.token_hex(8),
        run=secrets.token_hex(8) if batch_id is None else f"{NAMED_RUN}{batch_id}",
        timeout_ms=timeout_ms,
        decided=decided,
        committed=await surely_committed(access, decided, where),
        driver=driver,
        newest=newest,
        is_marked=batch_id is not None and await access.is_marked(batch_id),
    )


def _is_of(decided: Decision | None, checkpoint: str) -> bool:
    """Return whether the last decision belongs to the query with this checkpoint."""
    return decided is not None and bool(checkpoint) and decided.checkpoint == checkpoint


async def commit(access: PrefixAccess, options: WriteOptions, results: Sequence[TaskResult]) -> None:
    """Decide a write and commit it; if it has already been decided, commit it again.

    Raises `DriverFencedError` if another driver has taken over, and `NotDecidedError` if another client ended a
    transaction before the decision. Raises `TransactionLostError` if a transaction was ended after the decision.
    """
    write, timeout_ms = results[0].write, results[0].timeout_ms
    mine = [each.written for each in results if each.written is not None]
    rows = sum(each.rows for each in results)
    decided, where = await access.read(stable=False)
    done = _is_done(write, decided)
    driver, left = results[0].driver, None
    if driver is None:
        left = await access.open_ids()  # once other drivers are fenced, these transactions can no longer be decided
        try:
            driver = await _fence(access, timeout_ms, results[0].newest)
        except DriverFencedError:
            if not await _is_marked(access, options, write):
                raise
        decided, where = await access.read(stable=True)
        done = _is_done(write, decided)
    done = done or await _is_marked(access, options, write)
    kept, where = where, _where(options, where, mine)
    if where is not None and where != kept and not mine:  # no task has written to the topic, which may not exist yet
        await access.await_topic(where)
    still_open = _check_open(access, [] if done else mine, timeout_ms)
    if left is None:
        _, left = await gather([still_open, access.open_ids()])
    else:
        await still_open
    # Killed tasks of this batch may have left transactions open. These block readers, and would do so for a long time
    # if this is the last batch.
    await recover(access, decided, left or (), driver, keep=mine)
    if done:
        await _commit_again(access, options, driver, write, decided, where, rows, mine)
        return
    assert driver is not None, "otherwise it is done"
    batch = write.batch
    if write.query == BATCH_WRITE and decided is not None:
        batch = decided.batch + 1
    decision = Decision(write.query, write.run, batch, write.checkpoint, rows, tuple(mine))
    batch_id = _batch_id(options, write)
    if where is not None:
        await _decide(access, driver, decision, where, batch_id)
    await _finish(access, decision)
    if batch_id is not None and where is not None:
        await access.note_finished(batch_id, where, decision.batch)


async def abort(access: PrefixAccess, results: Sequence[TaskResult | None]) -> None:
    """Abort the transactions of tasks unless they are decided, because Spark also calls this after a failed commit."""
    told = [each for each in results if each is not None]
    mine = [each.written.transaction for each in told if each.written is not None]
    drivers = {each.driver for each in told if each.driver is not None}
    if not mine:
        return
    await access.end(drivers, commit=False)  # if the commit has failed, the batch must not be decided later
    decided, _ = await access.read(stable=True)
    if decided is not None and {each.transaction for each in decided.written} & set(mine):
        log.warning("micro-batch %d is decided; it will be committed when it is replayed", decided.batch)
        return
    outcome = await access.end(mine, commit=False)
    left = {identity.transactional_id: error for identity, error in outcome.items() if error is not None}
    if left:
        log.warning("these transactions could not be aborted; Kafka will abort them when they time out: %s", left)


async def _timeout_ms(access: PrefixAccess, wanted_ms: int | None) -> int:
    """Return the transaction timeout. Raises `KafkaConfigurationError` if brokers do not allow it."""
    longest_ms = await access.longest_ms()
    if wanted_ms is None:
        return min(LONGEST_TIMEOUT_MS, longest_ms or LONGEST_TIMEOUT_MS)
    if longest_ms is not None and wanted_ms > longest_ms:
        raise _too_long(wanted_ms, f"{longest_ms}")
    return wanted_ms


def _too_long(timeout_ms: int, allowed: str) -> KafkaConfigurationError:
    return KafkaConfigurationError(
        f"option 'kafka.transaction.timeout.ms' is {timeout_ms}, but the brokers allow {allowed} "
        "(transaction.max.timeout.ms): change one of them. The timeout must be longer than the slowest micro-batch "
        "and than a restart of the driver"
    )


async def _fence(
    access: PrefixAccess, timeout_ms: int, expected: TransactionIdentity | None = None
) -> TransactionIdentity:
    try:
        return await access.fence(timeout_ms, expected)
    except InvalidTransactionTimeoutError as error:
        raise _too_long(timeout_ms, "less") from error
    except (ProducerFencedError, InvalidProducerEpochError) as error:
        raise taken_over(access.prefix) from error


def _is_done(write: Write, decided: Decision | None) -> bool:
    """Like `is_done`, for a write that its tasks considered new.

    Raises `DriverFencedError` if a later batch is decided, because only another driver can have decided it.
    """
    if decided is not None and decided.query == write.query != BATCH_WRITE and decided.batch > write.batch:
        raise taken_over(write.prefix)
    return is_done(write, decided)


async def _is_marked(access: PrefixAccess, options: WriteOptions, write: Write) -> bool:
    """Return whether a batch write with this id is decided, possibly by another driver after this one planned it."""
    batch_id = _batch_id(options, write)
    return batch_id is not None and await access.is_marked(batch_id)


def _batch_id(options: WriteOptions, write: Write) -> str | None:
    """Return the `transactionalBatchId` of a batch write; None in foreachBatch, where micro-batches are numbered."""
    assert options.exactly_once is not None
    return options.exactly_once.batch_id if write.query == BATCH_WRITE else None


def _where(options: WriteOptions, kept: TopicPartition | None, mine: Sequence[Written]) -> TopicPartition | None:
    """Return the partition under which to store the decision. It must belong to an existing topic."""
    if options.topic is not None:
        return TopicPartition(options.topic, 0)
    if kept is not None:
        return kept
    topics = sorted(topic for each in mine for topic in each.partitions)
    return TopicPartition(topics[0], 0) if topics else None


async def _commit_again(
    access: PrefixAccess,
    options: WriteOptions,
    driver: TransactionIdentity | None,
    write: Write,
    decided: Decision | None,
    where: TopicPartition | None,
    rows: int,
    mine: Sequence[Written],
) -> None:
    """Commit a decision of an earlier run again, and assign it to this run, which must not write the batch twice."""
    if mine:  # another driver has decided the write since the tasks began
        await access.end([each.transaction for each in mine], commit=False)
    if decided is None or (write.query == BATCH_WRITE and decided.run != write.run):
        return  # the write was committed before the last batch write
    batch_id = _batch_id(options, write)
    if batch_id is not None and await access.is_finished(batch_id):
        return  # a later attempt at another write may have reused the transactional ids
    if write.query != BATCH_WRITE:
        check_replay(write, decided, rows)
    await _finish(access, decided)
    if where is None:
        return
    if batch_id is not None:
        await access.note_finished(batch_id, where, decided.batch)
    if write.query != BATCH_WRITE:
        assert driver is not None, "without one, only batch writes are supported"
        renewed = dataclasses.replace(decided, run=write.run, checkpoint=write.checkpoint)
        await _decide(access, driver, renewed, where, None)


async def _check_open(access: PrefixAccess, mine: Sequence[Written], timeout_ms: int) -> None:
    """Raise `NotDecidedError` unless all transactions are open.

    Warn if they have been open for more than half the timeout.
    """
    described = await access.describe([each.transaction.transactional_id for each in mine]) if mine else {}
    now_ms = wall_clock_ns()() // 1_000_000
    oldest_ms = now_ms
    for each in mine:
        identity = each.transaction
        found = described.get(identity.transactional_id)
        if found is None:
            continue
        if not isinstance(found, TransactionDescription):
            raise NotDecidedError(f"{_ENDED}: Kafka does not know {each} ({found})") from found
        named = (found.producer_id, found.producer_epoch) == identity[1:3]
        if found.state is not TransactionState.ONGOING or not named:
            raise NotDecidedError(
                f"{_ENDED}: {each} is {found.state.value} in Kafka, with epoch {found.producer_epoch} instead of "
                f"{identity.producer_epoch}. It took longer than kafka.transaction.timeout.ms ({timeout_ms}), another "
                "write uses the same transactionalIdPrefix, or it was aborted manually"
            )
        oldest_ms = min(oldest_ms, found.transaction_start_time_ms)
    if now_ms - oldest_ms > timeout_ms // 2:
        log.warning(
            "the micro-batch took %d ms, more than half of the %d ms allowed for its transactions "
            "(kafka.transaction.timeout.ms): use smaller batches or a longer timeout",
            now_ms - oldest_ms,
            timeout_ms,
        )


_ENDED = "a transaction of this batch ended before the batch was decided, so nothing of the batch is committed"


async def _decide(
    access: PrefixAccess,
    driver: TransactionIdentity,
    decision: Decision,
    where: TopicPartition,
    batch_id: str | None,
) -> None:
    try:
        await access.decide(driver, decision, where, batch_id)
    except (ProducerFencedError, InvalidProducerEpochError) as error:
        raise taken_over(access.prefix) from error


async def _finish(access: PrefixAccess, decided: Decision) -> None:
    """Commit a decision. Raises a `TransactionLostError` that names the transactions that could not be committed."""
    by_identity = {each.transaction: each for each in decided.written}
    outcome = await asyncio.shield(access.end(by_identity, commit=True))
    failed: dict[TransactionIdentity, KafkaError] = {
        identity: error for identity, error in outcome.items() if error is not None
    }
    check_known(outcome)
    if failed:
        lost = "; ".join(f"{by_identity[identity]}: {error}" for identity, error in failed.items())
        raise TransactionLostError(
            f"rows of batch {decided.batch} of {decided.query} are lost: it was decided, but {len(failed)} of its "
            f"{len(decided.written)} transactions were aborted before they could be committed, because they were open "
            f"for longer than kafka.transaction.timeout.ms or were aborted manually: {lost}. The others are "
            "committed. To write the whole batch again, including the committed rows, continue with another "
            "transactionalIdPrefix"
        )


NAMED_RUN = "transactionalBatchId "
"""Prefix of the run id of a batch write that has a `transactionalBatchId`, which follows the prefix."""


async def recover(
    access: PrefixAccess,
    decided: Decision | None,
    open_ids: Sequence[str],
    driver: TransactionIdentity | None,
    *,
    keep: Sequence[Written] = (),
) -> None:
    """Commit decided transactions that are still open, and abort the others if no other driver can decide them.

    Arguments:
        open_ids: the transactional ids with an open transaction.
        driver: the driver that had fenced the others before these ids were listed. If None, the others are not fenced,
            and nothing is aborted.
        keep: the transactions of the current write.

    Raises `KafkaError` if a decided transaction has not been committed yet but still can be, and `DriverFencedError` if
    open transactions may belong to another driver.
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
    """Commit the transactions of the last decided batch write; return those that never have to be ended again.

    If the write is repeated with its `transactionalBatchId`, these transactions are committed again, unless their
    commit is recorded. Until then, their transactional ids must not be used for other transactions.

    Raises `KafkaError` if transactions have not been committed yet but still can be.
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
    """Raise the outcome's retriable error, if any: the decided transaction may still be committed."""
    for error in outcome.values():
        if error is not None and error.retriable:
            raise error
