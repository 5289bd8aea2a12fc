"""After which errors a transaction is aborted, and after which the producer is of no more use.

As Kafka's Java client has it, with more that can be aborted: whether the producer may go on is for the coordinator to
say when it is asked to abort.
"""

from __future__ import annotations

from typing import Literal

from kafka.errors import (
    ClusterAuthorizationFailedError,
    InvalidProducerEpochError,
    InvalidProducerIdMappingError,
    InvalidTxnStateError,
    KafkaError,
    ProducerFencedError,
    TransactionAbortableError,
    TransactionalIdAuthorizationFailedError,
    TransactionFatalError,
    UnknownProducerIdError,
    UnsupportedVersionError,
)

Step = Literal["init", "add", "commit", "abort", "epoch"]
"""What was asked of the coordinator: an id; to add partitions or offsets; to end the transaction; another epoch."""

_FENCED = (ProducerFencedError, InvalidProducerEpochError)
_NO_ADDING = (TransactionalIdAuthorizationFailedError, InvalidTxnStateError)
_NO_COMMIT_BUT_ABORT = (
    InvalidProducerIdMappingError,
    InvalidTxnStateError,  # of version 2 it has timed out, and the coordinator takes an abort
    TransactionAbortableError,
    UnknownProducerIdError,
)
_NO_PRODUCING = (
    ClusterAuthorizationFailedError,
    ProducerFencedError,
    TransactionalIdAuthorizationFailedError,
    UnsupportedVersionError,
)


def failure_of(error: KafkaError, step: Step) -> tuple[KafkaError, bool]:
    """The error to tell, and whether the producer cannot go on."""
    if isinstance(error, _FENCED):
        return _fenced(error), True
    if step == "init":
        return error, False
    if step == "add" and not isinstance(error, _NO_ADDING):
        return error, False
    if step == "commit" and isinstance(error, _NO_COMMIT_BUT_ABORT):
        return error, False
    if step == "abort" and isinstance(error, TransactionAbortableError):
        return error, False
    return _fatal(error), True


def fatal_in_a_batch(error: KafkaError) -> KafkaError | None:
    """The error to tell, if one of a batch is such that the producer cannot go on.

    A broker's INVALID_PRODUCER_EPOCH is not: the transaction may have timed out, which the coordinator knows (KIP-588).
    """
    if isinstance(error, ProducerFencedError):
        return _fenced(error)
    return _fatal(error) if isinstance(error, _NO_PRODUCING) else None


def _fenced(error: KafkaError) -> ProducerFencedError:
    text = error.args[0] if error.args else error
    fenced = ProducerFencedError(
        f"another producer with this transactional_id has taken over, or a transaction has timed out: {text}"
    )
    fenced.__cause__ = error
    return fenced


def _fatal(error: KafkaError) -> TransactionFatalError:
    fatal = TransactionFatalError(f"the producer cannot continue, close it and create a new one: {error}")
    fatal.__cause__ = error
    return fatal
