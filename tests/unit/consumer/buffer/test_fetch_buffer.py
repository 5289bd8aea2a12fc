"""The buffer between the loop and the caller: what is handed out, what is held back, and when to fetch on."""

from __future__ import annotations

from typing import Any

import pytest

from kafka.config import parse_consumer
from kafka.consumer.base_consumer import COLUMNS_BYTES
from kafka.consumer.buffer import fetch_buffer
from kafka.consumer.buffer.fetch_buffer import FetchBuffer
from kafka.consumer.buffer.partition_response import PartitionResponse, SharedFrame
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.errors import CorruptRecordError, OffsetOutOfRangeError, TopicAuthorizationFailedError
from kafka.structs import TopicPartition
from unit.consumer.batches import at, numbered
from unit.consumer.listeners import BufferCalls


class BufferHarness:
    """A buffer, and what it calls back."""

    def __init__(self, **options: Any) -> None:
        self.unblocked: list[PartitionState] = []
        self.reset: list[PartitionState] = []
        fetch = parse_consumer(options).fetch
        self.buffer = FetchBuffer(fetch, BufferCalls(self.unblocked.append, self._out_of_range))

    def _out_of_range(self, state: PartitionState) -> None:
        self.reset.append(state)
        self.buffer.discard(state)

    def state(self, number: int = 0, position: int = 0) -> PartitionState:
        state = PartitionState(TopicPartition("t", number))
        state.locate(state.generation, FetchPosition(position))
        return state

    def put(self, state: PartitionState, start: int, stop: int) -> bool:
        data = numbered(start, stop)
        return self.buffer.put(state, PartitionResponse(state.tp, state.generation, start, memoryview(data), len(data)))

    def take(self, most: int = 1_000, **limits: Any) -> list[tuple[int, list[int]]]:
        """Take, and move the positions; partition and offsets of each slice."""
        with self.buffer.take(most, **limits) as polled:
            taken = [(piece.state.tp.partition, list(piece.columns.offsets)) for piece in polled.pieces]
        polled.commit()
        return taken


@pytest.mark.parametrize("check", [True, False])
def test_a_wrong_checksum_matters_only_if_checked(check: bool) -> None:
    harness = BufferHarness(check_crcs=check)
    state = harness.state()
    data = bytearray(numbered(0, 3))
    data[17] ^= 1  # of the batch's CRC
    harness.buffer.put(state, PartitionResponse(state.tp, state.generation, 0, memoryview(data), len(data)))
    if check:
        with pytest.raises(CorruptRecordError, match=r"t-0 with offset 0.*checksum"):
            harness.take()
    else:
        assert harness.take() == [(0, [0, 1, 2])]


def test_records_come_in_slices_of_at_most_the_number_asked_for() -> None:
    harness = BufferHarness()
    state = harness.state()
    harness.put(state, 0, 5)
    harness.put(state, 5, 8)
    assert harness.take(3) == [(0, [0, 1, 2])]
    assert at(state) == 3
    assert harness.take(4) == [(0, [3, 4]), (0, [5, 6])]
    assert harness.take() == [(0, [7])]
    assert (at(state), harness.take(), harness.buffer.nbytes) == (8, [], 0)


def test_partitions_take_turns_and_decoded_data_comes_first() -> None:
    harness = BufferHarness()
    one, two = harness.state(1), harness.state(2)
    for start in (0, 2):
        harness.put(one, start, start + 2)
        harness.put(two, start, start + 2)
    assert harness.take(1) == [(1, [0])]
    assert harness.take(1) == [(1, [1])]
    assert harness.take(2) == [(2, [0, 1])]
    assert harness.take() == [(1, [2, 3]), (2, [2, 3])]


def test_one_slice_of_each_partition_on_request() -> None:
    harness = BufferHarness()
    one, two = harness.state(1), harness.state(2)
    harness.put(one, 0, 2)
    harness.put(one, 2, 4)
    harness.put(two, 0, 2)
    assert sorted(harness.take(one_each=True)) == [(1, [0, 1]), (2, [0, 1])]
    assert harness.take(one_each=True) == [(1, [2, 3])]


