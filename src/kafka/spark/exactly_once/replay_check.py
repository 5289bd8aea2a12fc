"""Determines from a prefix's last decision whether a write is new, has already been committed, or must stop. Pure.

This module also defines the errors of writes that must stop. Their messages explain what has happened to the rows.
"""

import dataclasses
import logging

from kafka.errors import KafkaError
from kafka.spark.exactly_once.decision import BATCH_WRITE, Decision


class ExactlyOnceError(KafkaError):
    """A write with the option `exactlyOnce` cannot continue."""


class PrefixInUseError(ExactlyOnceError):
    """The `transactionalIdPrefix` belongs to another query, or to a checkpoint that no longer exists."""


class SecondWriteError(ExactlyOnceError):
    """Two writes of one micro-batch have the same `transactionalIdPrefix`."""


class ReplayDiffersError(ExactlyOnceError):
    """A committed micro-batch is replayed with different rows."""


class DriverFencedError(ExactlyOnceError):
    """Another driver has taken over the query; this one must not continue."""


class NotDecidedError(ExactlyOnceError):
    """Another client ended a transaction before the batch was decided. Nothing of the batch is committed."""


class TransactionLostError(ExactlyOnceError):
    """A transaction was aborted after the batch was decided. Its rows are lost; the other rows are committed."""


log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class Write:
    """Identifies a write.

    Arguments:
        prefix: the option `transactionalIdPrefix`.
        query: the id of the query; `BATCH_WRITE` if there is none.
        run: the id of the query's run, or of the batch write.
        batch: the number of the micro-batch; 0 for a batch write.
        checkpoint: the location of the query's checkpoint, if the sink knows it; otherwise "".
    """

    prefix: str
    query: str
    run: str
    batch: int
    checkpoint: str


def is_done(write: Write, decided: Decision | None) -> bool:
    """Return whether an earlier run of the same query has decided this write; if not, it is new.

    Raises `PrefixInUseError` if the prefix belongs to another query, and `SecondWriteError` if this run has decided it.
    """
    if decided is None:
        return False
    if decided.query != write.query:
        raise PrefixInUseError(
            f"transactionalIdPrefix {write.prefix!r} belongs to {_owner(decided)}, not to {_name(write)}: no rows "
            "were written. Choose another prefix for each query and each new checkpoint; if the owner is gone for "
            f"good, release the prefix with kafka.spark.transactions({write.prefix!r}, ...).forget()"
        )
    if write.query == BATCH_WRITE or decided.batch < write.batch:
        return False
    if decided.batch > write.batch:
        raise PrefixInUseError(
            f"micro-batch {write.batch} of query {write.query} is older than micro-batch {decided.batch}, which the "
            f"same query has committed under transactionalIdPrefix {write.prefix!r}: its checkpoint seems to be an "
            "older copy. No rows were written; with another prefix, its batches are written as new ones"
        )
    if decided.run == write.run:
        raise SecondWriteError(
            f"micro-batch {write.batch} of query {write.query} was written before, in the same run, with "
            f"transactionalIdPrefix {write.prefix!r}: each write of a foreachBatch function needs a prefix of its own. "
            "None of the rows of this write were written"
        )
    return True


def check_replay(write: Write, decided: Decision, rows: int) -> None:
    """Raise `ReplayDiffersError` if a decided write is replayed with a different number of rows.

    Arguments:
        rows: the number of rows in the replay.
    """
    if rows != decided.rows:
        raise ReplayDiffersError(
            f"micro-batch {write.batch} of query {write.query} was committed with {decided.rows} rows under "
            f"transactionalIdPrefix {write.prefix!r}, but is replayed with {rows}: it is another write of the same "
            "foreachBatch function, which needs its own prefix, or the query is not deterministic, or its checkpoint "
            "is an older copy. The rows were not written again; they would be with another prefix"
        )


def _owner(decided: Decision) -> str:
    if decided.query == BATCH_WRITE:
        return "batch writes"
    where = f" with the checkpoint {decided.checkpoint}" if decided.checkpoint else ""
    return f"query {decided.query}{where}"


def _name(write: Write) -> str:
    return write.query if write.query == BATCH_WRITE else f"query {write.query}"
