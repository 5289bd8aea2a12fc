"""The next answer of a partition, and what a handler of a signal may do meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from kafka.consumer.buffer.decode_ahead import DecodeAhead, ResponseOpener
from kafka.consumer.buffer.partition_response import DecodeOptions, PartitionResponse
from kafka.consumer.buffer.partition_state import PartitionState
from kafka.errors import OffsetOutOfRangeError, TopicAuthorizationFailedError
from kafka.structs import TopicPartition
from unit.consumer.batches import numbered
from unit.consumer.listeners import BufferCalls, ignore

DECODING = DecodeOptions(check_crcs=True, read_committed=False, max_decompressed_size=1 << 30)


class HandledLock:
    """A lock that a signal comes with, just before it is had."""

    def __init__(self, handler: Callable[[], object]) -> None:
        self._handler = handler
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._handler()
        self._lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self._lock.release()


def state_of(*items: PartitionResponse) -> PartitionState:
    state = PartitionState(TopicPartition("t", 0))
    state.buffer.items.extend(items)
    return state


def answer(error: Exception | None = None, sticky: bool = False) -> PartitionResponse:
    data = None if error is not None else memoryview(numbered(0, 3))
    return PartitionResponse(TopicPartition("t", 0), 0, 0, data, error=error, sticky=sticky)


def opener(
    lock: Any, resets: bool = False, out_of_range: Callable[[PartitionState], None] = lambda state: None
) -> ResponseOpener:
    waiting: Iterable[PartitionState] = ()
    return ResponseOpener(
        DECODING,
        DecodeAhead(DECODING, waiting, threading.RLock()),
        lock,
        resets,
        BufferCalls(position_out_of_range=out_of_range),
    )


@pytest.mark.parametrize(("sticky", "left"), [(False, 1), (True, 2)])
def test_an_error_is_raised_once_unless_only_a_seek_ends_it(sticky: bool, left: int) -> None:
    error, after = answer(TopicAuthorizationFailedError({"t"}), sticky), answer()
    state = state_of(error, after)
    assert opener(threading.RLock()).open(state, 1, 0, has_before=False) is error.error
    assert list(state.buffer.items) == [error, after][-left:]
    assert state.buffer.current is None


def test_an_error_after_records_stays_until_these_were_returned() -> None:
    error = answer(TopicAuthorizationFailedError({"t"}))
    state = state_of(error)
    assert opener(threading.RLock()).open(state, 1, 0, has_before=True) is error.error
    assert list(state.buffer.items) == [error]


@pytest.mark.parametrize("resets", [True, False])
def test_only_an_offset_out_of_range_has_a_policy(resets: bool) -> None:
    told: list[PartitionState] = []
    out_of_range, other = OffsetOutOfRangeError({}), TopicAuthorizationFailedError({"t"})
    state = state_of(answer(out_of_range, sticky=True))
    assert opener(threading.RLock(), resets, told.append).open(state, 1, 0, False) is (None if resets else out_of_range)
    assert told == ([state] if resets else [])
    state = state_of(answer(other))
    assert opener(threading.RLock(), resets, told.append).open(state, 1, 0, False) is other
    assert told == told[:1]


@pytest.mark.parametrize("resets", [True, False])
def test_an_offset_out_of_range_of_a_deleted_topic_gives_way_to_the_topic_created_again(resets: bool) -> None:
    replaced: list[PartitionState] = []
    out_of_range: list[PartitionState] = []
    waiting: Iterable[PartitionState] = ()
    lock = threading.RLock()
    ahead = DecodeAhead(DECODING, waiting, lock)
    listener = BufferCalls(ignore, out_of_range.append, replaced.append, lambda _: True)
    opening = ResponseOpener(DECODING, ahead, lock, resets, listener)
    state = state_of(answer(OffsetOutOfRangeError({}), sticky=True))
    assert opening.open(state, 1, 0, has_before=False) is None
    assert replaced == [state]
    assert out_of_range == []


@pytest.mark.parametrize("failed", [True, False])
@pytest.mark.parametrize("fetched_anew", [True, False])
def test_data_fetched_after_a_handlers_seek_are_kept(failed: bool, fetched_anew: bool) -> None:
    state = state_of(answer(TopicAuthorizationFailedError({"t"}) if failed else None))
    new = [answer()] if fetched_anew else []

    def seek() -> None:
        state.buffer.items.clear()
        state.buffer.items.extend(new)

    before = state.buffer.items[0]
    opener(HandledLock(seek)).open(state, 1 << 20, 0, has_before=False)
    assert list(state.buffer.items) == new
    assert state.buffer.current is None
    assert before.records is None