def test_so_many_of_each_partition_and_the_rest_in_order_later() -> None:
    harness = BufferHarness()
    first, second, third = (harness.state(number) for number in range(3))
    for state, stop in ((first, 5), (second, 2), (third, 7)):
        harness.put(state, 0, stop)
    harness.put(first, 5, 8)
    assert harness.take(max_each=3) == [(0, [0, 1, 2]), (1, [0, 1]), (2, [0, 1, 2])]
    assert (at(first), at(second), at(third)) == (3, 2, 3)
    assert harness.take(max_each=3) == [(0, [3, 4]), (2, [3, 4, 5]), (0, [5])], "over the end of an answer"
    assert harness.take() == [(2, [6]), (0, [6, 7])]
    assert (harness.take(max_each=3), harness.buffer.nbytes) == ([], 0)


@pytest.mark.parametrize("one_each", [False, True])
def test_those_of_which_enough_was_taken_come_after_the_others(one_each: bool) -> None:
    harness = BufferHarness()
    for number in range(4):
        harness.put(harness.state(number), 0, 4)
    given = [harness.take(4, max_each=2, one_each=one_each) for _ in range(4)]
    assert [[number for number, _ in each] for each in given] == [[0, 1], [2, 3], [0, 1], [2, 3]]
    assert [found for each in given for _, found in each] == [[0, 1]] * 4 + [[2, 3]] * 4


def test_the_limits_of_a_partition_and_of_all_hold_together() -> None:
    harness = BufferHarness()
    states = [harness.state(number) for number in range(2)]
    for state in states:
        harness.put(state, 0, 4)
    assert harness.take(3, max_each=2) == [(0, [0, 1]), (1, [0])]
    assert harness.take(1, max_each=2) == [(1, [1])], "what was begun comes first, and those that had enough last"
    with harness.buffer.take(10, max_each=2) as polled:
        polled.roll_back()
    assert [at(state) for state in states] == [2, 2]
    assert sorted(harness.take(10, max_each=2)) == [(0, [2, 3]), (1, [2, 3])]


def test_a_served_partition_that_is_sought_or_paused_is_not_requeued() -> None:
    harness = BufferHarness()
    state, other = harness.state(0), harness.state(1)
    harness.put(state, 0, 4)
    harness.put(other, 0, 4)
    assert harness.take(max_each=1) == [(0, [0]), (1, [0])]
    harness.buffer.pause(other)
    harness.buffer.discard(state, FetchPosition(9))
    assert harness.take(max_each=1) == []
    harness.put(state, 9, 11)
    harness.buffer.resume(other)
    assert sorted(harness.take(max_each=1)) == [(0, [9]), (1, [1])]


def test_a_bound_of_bytes_ends_a_take() -> None:
    harness = BufferHarness()
    state = harness.state()
    for start in range(0, 10, 2):
        harness.put(state, start, start + 2)
    assert harness.take(max_bytes=1) == [(0, [0, 1])]


def test_a_seek_drops_buffered_and_requested_data() -> None:
    harness = BufferHarness()
    state = harness.state()
    harness.put(state, 0, 5)
    late = PartitionResponse(state.tp, state.generation, 5, memoryview(numbered(5, 9)), 100)
    taken = harness.buffer.take(2)
    harness.buffer.discard(state, FetchPosition(100))
    assert not harness.buffer.put(state, late)
    taken.commit()
    assert (at(state), harness.take(), harness.buffer.nbytes) == (100, [], 0)
    harness.put(state, 100, 101)
    assert harness.take() == [(0, [100])]


def test_a_paused_partition_keeps_its_data() -> None:
    harness = BufferHarness()
    state = harness.state()
    harness.put(state, 0, 5)
    harness.take(2)
    harness.buffer.pause(state)
    harness.put(state, 5, 6)
    assert harness.take() == []
    harness.buffer.resume(state)
    assert harness.take() == [(0, [2, 3, 4]), (0, [5])]


def test_unused_records_are_put_back_in_their_place() -> None:
    harness = BufferHarness()
    state, other = harness.state(), harness.state(1)
    harness.put(state, 0, 4)
    harness.put(state, 4, 8)
    harness.put(other, 0, 1)
    with harness.buffer.take(6) as polled:
        pieces = polled.pieces
        assert [list(piece.columns.offsets) for piece in pieces] == [[0, 1, 2, 3], [0], [4]]
        polled.end_at(pieces[0], 2)
    polled.commit()
    assert at(state) == 2
    assert at(other) == 0
    taken = harness.take()
    assert [offset for partition, offsets in taken if partition == 0 for offset in offsets] == [2, 3, 4, 5, 6, 7]
    assert [offset for partition, offsets in taken if partition == 1 for offset in offsets] == [0]
    assert at(state) == 8


