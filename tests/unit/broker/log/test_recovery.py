"""Reopening a log after a clean shutdown, after a crash, and with damage at the end."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log import log_recovery
from kafka.broker.log.partition import PartitionLog
from kafka.record import decode_batches
from unit.broker.batches import append, make_batch

OpenLog = Callable[..., PartitionLog]


def fill(log: PartitionLog, batches: int = 10) -> None:
    for number in range(batches):
        append(log, [b"%d" % number, b"x" * 40], producer=(7, 0, 2 * number))


def last_file(tmp_path: Path) -> Path:
    return max((tmp_path / "log").glob("*.log"))


def offsets(log: PartitionLog) -> list[int]:
    offset, found = log.start_offset, []
    while offset < log.end_offset:
        columns = decode_batches(log.read(offset, 1 << 20), start_offset=offset)
        found += list(columns.offsets)
        offset = columns.next_offset
    return found


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("segment_bytes", [1 << 20, 400])
def test_a_reopened_log_has_the_same_records(open_log: OpenLog, in_order: bool, segment_bytes: int) -> None:
    first = open_log(segment_bytes=segment_bytes)
    fill(first)
    if in_order:
        first.close()
    second = open_log(segment_bytes=segment_bytes)
    assert (second.start_offset, second.end_offset) == (0, 20)
    assert offsets(second) == list(range(20))
    assert second.offset_of_time(0) == first.offset_of_time(0)
    assert append(second, [b"more"]) == 20


@pytest.mark.parametrize("in_order", [True, False])
def test_producer_states_survive_a_restart(open_log: OpenLog, in_order: bool) -> None:
    first = open_log(segment_bytes=400)
    fill(first)
    if in_order:
        first.close()
    second = open_log(segment_bytes=400)
    assert append(second, [b"9", b"x" * 40], producer=(7, 0, 18)) == 18
    assert append(second, [b"0", b"x" * 40], producer=(7, 0, 20)) == 20
    with pytest.raises(RequestFailed) as caught:
        append(second, [b"?"], producer=(7, 0, 30))
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


@pytest.mark.parametrize("garbage", [b"\0" * 7, b"\xff" * 300, bytes(range(61)), b"\0" * 5000])
def test_garbage_at_the_end_is_cut_off(open_log: OpenLog, tmp_path: Path, garbage: bytes) -> None:
    fill(open_log())
    size = last_file(tmp_path).stat().st_size
    with last_file(tmp_path).open("ab") as file:
        file.write(garbage)
    log = open_log()
    assert log.end_offset == 20
    assert last_file(tmp_path).stat().st_size == size
    assert append(log, [b"more"]) == 20
    assert offsets(log) == list(range(21))


def test_a_torn_batch_is_cut_off(open_log: OpenLog, tmp_path: Path) -> None:
    fill(open_log())
    whole = last_file(tmp_path).read_bytes()
    for cut in (1, 30, 61, 70):
        last_file(tmp_path).write_bytes(whole[:-cut])
        log = open_log()
        assert log.end_offset == 18
        assert offsets(log) == list(range(18))


def test_a_batch_with_a_wrong_checksum_is_cut_off(open_log: OpenLog, tmp_path: Path) -> None:
    fill(open_log())
    data = bytearray(last_file(tmp_path).read_bytes())
    data[-3] ^= 1
    last_file(tmp_path).write_bytes(data)
    assert offsets(open_log()) == list(range(18))


def test_a_batch_with_decreasing_offsets_is_cut_off(open_log: OpenLog, tmp_path: Path) -> None:
    fill(open_log(), 2)
    with last_file(tmp_path).open("ab") as file:
        file.write(make_batch([b"again"]))
    assert open_log().end_offset == 4


def test_damage_in_an_earlier_segment_keeps_later_ones(open_log: OpenLog, tmp_path: Path) -> None:
    fill(open_log(segment_bytes=400), 12)
    second_file = sorted((tmp_path / "log").glob("*.log"))[1]
    second_file.write_bytes(second_file.read_bytes()[:-5])
    log = open_log(segment_bytes=400)
    found = offsets(log)
    assert len(found) == 22
    assert found[0] == 0
    assert found[-1] == 23
    gap = next(one for one in range(24) if one not in found)
    assert decode_batches(log.read(gap, 1 << 20)).offsets[0] == gap + 2


def test_a_checkpoint_is_used_only_for_its_file_and_boot(
    open_log: OpenLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = open_log()
    fill(log)
    log.close()
    path = max((tmp_path / "log").glob("*.index"))
    assert log_recovery.load_checkpoint(path, log.size) is not None
    assert log_recovery.load_checkpoint(path, log.size - 1) is None
    monkeypatch.setattr(log_recovery, "boot_id", lambda: "another")
    assert log_recovery.load_checkpoint(path, log.size) is None
    monkeypatch.undo()
    for damaged in (path.read_bytes()[:-1], b"", b"x" * 100):
        path.write_bytes(damaged)
        assert log_recovery.load_checkpoint(path, log.size) is None
    assert offsets(open_log()) == list(range(20))


def test_batches_after_a_checkpoint_are_read_from_the_log(open_log: OpenLog) -> None:
    first = open_log()
    fill(first)
    first.close()
    second = open_log()
    append(second, [b"late", b"x"], producer=(7, 0, 20))
    third = open_log()
    assert offsets(third) == list(range(22))
    assert append(third, [b"late", b"x"], producer=(7, 0, 20)) == 20


def test_the_start_offset_survives_a_restart(open_log: OpenLog) -> None:
    first = open_log(segment_bytes=400)
    fill(first)
    first.delete_before(13)
    second = open_log(segment_bytes=400)
    assert (second.start_offset, second.end_offset) == (13, 20)
    second.delete_before(20)
    third = open_log(segment_bytes=400)
    assert (third.start_offset, third.end_offset) == (20, 20)


def test_synced_logs_are_synced_before_the_append_returns(open_log: OpenLog, monkeypatch: pytest.MonkeyPatch) -> None:
    log = open_log(flush_messages=3)
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    append(log, [b"a", b"b"])
    assert not synced
    append(log, [b"c"])
    assert len(synced) == 2, "the file, and once the folder it is new in"
    append(log, [b"d", b"e", b"f"])
    assert len(synced) == 3
