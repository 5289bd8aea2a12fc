"""What to do about a partition's answer to a batch: one decision, without side effects."""

from __future__ import annotations

import enum

from kafka.errors import (
    BrokerResponseError,
    ClusterAuthorizationFailedError,
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


class Verdict(enum.Enum):
    """What becomes of a batch that was answered."""

    DELIVERED = "it is in the log"
    AGAIN = "send it again after a pause"
    AFTER_OTHERS = "send it again when those before it have been answered; it could not be accepted before them"
    NEW_EPOCH = "the broker has lost track of the sequence: send it again in a new epoch (KIP-360)"
    NEW_ID = "the producer's id is no longer good: send it again under another one"
    WITHOUT_ID = "the cluster allows no idempotence: send it again without"
    SPLIT = "the broker takes no batch of this size: send it in parts"
    FAILED = "sending it again cannot help"


def judge(
    error: type[BrokerResponseError], *, records: int, has_sequence: bool, is_first: bool, idempotence_required: bool
) -> Verdict:
    """Decide about one batch.

    Arguments:
        error: class of the partition's error code.
        records: their number in the batch.
        has_sequence: whether it was sent with a producer id.
        is_first: whether nothing that comes before it is still on its way or waits to be sent again.
        idempotence_required: whether the user has asked for idempotence, so that the producer may not go without.
    """
    if issubclass(error, (NoError, DuplicateSequenceNumberError)):
        return Verdict.DELIVERED
    if issubclass(error, _TOO_LARGE) and records > 1:
        return Verdict.SPLIT
    if has_sequence:
        if issubclass(error, _GAP):
            # Nobody before it can fill the gap any more when it is the first; else somebody may.
            return Verdict.NEW_EPOCH if is_first else Verdict.AFTER_OTHERS
        if issubclass(error, _FENCED):
            return Verdict.NEW_ID
        if issubclass(error, ClusterAuthorizationFailedError) and not idempotence_required:
            return Verdict.WITHOUT_ID
    return Verdict.AGAIN if error.retriable else Verdict.FAILED