def test_a_partition_is_held_up_at_its_bound_and_let_go_when_the_caller_has_taken() -> None:
    harness = BufferHarness(max_partition_fetch_bytes=len(numbered(0, 10)))
    state = harness.state()
    harness.put(state, 0, 10)
    assert not harness.buffer.is_full(state)
    harness.put(state, 10, 20)
    assert harness.buffer.is_full(state)
    harness.take(5)
    assert harness.unblocked == []
    harness.take(5)
    assert harness.unblocked == [state]
    assert not harness.buffer.is_full(state)


def test_a_partition_is_let_go_below_its_bound_and_not_at_it() -> None:
    harness = BufferHarness(max_partition_fetch_bytes=100)  # up to 150 may lie here
    state = harness.state()
    for start, nbytes in ((0, 100), (2, 50), (4, 100)):
        data = memoryview(numbered(start, start + 2))
        harness.buffer.put(state, PartitionResponse(state.tp, state.generation, start, data, nbytes))
    for left, blocked in ((250, True), (150, True), (100, False)):
        assert (harness.buffer.nbytes, harness.unblocked) == (left, [] if blocked else [state])
        assert harness.buffer.is_full(state) is blocked
        harness.take(2)


def test_all_partitions_are_held_up_at_the_bound_of_all() -> None:
    size = len(numbered(0, 10))
    harness = BufferHarness(max_partition_fetch_bytes=size, fetch_max_bytes=3 * size)
    states = [harness.state(number) for number in range(4)]
    for state in states[:3]:
        harness.put(state, 0, 10)
    assert all(harness.buffer.is_full(state) for state in states)
    harness.take(10)
    assert set(harness.unblocked) == set(states)


def test_a_discard_lets_others_go_on() -> None:
    size = len(numbered(0, 10))
    harness = BufferHarness(max_partition_fetch_bytes=size, fetch_max_bytes=size)
    one, two = harness.state(1), harness.state(2)
    harness.put(one, 0, 10)
    harness.put(one, 10, 20)
    assert harness.buffer.is_full(two)
    harness.buffer.discard(one)
    assert harness.unblocked == [two]


def test_positions_move_past_offsets_without_records() -> None:
    harness = BufferHarness()
    state = harness.state(position=5)
    data = numbered(0, 5)  # all of it before the offset asked for, as a control batch would be
    harness.buffer.put(state, PartitionResponse(state.tp, 0, 5, memoryview(data), len(data)))
    assert harness.take() == []
    assert at(state) == 5
    harness.put(state, 5, 6)
    harness.buffer.put(state, PartitionResponse(state.tp, 0, 9, memoryview(data), len(data)))
    assert harness.take() == [(0, [5])]
    assert at(state) == 9


def test_as_much_is_made_at_a_time_as_the_documentation_says() -> None:
    assert fetch_buffer.DECODED_BYTES == COLUMNS_BYTES == 8 * 1024 * 1024


def test_an_answer_that_a_seek_has_made_useless_gives_its_bytes_back() -> None:
    harness = BufferHarness()
    state = harness.state()
    released: list[str] = []
    data = numbered(0, 2)
    item = PartitionResponse(state.tp, 0, 0, memoryview(data), len(data), SharedFrame(lambda: released.append("frame")))
    harness.buffer.discard(state, FetchPosition(7))
    assert not harness.buffer.put(state, item)
    assert (released, item.records, harness.buffer.nbytes) == (["frame"], None, 0)


def test_an_error_waits_until_earlier_data_was_taken() -> None:
    harness = BufferHarness()
    state = harness.state()
    harness.put(state, 0, 2)
    harness.buffer.put(state, PartitionResponse(state.tp, 0, 2, error=TopicAuthorizationFailedError({"t"})))
    harness.put(state, 2, 4)
    assert harness.take() == [(0, [0, 1])]
    with pytest.raises(TopicAuthorizationFailedError):
        harness.take()
    assert harness.take() == [(0, [2, 3])]
    assert harness.buffer.nbytes == 0


def test_a_corrupt_batch_stands_until_a_seek_and_does_not_hold_up_others() -> None:
    harness = BufferHarness()
    state, other = harness.state(), harness.state(1)
    broken = bytearray(numbered(2, 4))
    broken[-1] ^= 1
    data = numbered(0, 2) + bytes(broken)
    harness.buffer.put(state, PartitionResponse(state.tp, 0, 0, memoryview(data), len(data)))
    harness.put(other, 0, 1)
    assert sorted(harness.take()) == [(0, [0, 1]), (1, [0])]
    for _ in range(2):
        with pytest.raises(CorruptRecordError):
            harness.take()
    harness.put(other, 1, 2)
    taken = []
    for _ in range(2):
        try:
            taken += harness.take()
        except CorruptRecordError:
            continue
    assert taken == [(1, [1])]
    assert at(state) == 2
    harness.buffer.discard(state, FetchPosition(4))
    harness.put(state, 4, 5)
    assert harness.take() == [(0, [4])]


