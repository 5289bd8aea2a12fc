"""What to do about a partition's answer to a batch: one decision, without side effects."""

from __future__ import annotations

import enum

from kafka.errors import (
    BrokerResponseError,
    ClusterAuthorizationFailedError,
    CorruptRecordError,
    DuplicateSequenceNumberError,
    InvalidProducerEpochError,
    InvalidProducerIdMappingError,
    MessageSizeTooLargeError,
    NoError,
    OutOfOrderSequenceNumberError,
    ProducerFencedError,
    RecordListTooLargeError,
    UnknownProducerIdError,
)

_TOO_LARGE = (MessageSizeTooLargeError, RecordListTooLargeError)
_GAP = (OutOfOrderSequenceNumberError, UnknownProducerIdError)
_FENCED = (InvalidProducerEpochError, ProducerFencedError, InvalidProducerIdMappingError)


class BatchAction(enum.Enum):
    """What becomes of a batch that was answered."""

    COMPLETE = "it is in the log"
    RETRY = "send it again after a pause"
    RETRY_IN_ORDER = "send it again when those before it have been answered; it could not be accepted before them"
    BUMP_EPOCH = "the broker has lost track of the sequence: send it again in a new epoch (KIP-360)"
    RESET_PRODUCER_ID = "the producer's id is no longer good: send it again under another one"
    DISABLE_IDEMPOTENCE = "the cluster allows no idempotence: send it again without"
    SPLIT = "the broker takes no batch of this size: send it in parts"
    FAIL = "sending it again cannot help"


def action_for(
    error: type[BrokerResponseError],
    *,
    records: int,
    has_sequence: bool,
    is_first: bool,
    idempotence_required: bool,
    transactional: bool = False,
) -> BatchAction:
    """Decide about one batch.

    Arguments:
        error: class of the partition's error code.
        records: their number in the batch.
        has_sequence: whether it was sent with a producer id.
        is_first: whether nothing that comes before it is still on its way or waits to be sent again.
        idempotence_required: whether the user has asked for idempotence, so that the producer may not go without.
        transactional: whether it belongs to a transaction, which fails with it: id and epoch are the transaction's.
    """
    if issubclass(error, (NoError, DuplicateSequenceNumberError)):
        return BatchAction.COMPLETE
    if issubclass(error, _TOO_LARGE) and records > 1:
        return BatchAction.SPLIT
    if has_sequence:
        if issubclass(error, _GAP):
            # If it is the first, no earlier batch can fill the gap any more. Otherwise, one still may.
            if not is_first:
                return BatchAction.RETRY_IN_ORDER
            return BatchAction.FAIL if transactional else BatchAction.BUMP_EPOCH
        if issubclass(error, _FENCED):
            return BatchAction.FAIL if transactional else BatchAction.RESET_PRODUCER_ID
        if issubclass(error, ClusterAuthorizationFailedError) and not idempotence_required:
            return BatchAction.DISABLE_IDEMPOTENCE
    if issubclass(error, CorruptRecordError):  # damaged on its way, as it was not when it was encoded
        return BatchAction.RETRY
    return BatchAction.RETRY if error.retriable else BatchAction.FAIL
