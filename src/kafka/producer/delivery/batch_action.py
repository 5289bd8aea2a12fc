"""Decides how to react to a broker's response to a batch, without side effects."""

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
    """The possible reactions to the response to a batch."""

    COMPLETE = "it is in the log"
    RETRY = "send it again after a pause"
    RETRY_IN_ORDER = "send it again after the responses to earlier batches; it could not be accepted before these"
    BUMP_EPOCH = "the broker has lost track of the sequence: send it again in a new epoch (KIP-360)"
    RESET_PRODUCER_ID = "the producer's id is no longer valid: send it again with a new one"
    DISABLE_IDEMPOTENCE = "the cluster does not allow idempotence: send it again without"
    SPLIT = "the broker rejects batches of this size: send it in parts"
    FAIL = "sending it again cannot help"


COMPLETE = BatchAction.COMPLETE
"""A module global, because Python 3.11 looks up enum members with a function call."""


def action_for(
    error: type[BrokerResponseError],
    *,
    records: int,
    has_sequence: bool,
    is_first: bool,
    idempotence_required: bool,
    transactional: bool = False,
) -> BatchAction:
    """Decide what to do with one batch.

    Arguments:
        error: the error class for the partition's error code.
        records: number of records in the batch.
        has_sequence: whether the batch was sent with a producer id.
        is_first: whether no earlier batch is in flight or waiting to be sent again.
        idempotence_required: whether the user has requested idempotence; if so, the producer must not continue without
            it.
        transactional: whether the batch belongs to a transaction; if so, the transaction determines the id and epoch,
            and fails if the batch fails.
    """
    if issubclass(error, (NoError, DuplicateSequenceNumberError)):
        return BatchAction.COMPLETE
    if issubclass(error, _TOO_LARGE) and records > 1:
        return BatchAction.SPLIT
    if has_sequence:
        if issubclass(error, _GAP):
            # For the first batch, no earlier batch can fill the gap any more. For other batches, an earlier one still
            # may.
            if not is_first:
                return BatchAction.RETRY_IN_ORDER
            return BatchAction.FAIL if transactional else BatchAction.BUMP_EPOCH
        if issubclass(error, _FENCED):
            return BatchAction.FAIL if transactional else BatchAction.RESET_PRODUCER_ID
        if issubclass(error, ClusterAuthorizationFailedError) and not idempotence_required:
            return BatchAction.DISABLE_IDEMPOTENCE
    if issubclass(error, CorruptRecordError):  # damaged in transit, because the batch was intact when it was encoded
        return BatchAction.RETRY
    return BatchAction.RETRY if error.retriable else BatchAction.FAIL
