"""The log of a partition: offsets, reads, search by timestamp, segments, and deletion."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.partition import PartitionLog
from kafka.record import Compression, TimestampType, batch_headers, decode_batches
from unit.broker.batches import append, make_batch

OpenLog = Callable[..., PartitionLog]


def values_of(data: bytes, start_offset: int = 0) -> list[bytes | None]:
    columns = decode_batches(data, start_offset=start_offset)
    return [columns.value(row) for row in range(len(columns))]


def test_offsets_are_assigned_in_append_order(open_log: OpenLog) -> None:
    log = open_log()
    assert append(log, [b"a", b"b"]) == 0
    assert append(log, [b"c"]) == 2
    assert (log.start_offset, log.end_offset) == (0, 3)
    columns = decode_batches(log.read(0, 1 << 20))
    assert list(columns.offsets) == [0, 1, 2]
    assert columns.leader_epoch == 0


def test_a_read_starts_with_the_batch_that_contains_the_offset(open_log: OpenLog) -> None:
    log = open_log()
    for number in range(50):
        append(log, [b"%d" % (2 * number), b"%d" % (2 * number + 1)])
    headers = list(batch_headers(log.read(61, 1 << 20)))
    assert headers[0].base_offset == 60
    assert headers[-1].last_offset == 99


def test_a_read_at_the_end_is_empty_and_beyond_it_fails(open_log: OpenLog) -> None:
    log = open_log()
    append(log, [b"a"])
    assert log.read(1, 100) == b""
    for offset in (2, -1):
        with pytest.raises(RequestFailed) as caught:
            log.read(offset, 100)
        assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_reads_return_whole_batches_without_gaps(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=20_000)
    for number in range(500):
        append(log, [b"%d" % number + b"x" * (number % 300)])
    offset, seen = 0, 0
    while offset < 500:
        data = log.read(offset, 3000)
        headers = list(batch_headers(data))
        assert headers[0].base_offset == offset
        assert sum(one.size for one in headers) == len(data) <= 3000
        seen += len(headers)
        offset = headers[-1].last_offset + 1
    assert seen == 500


def test_an_oversized_first_batch_is_read_only_with_at_least_one(open_log: OpenLog) -> None:
    log = open_log()
    append(log, [b"x" * 5000])
    append(log, [b"y"])
    assert values_of(log.read(0, 100, at_least_one=True)) == [b"x" * 5000]
    assert log.read(0, 100, at_least_one=False) == b""
    assert log.read(0, 0, at_least_one=False) == b""


def test_segments_roll_by_size_and_reads_cross_them(open_log: OpenLog, tmp_path: Path) -> None:
    log = open_log(segment_bytes=1000)
    for number in range(40):
        append(log, [b"%d" % number * 20])
    assert len(list((tmp_path / "log").glob("*.log"))) > 3
    offset, found = 0, []
    while offset < log.end_offset:
        columns = decode_batches(log.read(offset, 1 << 20), start_offset=offset)
        found += list(columns.offsets)
        offset = columns.next_offset
    assert found == list(range(40))


def test_more_segments_than_open_files_can_be_read(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=80)
    for number in range(20):
        append(log, [b"%d" % number])
    assert [values_of(log.read(offset, 100))[0] for offset in range(20)] == [b"%d" % n for n in range(20)]


def test_a_timestamp_is_found_at_its_first_record(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=2000)
    for number in range(60):
        append(log, [b"x" * 50, b"y" * 50], timestamp=1000 + 10 * number)
    assert log.offset_of_time(0) == (1000, 0)
    assert log.offset_of_time(1001) == (1001, 1)
    assert log.offset_of_time(1002) == (1010, 2)
    assert log.offset_of_time(1591) == (1591, 119)
    assert log.offset_of_time(1592) is None


@pytest.mark.parametrize("codec", list(Compression))
def test_a_timestamp_is_found_inside_a_compressed_batch(open_log: OpenLog, codec: Compression) -> None:
    log = open_log()
    append(log, [b"a"] * 10, timestamp=500, codec=codec)
    assert log.offset_of_time(504) == (504, 4)


def test_the_largest_timestamp_is_found_in_any_batch(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=300)
    assert log.offset_of_max_timestamp() is None
    for timestamp in (100, 900, 300, 900, 200):
        append(log, [b"x" * 100], timestamp=timestamp)
    assert log.offset_of_max_timestamp() == (900, 1)


def test_log_append_time_is_set_in_the_batch(open_log: OpenLog) -> None:
    log = open_log()
    batch = make_batch([b"a", b"b"])
    log.append(batch, next(batch_headers(batch)), 77_000, log_append_time_ms=77_000)
    columns = decode_batches(log.read(0, 1000))
    assert list(columns.timestamps) == [77_000, 77_000]
    assert columns.timestamp_type(0) == TimestampType.LOG_APPEND_TIME
    assert log.offset_of_time(77_000) == (77_000, 0)


def test_deleting_records_moves_the_start_and_removes_segments(open_log: OpenLog, tmp_path: Path) -> None:
    log = open_log(segment_bytes=300)
    for _ in range(10):
        append(log, [b"x" * 100])
    files = len(list((tmp_path / "log").glob("*.log")))
    log.delete_before(7)
    assert log.start_offset == 7
    assert len(list((tmp_path / "log").glob("*.log"))) < files
    with pytest.raises(RequestFailed):
        log.read(6, 100)
    assert log.offset_of_time(0) == (1000, 7)
    log.delete_before(3)
    assert log.start_offset == 7
    with pytest.raises(RequestFailed) as caught:
        log.delete_before(11)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_retention_by_time_removes_old_segments_and_keeps_offsets(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=300, retention_ms=1000)
    for number in range(10):
        append(log, [b"x" * 100], timestamp=1000 * number)
    log.apply_retention(6500)
    assert 4 <= log.start_offset <= 6
    log.apply_retention(1_000_000)
    assert (log.start_offset, log.end_offset) == (10, 10)
    assert append(log, [b"new"]) == 10


def test_retention_by_size_keeps_at_least_the_configured_size(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=300, retention_bytes=700)
    for _ in range(10):
        append(log, [b"x" * 100])
    log.apply_retention(0)
    assert 700 <= log.size < 1100
    assert log.start_offset > 0


def test_without_the_policy_delete_nothing_is_deleted(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=300, retention_ms=0, retention_bytes=0, delete_old=False)
    for _ in range(10):
        append(log, [b"x" * 100])
    log.apply_retention(1_000_000)
    assert log.start_offset == 0


def test_waiters_are_notified_of_each_append(open_log: OpenLog) -> None:
    log = open_log()
    heard: list[int] = []
    log.waiters[heard.append] = None
    append(log, [b"a"])
    append(log, [b"bb"])
    assert sum(heard) == log.size
    assert len(heard) == 2


def test_waiters_are_notified_in_order_of_arrival(open_log: OpenLog) -> None:
    log = open_log()
    told: list[int] = []

    def waiter(number: int) -> Callable[[int], None]:
        return lambda _: told.append(number)

    for number in range(50):
        log.waiters[waiter(number)] = None
    append(log, [b"a"])
    assert told == list(range(50))


def test_retention_continues_after_all_records_were_deleted(open_log: OpenLog) -> None:
    log = open_log(retention_ms=1000)
    append(log, [b"a"], timestamp=1000)
    log.delete_before(log.end_offset)
    log.apply_retention(1_000_000)
    assert (log.start_offset, log.end_offset, log.size) == (1, 1, 0)
