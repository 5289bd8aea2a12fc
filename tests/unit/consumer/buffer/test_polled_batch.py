"""A hand-out moves positions when it reaches the caller, and only then."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kafka.config import parse_consumer
from kafka.consumer.buffer import fetch_buffer
from kafka.consumer.buffer.fetch_buffer import FetchBuffer
from kafka.consumer.buffer.partition_response import PartitionResponse
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.buffer.polled_batch import PolledBatch, Slice
from kafka.consumer.records.build_records import Materializer, RecordCursor
from kafka.record import decode_batches
from kafka.structs import TopicPartition
from unit.consumer.batches import at, numbered
from unit.consumer.listeners import BufferCalls
from unit.interrupt import interrupts
from unit.sampling import EVERY

FOLDER = str(Path(fetch_buffer.__file__).parent.parent)
Offsets = list[tuple[int, int]]


class PolledBatchHarness:
    """A buffer with partitions that have a position, and what it calls back."""

    def __init__(self, *positions: int, **options: Any) -> None:
        self.refetched: list[PartitionState] = []
        self.buffer = FetchBuffer(parse_consumer(options).fetch, BufferCalls(self.refetched.append))
        self.states = [PartitionState(TopicPartition("t", number)) for number in range(len(positions))]
        for state, position in zip(self.states, positions, strict=True):
            state.locate(0, FetchPosition(position))

    def put(self, number: int, start: int, stop: int, begin: int | None = None) -> None:
        """Put in what a fetch from offset `begin` gave."""
        state, data = self.states[number], numbered(start, stop)
        item = PartitionResponse(
            state.tp, state.generation, start if begin is None else begin, memoryview(data), len(data)
        )
        assert self.buffer.put(state, item)

    def put_control(self, number: int, before: int, at: int) -> None:
        """Put in an answer that has nothing to hand out at offset `at`."""
        self.put(number, before, at, begin=at)

    def read(self, most: int = 100) -> Offsets:
        with self.buffer.take(most) as polled:
            read = offsets(polled.pieces)
        polled.commit()
        return read

    def interrupt(self, most: int = 100, within: Callable[[], object] = list) -> Offsets:
        """Take, and be interrupted before it is done; what was taken."""
        taken: Offsets = []
        try:
            with self.buffer.take(most) as polled:
                taken += offsets(polled.pieces)
                within()
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            return taken

    def positions(self) -> list[int | None]:
        return [at(state) for state in self.states]


def offsets(pieces: list[Slice]) -> Offsets:
    return [(piece.state.tp.partition, offset) for piece in pieces for offset in piece.columns.offsets]


def of(number: int, start: int, stop: int) -> Offsets:
    return [(number, offset) for offset in range(start, stop)]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit, ValueError])
def test_after_any_exception_positions_stay_and_records_are_returned_again(raised: type[BaseException]) -> None:
    harness = PolledBatchHarness(0, 0)
    harness.put(0, 0, 5)
    harness.put(1, 0, 5)
    harness.put(0, 5, 8)
    with pytest.raises(raised), harness.buffer.take(12):
        raise raised
    assert harness.positions() == [0, 0]
    assert harness.buffer.records_taken == 0
    read = harness.read()
    assert sorted(read) == of(0, 0, 8) + of(1, 0, 5)
    assert [offset for number, offset in read if number == 0] == list(range(8))
    assert harness.positions() == [8, 5]
    assert harness.buffer.records_taken == 13


def test_a_hand_out_that_was_left_lying_is_rolled_back_by_the_next() -> None:
    harness = PolledBatchHarness(0)
    harness.put(0, 0, 5)
    assert offsets(harness.buffer.take(3).pieces) == of(0, 0, 3)
    assert harness.positions() == [0]
    assert harness.read() == of(0, 0, 5)


def test_rolled_back_data_come_before_the_next_partitions() -> None:
    harness = PolledBatchHarness(0, 0, 0)
    for number in range(3):
        harness.put(number, 0, 4)
    polled = harness.buffer.take(6)
    first = offsets(polled.pieces)
    polled.roll_back()
    assert harness.read(6) == first


def test_control_records_are_passed_only_after_returned_records() -> None:
    harness = PolledBatchHarness(0, 0)
    harness.put(0, 0, 5)
    harness.put(1, 0, 3)
    harness.put_control(0, 0, 6)
    assert harness.interrupt() == of(0, 0, 5) + of(1, 0, 3)
    assert harness.positions() == [0, 0]
    assert harness.read() == of(0, 0, 5) + of(1, 0, 3)
    assert harness.positions() == [6, 3]


def test_control_records_wait_for_earlier_records_of_another_partition() -> None:
    harness = PolledBatchHarness(5, 0)
    harness.put(1, 0, 3)
    harness.put_control(0, 0, 6)
    assert harness.interrupt() == of(1, 0, 3)
    assert harness.positions() == [5, 0]
    assert harness.read() == of(1, 0, 3)
    assert harness.positions() == [6, 3]


def test_control_records_alone_are_passed_at_once() -> None:
    harness = PolledBatchHarness(5)
    harness.put_control(0, 0, 6)
    assert not harness.buffer.take(100)
    assert harness.positions() == [6]


def test_a_hand_out_that_ends_early_gives_back_the_rest_of_all_partitions() -> None:
    harness = PolledBatchHarness(0, 0)
    harness.put(0, 0, 5)
    harness.put(1, 0, 3)
    with harness.buffer.take(100) as polled:
        polled.end_at(polled.pieces[0], 2)
    polled.commit()
    assert harness.positions() == [2, 0]
    assert harness.read() == of(0, 2, 5) + of(1, 0, 3)


def test_a_commit_that_is_interrupted_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = PolledBatchHarness(0, 0)
    harness.put(0, 0, 5)
    harness.put(1, 0, 3)
    move = Slice.move_position

    def interrupted(piece: Slice) -> None:
        if piece.state is harness.states[1]:
            raise KeyboardInterrupt
        move(piece)

    monkeypatch.setattr(Slice, "move_position", interrupted)
    with pytest.raises(KeyboardInterrupt):
        harness.buffer.take(100).commit()
    monkeypatch.undo()
    assert harness.positions() == [0, 0]
    assert harness.read() == of(0, 0, 5) + of(1, 0, 3)


def test_a_hand_out_that_ended_early_can_still_be_rolled_back() -> None:
    harness = PolledBatchHarness(0)
    harness.put(0, 0, 5)
    polled = harness.buffer.take(100)
    polled.end_at(polled.pieces[0], 2)
    assert offsets(polled.pieces) == of(0, 0, 2)
    polled.roll_back()
    assert harness.read() == of(0, 0, 5)


GivingBack = Callable[[PolledBatchHarness, PolledBatch], object]
GIVING_BACK: dict[str, GivingBack] = {
    "roll_back": lambda harness, polled: polled.roll_back(),
    "withdraw": lambda harness, polled: polled.withdraw(harness.states[0]),
    "end_at": lambda harness, polled: polled.end_at(polled.slices[0], 2),
}


@pytest.mark.parametrize(
    "give_back",
    [
        pytest.param(each, id=name, marks=() if name == "roll_back" else pytest.mark.exhaustive)
        for name, each in GIVING_BACK.items()
    ],
)
@pytest.mark.parametrize("every", EVERY)
def test_slices_are_put_back_once_wherever_an_interrupt_comes(give_back: GivingBack, every: int) -> None:
    def taken() -> tuple[PolledBatchHarness, PolledBatch]:
        harness = PolledBatchHarness(0, 0)
        for start in (0, 3, 6):
            harness.put(0, start, start + 3)
        harness.put(1, 0, 2)
        return harness, harness.buffer.take(100)

    for interrupt in interrupts(lambda: give_back(*taken()), FOLDER, every=every):
        harness, polled = taken()
        with suppress(KeyboardInterrupt), interrupt:
            give_back(harness, polled)
        read = harness.read()
        assert sorted(read) == of(0, 0, 9) + of(1, 0, 2), interrupt.where
        assert [offset for number, offset in read if number == 0] == list(range(9))
        assert harness.positions() == [9, 2]


@pytest.mark.parametrize("how", ["withdraw", pytest.param("roll_back", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("every", EVERY)
def test_iteration_repeats_nothing_wherever_putting_back_is_interrupted(how: str, every: int) -> None:
    give_back = GIVING_BACK[how]

    def iterate(cursor: RecordCursor) -> Offsets:
        rows = []
        for record in cursor.rest:
            cursor.state.last_record = record
            rows.append((record.partition, record.offset))
        return rows

    def begun() -> tuple[PolledBatchHarness, PolledBatch, RecordCursor, Offsets]:
        harness, cursor = PolledBatchHarness(0, 0), RecordCursor(Materializer(None, None))
        for start in (0, 3, 6):
            harness.put(0, start, start + 3)
        harness.put(1, 0, 2)
        polled = harness.buffer.take(100)
        cursor.begin(polled)
        assert cursor.load()
        record = next(cursor.rest)
        cursor.state.last_record = record
        return harness, polled, cursor, [(record.partition, record.offset)]

    for interrupt in interrupts(lambda: give_back(*begun()[:2]), FOLDER, every=every):
        harness, polled, cursor, read = begun()
        with suppress(KeyboardInterrupt), interrupt:
            give_back(harness, polled)
        while True:
            read += iterate(cursor)
            if not cursor.load():
                polled = harness.buffer.take(100)
                if not polled:
                    break
                cursor.begin(polled)
        assert sorted(read) == of(0, 0, 9) + of(1, 0, 2), interrupt.where


def test_a_seek_within_a_hand_out_stands() -> None:
    harness = PolledBatchHarness(0, 0)
    harness.put(0, 0, 5)
    harness.put(1, 0, 3)
    polled = harness.buffer.take(100)
    harness.buffer.discard(harness.states[0], FetchPosition(50))
    polled.commit()
    assert harness.positions() == [50, 3]
    harness.put(1, 3, 4)
    harness.interrupt(within=lambda: harness.buffer.discard(harness.states[1], FetchPosition(60)))
    assert harness.positions() == [50, 60]
    assert harness.read() == []


def test_the_leader_epoch_moves_with_the_offset() -> None:
    harness = PolledBatchHarness(0)
    state = harness.states[0]
    state.go_to(FetchPosition(3, leader_epoch=7))
    assert state.position == FetchPosition(3, 7)
    harness.put(0, 3, 5)
    harness.read()
    assert state.position == FetchPosition(5, 0)  # the epoch of the batch


@pytest.mark.parametrize("raised", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("decoded_before", [False, True])
def test_an_interrupt_while_decoding_has_the_partition_fetched_again(
    raised: type[BaseException], decoded_before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = PolledBatchHarness(0, 0)
    harness.put(0, 0, 3)
    harness.put(1, 0, 5)
    decode: Callable[..., Any] = PartitionResponse.decode

    def interrupted(response: PartitionResponse, *arguments: Any) -> Any:
        decoded = decode(response, *arguments) if decoded_before else None
        if decoded is None or decoded.count == 5:
            raise raised
        return decoded

    monkeypatch.setattr(PartitionResponse, "decode", interrupted)
    with pytest.raises(raised):
        harness.buffer.take(100)
    monkeypatch.undo()
    assert harness.positions() == [0, 0]
    (refetched,) = harness.refetched
    assert refetched is harness.states[1 if decoded_before else 0]
    number = harness.states.index(refetched)
    harness.buffer.follow(refetched)
    assert refetched.fetching.offset == 0
    harness.put(number, 0, 3 if number == 0 else 5)
    assert sorted(harness.read()) == of(0, 0, 3) + of(1, 0, 5)


def test_a_take_ends_when_it_has_made_as_much_as_one_batch_may_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_buffer, "DECODED_BYTES", 1)
    harness = PolledBatchHarness(0, max_decompressed_batch_bytes=100)
    for number in range(20):
        harness.put(0, number, number + 1)
    reads = []
    while read := harness.read():
        reads.append(len(read))
    assert sum(reads) == 20
    assert max(reads) < 5


def test_records_after_an_empty_slice_are_built() -> None:
    gap, full = PartitionState(TopicPartition("t", 0)), PartitionState(TopicPartition("t", 1))
    columns = decode_batches(numbered(0, 3))
    polled = PolledBatch(lambda *_: None)
    polled.slices += [Slice(gap, 0, columns, 0, 5, 0), Slice(full, 0, columns, 3, 3, 0)]
    made = Materializer(None, None).batch(polled)
    assert {tp.partition: [record.offset for record in records] for tp, records in made.items()} == {1: [0, 1, 2]}
