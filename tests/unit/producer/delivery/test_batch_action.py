"""What is done about each answer to a batch."""

from __future__ import annotations

import pytest

from kafka.errors import (
    BrokerResponseError,
    ClusterAuthorizationFailedError,
    CorruptRecordError,
    DuplicateSequenceNumberError,
    InvalidProducerEpochError,
    InvalidProducerIdMappingError,
    InvalidRecordError,
    MessageSizeTooLargeError,
    NoError,
    NotLeaderForPartitionError,
    OutOfOrderSequenceNumberError,
    ProducerFencedError,
    RecordListTooLargeError,
    TopicAuthorizationFailedError,
    UnknownProducerIdError,
)
from kafka.producer.delivery.batch_action import BatchAction, action_for


def decide(
    error: type[BrokerResponseError],
    *,
    records: int = 2,
    has_sequence: bool = True,
    is_first: bool = True,
    required: bool = False,
    transactional: bool = False,
) -> BatchAction:
    return action_for(
        error,
        records=records,
        has_sequence=has_sequence,
        is_first=is_first,
        idempotence_required=required,
        transactional=transactional,
    )


@pytest.mark.parametrize(
    "error",
    [
        OutOfOrderSequenceNumberError,
        UnknownProducerIdError,
        InvalidProducerEpochError,
        InvalidProducerIdMappingError,
        ProducerFencedError,
    ],
)
def test_in_a_transaction_batches_are_not_renumbered(error: type[BrokerResponseError]) -> None:
    assert decide(error, transactional=True) is BatchAction.FAIL
    assert decide(error) is not BatchAction.FAIL


def test_in_a_transaction_batches_wait_for_earlier_ones() -> None:
    assert decide(OutOfOrderSequenceNumberError, transactional=True, is_first=False) is BatchAction.RETRY_IN_ORDER
    assert decide(MessageSizeTooLargeError, transactional=True) is BatchAction.SPLIT
    assert decide(NotLeaderForPartitionError, transactional=True) is BatchAction.RETRY


@pytest.mark.parametrize("has_sequence", [False, True])
@pytest.mark.parametrize(
    ("error", "action"),
    [
        (NoError, BatchAction.COMPLETE),
        (DuplicateSequenceNumberError, BatchAction.COMPLETE),
        (MessageSizeTooLargeError, BatchAction.SPLIT),
        (RecordListTooLargeError, BatchAction.SPLIT),
        (CorruptRecordError, BatchAction.RETRY),
        (NotLeaderForPartitionError, BatchAction.RETRY),
        (InvalidRecordError, BatchAction.FAIL),
        (TopicAuthorizationFailedError, BatchAction.FAIL),
    ],
)
def test_actions_that_do_not_depend_on_a_sequence(
    error: type[BrokerResponseError], action: BatchAction, has_sequence: bool
) -> None:
    assert decide(error, has_sequence=has_sequence) is action


@pytest.mark.parametrize("error", [MessageSizeTooLargeError, RecordListTooLargeError])
def test_a_single_record_cannot_be_split(error: type[BrokerResponseError]) -> None:
    assert decide(error, records=1) is BatchAction.FAIL


@pytest.mark.parametrize("error", [OutOfOrderSequenceNumberError, UnknownProducerIdError])
def test_earlier_batches_may_fill_a_sequence_gap(error: type[BrokerResponseError]) -> None:
    assert decide(error, is_first=True) is BatchAction.BUMP_EPOCH
    assert decide(error, is_first=False) is BatchAction.RETRY_IN_ORDER
    assert decide(error, has_sequence=False) is BatchAction.FAIL


@pytest.mark.parametrize("error", [InvalidProducerEpochError, ProducerFencedError, InvalidProducerIdMappingError])
def test_an_invalid_producer_id_is_replaced(error: type[BrokerResponseError]) -> None:
    assert decide(error) is BatchAction.RESET_PRODUCER_ID
    assert decide(error, has_sequence=False) is not BatchAction.RESET_PRODUCER_ID


def test_forbidden_idempotence_is_disabled_unless_it_was_requested() -> None:
    assert decide(ClusterAuthorizationFailedError) is BatchAction.DISABLE_IDEMPOTENCE
    assert decide(ClusterAuthorizationFailedError, required=True) is BatchAction.FAIL
    assert decide(ClusterAuthorizationFailedError, has_sequence=False) is BatchAction.FAIL