def test_an_offset_out_of_range_follows_the_policy_or_stands() -> None:
    harness = BufferHarness(auto_offset_reset="earliest")
    state = harness.state(position=7)
    harness.buffer.put(
        state, PartitionResponse(state.tp, 0, 7, error=OffsetOutOfRangeError({state.tp: 7}), sticky=True)
    )
    assert harness.take() == []
    assert harness.reset == [state]

    harness = BufferHarness(auto_offset_reset="none")
    state = harness.state(position=7)
    harness.buffer.put(
        state, PartitionResponse(state.tp, 0, 7, error=OffsetOutOfRangeError({state.tp: 7}), sticky=True)
    )
    for _ in range(2):
        with pytest.raises(OffsetOutOfRangeError):
            harness.take()
    assert harness.reset == []


def test_a_position_found_late_does_not_undo_a_seek() -> None:
    harness = BufferHarness()
    state = PartitionState(TopicPartition("t", 0))
    generation = state.generation
    harness.buffer.discard(state, FetchPosition(50))
    assert not harness.buffer.locate(state, generation, FetchPosition(0))
    harness.buffer.follow(state)
    assert (at(state), state.fetching.offset, state.fetching.generation) == (50, 50, state.generation)
    other = PartitionState(TopicPartition("t", 1))
    assert harness.buffer.locate(other, 0, FetchPosition(9))
    assert (at(other), other.fetching.offset) == (9, 9)


def test_columns_are_decoded_up_to_a_limit_and_started_responses_first() -> None:
    harness = BufferHarness()
    one, two = harness.state(1), harness.state(2)
    data = b"".join(numbered(start, start + 10) for start in range(0, 40, 10))
    harness.buffer.put(one, PartitionResponse(one.tp, 0, 0, memoryview(data), len(data)))
    harness.put(two, 0, 10)
    assert harness.take(max_bytes=1) == [(1, list(range(10)))]
    assert harness.buffer.nbytes == len(data) + len(numbered(0, 10))
    assert harness.take(5, max_bytes=1) == [(1, list(range(10, 15)))]
    assert harness.take(max_bytes=1) == [(1, list(range(15, 20)))]
    assert harness.take() == [(1, list(range(20, 40))), (2, list(range(10)))]
    assert (at(one), harness.buffer.nbytes) == (40, 0)


def test_much_of_a_partition_is_not_joined_with_others() -> None:
    harness = BufferHarness()
    states = [harness.state(number) for number in range(3)]
    for state in states:
        harness.put(state, 0, 20)
    size = harness.buffer.take(20).pieces[0].columns.nbytes
    harness.buffer.discard(states[0], FetchPosition(20))
    harness.put(states[0], 20, 40)
    assert harness.take(max_bytes=4 * size) == [(1, list(range(20)))]
    assert harness.take(max_bytes=4 * size, one_each=True) == [(2, list(range(20))), (0, list(range(20, 40)))]
    for state in states:
        harness.put(state, 40, 60)
    assert len(harness.take(max_bytes=24 * size)) == 3


def test_a_seek_drops_partly_decoded_data() -> None:
    harness = BufferHarness()
    state = harness.state()
    data = numbered(0, 10) + numbered(10, 20)
    item = PartitionResponse(state.tp, 0, 0, memoryview(data), len(data))
    harness.buffer.put(state, item)
    harness.take(max_bytes=1)
    assert not item.is_decoded
    harness.buffer.discard(state, FetchPosition(100))
    assert item.is_decoded
    harness.put(state, 100, 101)
    assert (harness.take(), harness.buffer.nbytes) == ([(0, [100])], 0)


def test_partitions_that_wait_for_room_wait_until_there_is_some() -> None:
    size = len(numbered(0, 10))
    harness = BufferHarness(max_partition_fetch_bytes=size, fetch_max_bytes=3 * size)
    states = [harness.state(number) for number in range(5)]
    for state in states[:4]:
        harness.put(state, 0, 10)
    assert harness.buffer.is_full(states[4])
    harness.take(10)
    assert harness.unblocked == []
    harness.take(10)
    assert harness.unblocked == [states[4]]
