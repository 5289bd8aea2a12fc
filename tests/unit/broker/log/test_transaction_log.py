"""Transactions in a partition's log: markers, the last stable offset, aborted transactions, and recovery."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.batch_head import Marker
from kafka.broker.log.partition import PartitionLog
from kafka.record import batch_headers, decode_batches
from unit.broker.batches import NOW_MS, append

OpenLog = Callable[..., PartitionLog]
COMMIT, ABORT = Marker(True, 0), Marker(False, 0)
LAST = 2**31 - 1


def write(log: PartitionLog, values: list[bytes], producer: tuple[int, int, int]) -> int:
    return append(log, values, producer=producer, transactional=True)


def end(log: PartitionLog, producer_id: int, epoch: int = 0, marker: Marker = COMMIT) -> None:
    log.append_marker(producer_id, epoch, marker, NOW_MS)


def committed(log: PartitionLog, offset: int = 0, max_bytes: int = 1 << 20) -> list[bytes | None]:
    """Return the values that a consumer gets from a committed read."""
    records, aborted = log.read_committed(offset, max_bytes)
    listed = [(one.producer_id, one.first_offset) for one in aborted]
    columns = decode_batches(records, read_committed=True, aborted_transactions=listed, start_offset=offset)
    return [columns.value(row) for row in range(len(columns))]


def test_the_last_stable_offset_is_the_first_open_transaction(open_log: OpenLog) -> None:
    log = open_log()
    append(log, [b"a"])
    assert (log.last_stable_offset, log.end_offset) == (1, 1)
    write(log, [b"b"], (1, 0, 0))
    write(log, [b"c"], (2, 0, 0))
    append(log, [b"d"])
    assert (log.last_stable_offset, log.end_offset) == (1, 4)
    end(log, 2)
    assert log.last_stable_offset == 1
    end(log, 1)
    assert log.last_stable_offset == log.end_offset == 6


def test_committed_reads_end_at_the_last_stable_offset(open_log: OpenLog) -> None:
    log = open_log()
    append(log, [b"a"])
    write(log, [b"b"], (1, 0, 0))
    assert committed(log) == [b"a"]
    assert log.read_committed(1, 1 << 20) == (b"", [])
    assert log.read_committed(2, 1 << 20) == (b"", [])
    with pytest.raises(RequestFailed) as caught:
        log.read_committed(3, 1 << 20)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    end(log, 1)
    assert committed(log) == [b"a", b"b"]


def test_a_marker_is_a_control_batch_with_the_producers_id(open_log: OpenLog) -> None:
    log = open_log()
    write(log, [b"a"], (7, 3, 0))
    end(log, 7, 3, Marker(False, 5))
    first, marker = batch_headers(log.read(0, 1 << 20))
    assert (first.is_control, marker.is_control, marker.is_transactional) == (False, True, True)
    assert (marker.producer_id, marker.producer_epoch, marker.base_sequence) == (7, 3, -1)
    assert (marker.base_offset, marker.count, marker.max_timestamp) == (1, 1, NOW_MS)


def test_aborted_transactions_are_listed_with_their_records(open_log: OpenLog) -> None:
    log = open_log()
    write(log, [b"x"], (1, 0, 0))
    write(log, [b"a"], (2, 0, 0))
    write(log, [b"y"], (1, 0, 1))
    end(log, 1, marker=ABORT)
    end(log, 2)
    write(log, [b"z"], (2, 0, 1))
    end(log, 2, marker=ABORT)
    append(log, [b"b"])
    _, aborted = log.read_committed(0, 1 << 20)
    assert [tuple(one) for one in aborted] == [(1, 0, 3, 1), (2, 5, 6, 7)]
    assert committed(log) == [b"a", b"b"]
    # Reads that start in the middle of a transaction, and after it.
    assert [one.producer_id for one in log.read_committed(2, 1 << 20)[1]] == [1, 2]
    assert [one.producer_id for one in log.read_committed(4, 1 << 20)[1]] == [2]
    assert log.read_committed(7, 1 << 20)[1] == []
    # A read that ends before a transaction begins does not list it.
    assert [one.producer_id for one in log.read_committed(0, 1)[1]] == [1]


def test_an_empty_aborted_transaction_is_not_listed(open_log: OpenLog) -> None:
    log = open_log()
    end(log, 1, marker=ABORT)
    append(log, [b"a"])
    assert log.read_committed(0, 1 << 20)[1] == []
    assert log.end_offset == 2


def test_a_transaction_across_segments_is_listed_in_each(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=200)
    for number in range(10):
        write(log, [b"x" * 50], (1, 0, number))
    append(log, [b"a" * 50])
    end(log, 1, marker=ABORT)
    append(log, [b"b" * 50])
    found, offset = [], 0
    while offset < log.end_offset:
        found += committed(log, offset)
        records, _ = log.read_committed(offset, 1 << 20)
        offset = list(batch_headers(records))[-1].last_offset + 1
    assert found == [b"a" * 50, b"b" * 50]


def test_a_non_transactional_batch_is_rejected_during_a_transaction(open_log: OpenLog) -> None:
    log = open_log()
    write(log, [b"a"], (1, 0, 0))
    with pytest.raises(RequestFailed) as caught:
        append(log, [b"b"], producer=(1, 0, 1))
    assert caught.value.code is ErrorCode.INVALID_TXN_STATE
    end(log, 1)
    assert append(log, [b"b"], producer=(1, 0, 1)) == 2


def test_a_marker_with_a_new_epoch_fences_the_old_one(open_log: OpenLog) -> None:
    log = open_log()
    write(log, [b"a"], (1, 0, 0))
    end(log, 1, epoch=1, marker=ABORT)
    with pytest.raises(RequestFailed) as caught:
        write(log, [b"b"], (1, 0, 1))
    assert caught.value.code is ErrorCode.INVALID_PRODUCER_EPOCH
    with pytest.raises(RequestFailed) as caught:
        write(log, [b"b"], (1, 1, 1))
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert write(log, [b"b"], (1, 1, 0)) == 2
    assert log.last_stable_offset == 2


def test_a_marker_of_an_old_producer_or_coordinator_is_rejected(open_log: OpenLog) -> None:
    log = open_log()
    write(log, [b"a"], (1, 4, 0))
    with pytest.raises(RequestFailed) as caught:
        end(log, 1, epoch=3)
    assert caught.value.code is ErrorCode.INVALID_PRODUCER_EPOCH
    end(log, 1, 4, Marker(True, 2))
    with pytest.raises(RequestFailed) as caught:
        end(log, 1, 4, Marker(True, 1))
    assert caught.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert log.end_offset == 2


def test_sequence_numbers_continue_after_markers_of_the_same_epoch(open_log: OpenLog) -> None:
    log = open_log()
    write(log, [b"a"], (1, 0, LAST))
    end(log, 1)
    assert write(log, [b"a"], (1, 0, LAST)) == 0
    assert write(log, [b"b"], (1, 0, 0)) == 2


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("segment_bytes", [1 << 20, 150])
def test_transactions_survive_a_restart(open_log: OpenLog, in_order: bool, segment_bytes: int) -> None:
    log = open_log(segment_bytes=segment_bytes)
    write(log, [b"x"], (1, 0, 0))
    write(log, [b"a"], (2, 0, 0))
    end(log, 1, marker=ABORT)
    end(log, 2)
    write(log, [b"y"], (3, 0, 0))
    append(log, [b"b"])
    end(log, 4, 9)
    aborted = log.read_committed(0, 1 << 20)[1]
    if in_order:
        log.close()
    again = open_log(segment_bytes=segment_bytes)
    assert (again.last_stable_offset, again.end_offset) == (4, 7)
    assert again.read_committed(0, 1 << 20)[1] == aborted == [(1, 0, 2, 1)]
    assert again.producers.to_rows() == log.producers.to_rows()
    assert again.producers.has_transaction(3, 0)
    with pytest.raises(RequestFailed):
        append(again, [b"c"], producer=(3, 0, 1))
    end(again, 3)
    assert again.last_stable_offset == again.end_offset


def test_an_open_transactions_producer_is_not_forgotten(open_log: OpenLog) -> None:
    log = open_log()
    append(log, [b"a"], producer=(1, 0, 0), transactional=True, timestamp=1000)
    log.producers.forget_before(2000)
    assert log.producers.has_transaction(1, 0)
    end(log, 1)
    log.producers.forget_before(NOW_MS + 1)
    assert len(log.producers) == 0


def test_deleting_records_of_an_open_transaction_keeps_the_rest_unstable(open_log: OpenLog) -> None:
    log = open_log()
    write(log, [b"a", b"b"], (1, 0, 0))
    write(log, [b"c"], (1, 0, 2))
    log.delete_before(1)
    assert log.last_stable_offset == 1
    end(log, 1, marker=ABORT)
    assert committed(log, 1) == []


def test_a_timestamp_may_belong_to_a_marker(open_log: OpenLog) -> None:
    log = open_log()
    write(log, [b"a"], (1, 0, 0))
    end(log, 1)
    assert log.offset_of_time(NOW_MS) == (NOW_MS, 1)
    assert log.offset_of_max_timestamp() == (NOW_MS, 1)
