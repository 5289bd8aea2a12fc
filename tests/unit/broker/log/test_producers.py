"""Idempotent producers: repeated batches, gaps, and epochs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.partition import PartitionLog
from unit.broker.batches import append

OpenLog = Callable[..., PartitionLog]
LAST = 2**31 - 1


def refused(log: PartitionLog, producer: tuple[int, int, int]) -> ErrorCode:
    end = log.end_offset
    with pytest.raises(RequestFailed) as caught:
        append(log, [b"?"], producer=producer)
    assert log.end_offset == end
    return caught.value.code


def test_a_repeated_batch_returns_its_offset_and_is_not_written(open_log: OpenLog) -> None:
    log = open_log()
    for number in range(5):
        append(log, [b"a", b"b"], producer=(1, 0, 2 * number))
    for number in range(5):
        assert append(log, [b"a", b"b"], producer=(1, 0, 2 * number)) == 2 * number
    assert log.end_offset == 10


def test_only_the_last_five_batches_are_remembered(open_log: OpenLog) -> None:
    log = open_log()
    for number in range(6):
        append(log, [b"a"], producer=(1, 0, number))
    assert append(log, [b"a"], producer=(1, 0, 1)) == 1
    assert refused(log, (1, 0, 0)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_gap_in_sequence_numbers_is_rejected(open_log: OpenLog) -> None:
    log = open_log()
    append(log, [b"a", b"b"], producer=(1, 0, 0))
    assert refused(log, (1, 0, 3)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(log, [b"c"], producer=(1, 0, 2)) == 2


def test_a_new_epoch_starts_at_zero_and_fences_the_old_one(open_log: OpenLog) -> None:
    log = open_log()
    append(log, [b"a"], producer=(1, 0, 0))
    assert refused(log, (1, 1, 5)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    append(log, [b"a"], producer=(1, 1, 0))
    assert refused(log, (1, 0, 1)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_an_unknown_producer_may_start_at_any_sequence_number(open_log: OpenLog) -> None:
    log = open_log()
    assert append(log, [b"a"], producer=(1, 3, 500)) == 0
    assert append(log, [b"a"], producer=(1, 3, 501)) == 1


def test_sequence_numbers_wrap_around(open_log: OpenLog) -> None:
    log = open_log()
    append(log, [b"a", b"b"], producer=(1, 0, LAST - 1))
    assert append(log, [b"c"], producer=(1, 0, 0)) == 2
    append(log, [b"x"], producer=(2, 0, LAST))
    append(log, [b"y", b"z"], producer=(2, 0, 0))
    assert append(log, [b"y", b"z"], producer=(2, 0, 0)) == 4
    assert log.end_offset == 6


def test_a_batch_may_span_the_wraparound(open_log: OpenLog) -> None:
    log = open_log()
    append(log, [b"a", b"b", b"c"], producer=(1, 0, LAST - 1))
    assert append(log, [b"a", b"b", b"c"], producer=(1, 0, LAST - 1)) == 0
    assert append(log, [b"d"], producer=(1, 0, 1)) == 3


def test_producers_are_independent(open_log: OpenLog) -> None:
    log = open_log()
    append(log, [b"a"], producer=(1, 0, 0))
    append(log, [b"a"], producer=(2, 0, 0))
    append(log, [b"none"])
    assert append(log, [b"b"], producer=(1, 0, 1)) == 3


def test_inactive_producers_expire(open_log: OpenLog) -> None:
    log = open_log()
    append(log, [b"a"], producer=(1, 0, 0), timestamp=1000)
    append(log, [b"a"], producer=(2, 0, 0), timestamp=5000)
    log.producers.forget_before(2000)
    assert [producer_id for producer_id, _ in log.producers] == [2]
