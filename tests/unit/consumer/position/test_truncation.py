"""What a consumer does when the log of a partition was cut back below what it has read (KIP-320). In virtual time."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from crc32c import crc32c

from fakes.cluster import Call
from kafka.config import parse_consumer
from kafka.consumer.buffer.fetch_buffer import FetchBuffer
from kafka.consumer.buffer.partition_response import PartitionResponse
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.fetch.position_validation import Divergence
from kafka.consumer.position.truncation import Truncations
from kafka.consumer.records.build_records import Materializer, RecordCursor
from kafka.errors import LogTruncationError
from kafka.record import BatchBuilder, batch_headers, set_offsets
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.wire.api.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from unit.consumer.consumer_harness import T0, ConsumerHarness, play
from unit.consumer.listeners import BufferCalls, ignore


class Ends:
    """Answers OffsetForLeaderEpoch for partition 0, each time with the next of some ends; the last one stays."""

    def __init__(self, *ends: tuple[int, int]) -> None:
        self._ends = list(ends)
        self.asked: list[tuple[int, int]] = []

    def __call__(self, call: Call) -> Any:
        (asked,) = call.request.topics[0].partitions
        self.asked.append((asked.current_leader_epoch, asked.leader_epoch))
        epoch, end = self._ends.pop(0) if len(self._ends) > 1 else self._ends[0]
        answer = EpochEndOffset(partition=0, leader_epoch=epoch, end_offset=end)
        return OffsetForLeaderEpochResponse(topics=[OffsetForLeaderTopicResult(topic="t", partitions=[answer])])


def elect(harness: ConsumerHarness, ends: Ends) -> None:
    """Broker 2 leads partition 0 now, with another log."""
    harness.cluster.serve("OffsetForLeaderEpoch", ends)
    harness.cluster.leaders[T0] = 2, 5
    harness.cluster.publish(["t"])


async def read(harness: ConsumerHarness, count: int) -> list[int]:
    """The next records of partition 0."""
    found: list[int] = []
    async with asyncio.timeout(60):
        while len(found) < count:
            found += (await harness.poll(1_000, count - len(found))).get(0, [])
    return found


def position(harness: ConsumerHarness) -> tuple[int, int] | None:
    return harness.core.subscription.assigned(T0).position


def test_with_a_reset_policy_reading_continues_where_the_logs_diverge(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        assert await read(harness, 10) == list(range(10))
        elect(harness, Ends((0, 6)))
        assert await read(harness, 4) == [6, 7, 8, 9]

    with caplog.at_level(logging.WARNING):
        play(scenario)
    (record,) = caplog.records
    assert record.getMessage() == (
        "the log of partition 0 of topic 't' was truncated after it had been read up to offset 10, leader epoch 0: its "
        "leader has leader epoch 0 up to offset 6, so the records from there to 9 are gone or others; reading "
        "continues at 6"
    )


def test_a_leader_that_cannot_tell_leaves_it_to_the_policy() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        await read(harness, 10)
        elect(harness, Ends((-1, -1)))
        assert await read(harness, 3) == [0, 1, 2]

    play(scenario)


def test_without_a_policy_each_poll_raises_until_a_seek() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        state = harness.core.subscription.assigned(T0)
        harness.core.seek(state, 0)
        await read(harness, 10)
        elect(harness, Ends((0, 6)))
        for _ in range(3):
            with pytest.raises(LogTruncationError) as raised:
                await read(harness, 1)
            assert raised.value.divergent_offsets == {T0: OffsetAndMetadata(6, "", 0)}
            assert raised.value.positions == {T0: OffsetAndMetadata(10, "", 0)}
            assert "leader epoch 0 up to offset 6" in str(raised.value)
            assert "seek()" in str(raised.value)
        again = pickle.loads(pickle.dumps(raised.value))
        assert (again.divergent_offsets, again.positions, str(again)) == (
            raised.value.divergent_offsets,
            raised.value.positions,
            str(raised.value),
        )
        assert position(harness) == (10, 0)
        harness.core.seek(state, 6)
        assert await read(harness, 4) == [6, 7, 8, 9]

    play(scenario, auto_offset_reset="none")


def test_without_a_policy_an_unknown_epoch_raises_too() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        harness.core.seek(harness.core.subscription.assigned(T0), 0)
        await read(harness, 10)
        elect(harness, Ends((-1, -1)))
        with pytest.raises(LogTruncationError, match="does not know that epoch") as raised:
            await read(harness, 1)
        assert raised.value.divergent_offsets == {T0: None}

    play(scenario, auto_offset_reset="none")


def test_fetched_data_are_dropped_and_the_position_validated() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        assert await read(harness, 3) == [0, 1, 2]
        ends = Ends((0, 6))  # which the position, at 3, is below
        elect(harness, ends)
        await asyncio.sleep(1)
        assert position(harness) == (3, 0)
        assert await read(harness, 7) == [3, 4, 5, 6, 7, 8, 9]  # as the new leader has them
        assert ends.asked == [(5, 0), (5, 0)]
        assert harness.core.subscription.assigned(T0).generation == 1

    play(scenario)


def test_an_earlier_seek_discards_the_lookup() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        await read(harness, 10)
        elect(harness, Ends((0, 6)))
        await asyncio.sleep(1)
        harness.core.seek(harness.core.subscription.assigned(T0), 2)
        assert await read(harness, 2) == [2, 3]

    play(scenario)


def test_a_seek_to_the_same_position_also_discards_the_lookup() -> None:
    """The caller has chosen: the leader is asked anew, and nothing is done about what was found before."""

    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        await read(harness, 10)
        elect(harness, Ends((0, 6)))
        await asyncio.sleep(1)
        harness.core.seek(harness.core.subscription.assigned(T0), 10)
        assert position(harness) == (10, -1)
        await harness.poll(0)
        assert position(harness) == (10, -1)

    play(scenario)


def forbidden(*_: object) -> None:
    raise AssertionError


@dataclass
class OnlyReads:
    """A listener of truncations that may only be told where to read."""

    read_from: Callable[[PartitionState, FetchPosition], None]
    reset_by_policy: Callable[[PartitionState], None] = forbidden
    truncation_found: Callable[[], None] = ignore


def by_hand(read_from: Callable[[PartitionState, FetchPosition], None]) -> Truncations:
    """Truncations that nobody else sees."""
    buffer = FetchBuffer(parse_consumer({}).fetch, BufferCalls(forbidden, forbidden, forbidden))
    return Truncations(buffer, True, OnlyReads(read_from))


def divergence(number: int, end: int) -> Divergence:
    state = PartitionState(TopicPartition("t", number))
    state.go_to(FetchPosition(10, 0), None)
    return Divergence(state, state.generation, FetchPosition(10, 0), FetchPosition(end, 0))


def test_a_reset_discards_the_lookup() -> None:
    found: list[object] = []
    truncations = by_hand(lambda state, end: found.append(end))
    state = PartitionState(TopicPartition("t", 0))
    truncations.found(Divergence(state, state.generation, FetchPosition(10, 0), FetchPosition(6, 0)))
    truncations.act()
    assert found == []


def test_divergences_found_during_a_signal_handler_are_kept() -> None:
    """The handler polls within a poll, and is done with what the poll was about."""
    ends: list[int] = []

    def read_from(state: PartitionState, end: FetchPosition) -> None:
        ends.append(end.offset)
        if ends == [6]:
            truncations.act()
            truncations.found(divergence(1, 7))

    truncations = by_hand(read_from)
    truncations.found(divergence(0, 6))
    truncations.act()
    assert ends == [6, 6, 7]


def test_an_interrupt_while_it_is_acted_on_leaves_it_to_the_next_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        await read(harness, 10)
        elect(harness, Ends((0, 6)))
        await asyncio.sleep(1)

        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(harness.core.buffer, "discard", interrupted)
            with pytest.raises(KeyboardInterrupt):
                harness.core.begin_processing_events()
        assert position(harness) == (10, 0)
        assert await read(harness, 4) == [6, 7, 8, 9]

    play(scenario)


def test_the_epoch_that_was_committed_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        async def committed(*_: object) -> dict[Any, OffsetAndMetadata]:
            return {T0: OffsetAndMetadata(8, "", 3)}

        monkeypatch.setattr(harness.core.commits, "committed", committed)
        ends = Ends((3, 7))
        elect(harness, ends)
        harness.core.assign([T0])
        assert await read(harness, 3) == [7, 8, 9]
        assert ends.asked[0] == (5, 3)

    play(scenario, group_id="g")


def in_epochs(*epochs: int) -> memoryview:
    """Batches of two records, each of an epoch of its own; -1 is a control batch, of the epoch before plus one."""
    data, offset, before = bytearray(), 0, -1
    for epoch in epochs:
        builder = BatchBuilder(magic=2, size_limit=1 << 20)
        for _ in range(2):
            builder.append(1_000, None, b"v", [])
        one = bytearray(builder.build(base_offset=offset))
        before = before + 1 if epoch < 0 else epoch
        for header in list(batch_headers(one)):
            set_offsets(one, header, offset, before)
        if epoch < 0:
            one[22] |= 0x20
            one[17:21] = crc32c(bytes(one[21:])).to_bytes(4, "big")
        data += one
        offset += 2
    return memoryview(bytes(data))


def harness(data: memoryview) -> tuple[FetchBuffer, PartitionState]:
    buffer = FetchBuffer(parse_consumer({}).fetch, BufferCalls())
    state = PartitionState(T0)
    state.locate(0, FetchPosition(0))
    buffer.put(state, PartitionResponse(T0, 0, 0, data, len(data)))
    return buffer, state


@pytest.mark.parametrize(("most", "expected"), [(1, (1, 3)), (2, (2, 3)), (3, (3, 5)), (4, (4, 5)), (9, (6, 6))])
def test_a_position_has_the_epoch_of_the_last_record_before_it(most: int, expected: tuple[int, int]) -> None:
    buffer, state = harness(in_epochs(3, 5, 6))
    buffer.take(most).commit()
    assert state.position == expected


def test_a_position_past_control_records_keeps_their_epoch() -> None:
    buffer, state = harness(in_epochs(3, -1))
    with pytest.raises(KeyError), buffer.take(9):
        raise KeyError  # which gives it back
    buffer.take(9).commit()
    assert state.position == (4, 4)


def test_a_position_in_iteration_has_the_epoch_of_the_record_before_it() -> None:
    buffer, state = harness(in_epochs(3, 5))
    cursor = RecordCursor(Materializer(None, None))
    cursor.begin(buffer.take(9))
    assert cursor.load()
    found = []
    for record in cursor.rest:
        state.last_record = record
        found.append(state.position)
    assert found == [(1, 3), (2, 3), (3, 5), (4, 5)]
