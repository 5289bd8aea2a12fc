"""Decoding one partition beside the caller: the same records in the same order, whatever comes in between."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from kafka.config import parse_consumer
from kafka.consumer.buffer import decode_ahead, fetch_buffer
from kafka.consumer.buffer.decode_ahead import DecodeAhead
from kafka.consumer.buffer.fetch_buffer import FetchBuffer
from kafka.consumer.buffer.partition_response import DecodeOptions, PartitionResponse, SharedFrame
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.errors import TopicAuthorizationFailedError
from kafka.net import helper_threads, interruptible
from kafka.record import BatchBuilder, BatchDecoder, Compression
from kafka.structs import TopicPartition
from unit.consumer.batches import at
from unit.consumer.listeners import BufferCalls
from unit.interrupt import LIBRARY, NEVER, PACKAGE, Interrupt, interrupts
from unit.sampling import EVERY

COUNT = 40
SIZE = 12_000
"""Of a value; they don't become smaller, so that a batch is large enough for the aid."""
BOUND = 1 << 20
DECODING = DecodeOptions(check_crcs=True, read_committed=False, max_decompressed_size=1 << 30)


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if there were two, and no thread left behind."""
    monkeypatch.setattr(helper_threads, "processors", lambda: 2)
    yield
    for thread in threading.enumerate():
        if thread.name == "kafka-decode":
            thread.join(10)
            assert not thread.is_alive()


def packed(start: int, count: int = COUNT) -> bytes:
    """A batch with random values, the offset before each."""
    noise = random.Random(start)
    builder = BatchBuilder(2, Compression.LZ4, size_limit=1 << 24)
    for offset in range(start, start + count):
        builder.append(1_000 + offset, None, b"%08d" % offset + noise.randbytes(SIZE), [])
    return bytes(builder.build(base_offset=start))


def fetched(state: PartitionState, data: bytes, frame: SharedFrame | None = None) -> PartitionResponse:
    return PartitionResponse(state.tp, state.generation, 0, memoryview(data), len(data), frame)


class DecodeAheadHarness:
    """A buffer, and partitions whose position is 0."""

    def __init__(self, partitions: int = 2, **options: Any) -> None:
        options = {"max_partition_fetch_bytes": 1 << 26, "fetch_max_bytes": 1 << 28} | options
        self.lost: list[PartitionState] = []
        """What has to be fetched again."""
        self.buffer = FetchBuffer(parse_consumer(options).fetch, BufferCalls(self.lost.append))
        self.states = [PartitionState(TopicPartition("t", number)) for number in range(partitions)]
        for state in self.states:
            state.locate(state.generation, FetchPosition(0))

    def put(self, number: int, start: int, count: int = COUNT) -> None:
        state = self.states[number]
        data = b"".join(packed(first, min(10, start + count - first)) for first in range(start, start + count, 10))
        assert self.buffer.put(state, PartitionResponse(state.tp, state.generation, start, memoryview(data), len(data)))

    def take(self, **limits: Any) -> list[tuple[int, int]]:
        """Partition and offset of each record; the values have to be those of the offsets."""
        found = []
        polled = self.buffer.take(limits.pop("most", 10_000), **{"max_bytes": BOUND} | limits)
        for piece in polled.pieces:
            values = map(piece.columns.value, range(len(piece.columns)))
            for offset, value in zip(piece.columns.offsets, values, strict=True):
                assert value is not None
                assert value.startswith(b"%08d" % offset)
                assert len(value) == SIZE + 8
                found.append((piece.state.tp.partition, offset))
        polled.commit()
        return found

    def rest(self) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        while more := self.take():
            found += more
        return found


def begun() -> set[str]:
    """The aid's threads at this moment."""
    return {thread.name for thread in threading.enumerate() if thread.name == "kafka-decode"}


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The aid does not begin until this is set."""
    go = threading.Event()
    run = DecodeAhead._run

    def wait_and_run(aid: Any, task: Any) -> None:
        assert go.wait(10)
        run(aid, task)

    monkeypatch.setattr(DecodeAhead, "_run", wait_and_run)
    yield go
    go.set()


def offsets(number: int, start: int, stop: int) -> list[tuple[int, int]]:
    return [(number, offset) for offset in range(start, stop)]


def test_one_partition_is_decoded_while_another_is_returned(held: threading.Event) -> None:
    harness = DecodeAheadHarness()
    harness.put(0, 0)
    harness.put(1, 0)
    assert harness.take() == offsets(0, 0, COUNT)
    assert begun() == {"kafka-decode"}
    assert not any(thread.daemon for thread in threading.enumerate() if thread.name == "kafka-decode")
    held.set()
    assert harness.take() == offsets(1, 0, COUNT)
    assert harness.take() == []


def test_uncompressed_or_small_data_are_not_decoded_ahead(held: threading.Event) -> None:
    harness = DecodeAheadHarness()
    harness.put(0, 0, 2)
    harness.put(1, 0, 2)
    assert harness.take() == offsets(0, 0, 2) + offsets(1, 0, 2)
    harness.put(0, 2)
    harness.put(1, 2)
    assert harness.buffer.take(1).pieces[0].columns.offsets[0] == 2  # no bound of bytes: objects are made of them
    assert not begun()


def test_with_one_processor_the_caller_decodes_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helper_threads, "processors", lambda: 1)
    monkeypatch.setattr(DecodeAhead, "_run", None)
    harness = DecodeAheadHarness()
    harness.put(0, 0)
    harness.put(1, 0)
    assert harness.rest() == offsets(0, 0, COUNT) + offsets(1, 0, COUNT)


def test_without_a_thread_to_be_had_the_caller_decodes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    harness = DecodeAheadHarness()
    harness.put(0, 0)
    harness.put(1, 0)
    assert sorted(harness.rest()) == offsets(0, 0, COUNT) + offsets(1, 0, COUNT)


@pytest.mark.parametrize("begins", ["never", "late", "at once"])
def test_an_interrupt_while_the_thread_is_started_leaves_nothing_waiting_for_it(
    monkeypatch: pytest.MonkeyPatch, begins: str
) -> None:
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        started.append(thread)
        if begins == "at once":
            start(thread)
        raise KeyboardInterrupt

    harness = DecodeAheadHarness()
    harness.put(0, 0)
    harness.put(1, 0)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            harness.take()
    if begins == "late":
        start(started[0])
    harness.buffer.discard(harness.states[0], FetchPosition(0))  # as an interrupt has it fetched again
    harness.put(0, 0)
    assert sorted(harness.rest()) == offsets(0, 0, COUNT) + offsets(1, 0, COUNT)
    if begins != "never":
        started[0].join(10)
    assert harness.buffer._ahead._worker is None


def test_an_interrupt_once_the_thread_decodes_leaves_it_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    decoding, go = threading.Event(), threading.Event()
    decode, start = decode_ahead._Task.decode, threading.Thread.start

    def held_up(task: Any, *limits: Any) -> Any:
        decoding.set()
        assert go.wait(10)
        return decode(task, *limits)

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        assert decoding.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(decode_ahead._Task, "decode", held_up)
    state = PartitionState(TopicPartition("t", 0))
    item = fetched(state, packed(0))
    state.buffer.items.append(item)
    aid = DecodeAhead(DECODING, [state], threading.RLock())
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            aid.offer(BOUND)
    aid.offer(BOUND)
    threads = [thread for thread in threading.enumerate() if thread.name == "kafka-decode"]
    go.set()
    assert len(threads) == 1
    assert aid.take(item).left == COUNT


def test_an_error_of_one_partition_does_not_lose_the_one_that_is_being_decoded(held: threading.Event) -> None:
    harness = DecodeAheadHarness(3)
    harness.put(0, 0)
    harness.put(1, 0)
    assert harness.take() == offsets(0, 0, COUNT)
    refused = harness.states[2]
    harness.buffer.put(refused, PartitionResponse(refused.tp, 0, 0, error=TopicAuthorizationFailedError("no")))
    with pytest.raises(TopicAuthorizationFailedError):
        harness.take()
    held.set()
    assert harness.take() == offsets(1, 0, COUNT)


def test_a_seek_drops_data_being_decoded(held: threading.Event) -> None:
    harness = DecodeAheadHarness()
    harness.put(0, 0)
    harness.put(1, 0)
    harness.take()
    harness.buffer.discard(harness.states[1], 7 * COUNT)
    harness.put(1, 7 * COUNT)
    held.set()
    assert harness.take() == offsets(1, 7 * COUNT, 8 * COUNT)
    assert harness.take() == []


def test_a_paused_partition_keeps_decoded_data(held: threading.Event) -> None:
    harness = DecodeAheadHarness()
    harness.put(0, 0)
    harness.put(1, 0)
    harness.take()
    harness.buffer.pause(harness.states[1])
    held.set()
    assert harness.take() == []
    harness.put(0, COUNT)
    assert harness.take() == offsets(0, COUNT, 2 * COUNT)
    harness.buffer.resume(harness.states[1])
    assert harness.take() == offsets(1, 0, COUNT)


def one_in_hand(item: PartitionResponse) -> DecodeAhead:
    """An aid that has begun with an item."""
    state = PartitionState(item.tp)
    state.buffer.items.append(item)
    lock = threading.Lock()
    aid = DecodeAhead(DECODING, [state], lock)
    aid.offer(BOUND)
    assert item in aid.claimed
    with lock:  # whoever takes it has taken it out of what waits before: else it would be claimed again
        state.buffer.items.clear()
    return aid


def until(done: Callable[[], object]) -> None:
    """Wait until something is the case."""
    for _ in range(1000):
        if done():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come")


def test_the_frame_is_returned_once_decoding_ahead_has_released_it(held: threading.Event) -> None:
    given_back = threading.Event()
    item = fetched(PartitionState(TopicPartition("t", 0)), packed(0), SharedFrame(given_back.set))
    aid = one_in_hand(item)
    assert aid.partition is None
    assert not aid.is_ready(item)
    aid.abandon(item)
    item.drop()
    assert item not in aid.claimed
    assert not given_back.is_set()
    held.set()
    assert given_back.wait(10)


def test_the_frame_is_returned_when_an_item_is_abandoned() -> None:
    given_back = threading.Event()
    item = fetched(PartitionState(TopicPartition("t", 0)), parts_of(0, 5), SharedFrame(given_back.set))
    aid = one_in_hand(item)
    until(lambda: not begun())  # enough lies ready
    assert aid.partition is not None
    assert aid.partition.tp == item.tp
    aid.abandon(item)
    assert aid.partition is None
    assert not given_back.is_set()
    item.drop()
    assert given_back.is_set()


def test_decoding_errors_are_raised_by_take(monkeypatch: pytest.MonkeyPatch) -> None:
    class Decoder(BatchDecoder):
        def part(self, max_bytes: int) -> Any:
            raise MemoryError("no room")

    monkeypatch.setattr(PartitionResponse, "_begin", lambda *given: Decoder(memoryview(b""), topic="t", partition=0))
    item = fetched(PartitionState(TopicPartition("t", 0)), packed(0))
    aid = one_in_hand(item)
    with pytest.raises(MemoryError, match="no room"):
        aid.take(item)
    assert item not in aid.claimed


@pytest.mark.parametrize("where", ["_claim", "_tell_caller", "decode"])
def test_errors_outside_the_decoder_lose_nothing_and_only_pause_decoding_ahead(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part may be decoded already, and lost to it: the partition is read again from its position."""
    owner: Any = decode_ahead._Task if where == "decode" else DecodeAhead
    original = getattr(owner, where)
    raised = threading.Event()

    def fails_once(*args: Any) -> Any:
        result = original(*args)
        if threading.current_thread().name == "kafka-decode" and not raised.is_set():
            raised.set()
            raise MemoryError("no room")
        return result

    monkeypatch.setattr(owner, where, fails_once)
    harness = DecodeAheadHarness(3)
    for number in range(3):
        harness.put(number, 0)
    read: list[tuple[int, int]] = []
    while True:
        try:
            more = harness.take()
        except MemoryError:
            (state,) = harness.lost
            harness.put(state.tp.partition, at(state) or 0, COUNT - (at(state) or 0))
            continue
        if not more:
            break
        read += more
    for thread in threading.enumerate():
        if thread.name == "kafka-decode":
            thread.join(10)
    assert raised.is_set()
    assert sorted(read) == offsets(0, 0, COUNT) + offsets(1, 0, COUNT) + offsets(2, 0, COUNT)
    aid = harness.buffer._ahead
    harness.put(0, COUNT)
    harness.put(1, COUNT)
    assert harness.take() == offsets(0, COUNT, 2 * COUNT)
    assert harness.states[1].buffer.items[0] in aid.claimed, "another partition is decoded ahead again"
    assert harness.rest() == offsets(1, COUNT, 2 * COUNT)


def test_an_interrupt_while_a_part_is_awaited_has_the_partition_fetched_again(
    held: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(lock: threading.Lock, timeout_s: float) -> bool:
        raise KeyboardInterrupt

    harness = DecodeAheadHarness()
    harness.put(0, 0)
    harness.put(1, 0)
    assert harness.take() == offsets(0, 0, COUNT)  # and the other is claimed
    with monkeypatch.context() as patch:
        patch.setattr(interruptible, "acquire", interrupted)
        with pytest.raises(KeyboardInterrupt):
            harness.take()
    held.set()
    assert at(harness.states[1]) == 0
    assert harness.rest() == []
    harness.put(1, 0)
    assert harness.rest() == offsets(1, 0, COUNT)


@pytest.mark.parametrize("every", EVERY)
def test_taking_a_part_interrupted_at_any_point_leaves_no_lock(every: int) -> None:
    data = packed(0)

    def claimed() -> tuple[DecodeAhead, PartitionResponse]:
        item = fetched(PartitionState(TopicPartition("t", 0)), data)
        return one_in_hand(item), item

    aid, item = claimed()
    for interrupt in interrupts(partial(aid.take, item), PACKAGE, LIBRARY, every=every):
        aid, item = claimed()
        with contextlib.suppress(KeyboardInterrupt), interrupt:
            aid.take(item)
        other = threading.Thread(target=aid.abandon, args=(item,), daemon=True)
        other.start()
        other.join(60)
        assert not other.is_alive(), interrupt.where


@pytest.mark.parametrize("every", EVERY)
def test_a_signal_handler_may_abandon_a_part_at_any_point(every: int) -> None:
    data = packed(0)

    def claimed() -> tuple[DecodeAhead, PartitionResponse]:
        item = fetched(PartitionState(TopicPartition("t", 0)), data)
        return one_in_hand(item), item

    aid, item = claimed()
    undisturbed = Interrupt(NEVER, PACKAGE)
    with undisturbed:
        aid.take(item)
    for n in range(0, undisturbed.looks, every):
        aid, item = claimed()
        signal = Interrupt(n, PACKAGE, handler=partial(aid.abandon, item))
        with signal:
            taken = aid.take(item)
        assert taken is None or len(taken.columns) == COUNT, signal.where


def parts_of(start: int, parts: int) -> bytes:
    """Batches of which each makes a part of its own."""
    return b"".join(packed(start + number * 2 * COUNT, 2 * COUNT) for number in range(parts))


def test_no_more_than_two_full_parts_lie_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []
    part = BatchDecoder.part

    def noted(decoder: BatchDecoder, max_bytes: int) -> Any:
        columns, error = part(decoder, max_bytes)
        decoded.append(columns.next_offset)
        return columns, error

    monkeypatch.setattr(BatchDecoder, "part", noted)
    item = fetched(PartitionState(TopicPartition("t", 0)), parts_of(0, 5))
    aid = one_in_hand(item)
    until(lambda: not begun())
    assert decoded == [2 * COUNT, 4 * COUNT]
    assert aid.take(item).next_offset == 2 * COUNT
    assert decoded == [2 * COUNT, 4 * COUNT]
    aid.offer(BOUND)
    until(lambda: not begun())
    assert decoded == [2 * COUNT, 4 * COUNT, 6 * COUNT]
    assert [aid.take(item).next_offset for _ in range(3)] == [4 * COUNT, 6 * COUNT, 8 * COUNT]
    assert not item.is_decoded
    last = aid.take(item)  # the caller has to decode it
    assert (last.next_offset, item.is_decoded, item in aid.claimed) == (10 * COUNT, True, False)


def test_an_item_continued_by_the_caller_is_decoded_ahead_again(held: threading.Event) -> None:
    item = fetched(PartitionState(TopicPartition("t", 0)), parts_of(0, 5))
    aid = one_in_hand(item)
    held.set()
    until(lambda: not begun())
    for number in (1, 2, 3):  # the third is decoded by the caller
        assert aid.take(item).next_offset == number * 2 * COUNT
    assert not aid.is_ready(item)
    aid.offer(BOUND)
    until(lambda: not begun())
    assert aid.is_ready(item)
    assert [aid.take(item).next_offset for _ in range(2)] == [8 * COUNT, 10 * COUNT]
    held.clear()
    aid.offer(BOUND)
    assert not begun(), "there is nothing left"


def test_when_an_item_is_done_the_next_is_taken_in_hand_at_once() -> None:
    states = [PartitionState(TopicPartition("t", number)) for number in range(5)]
    items = [fetched(state, packed(0)) for state in states]
    for state, item in zip(states, items, strict=True):
        state.buffer.items.append(item)
    aid = DecodeAhead(DECODING, states, threading.Lock())
    aid.offer(BOUND)
    until(lambda: not begun())
    assert [item in aid.claimed for item in items] == [True] * 4 + [False]  # each has a little less than half a part
    assert all(map(aid.is_ready, items[:4]))
    assert aid.partition is states[0]
    for number in (1, 0, 3, 2):
        assert aid.take(items[number]).next_offset == COUNT
    assert aid.partition is None


def test_an_item_being_decoded_by_the_caller_is_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = DecodeAheadHarness(1)
    harness.put(0, 0)
    part = BatchDecoder.part
    callers = []

    def answered_meanwhile(decoder: BatchDecoder, max_bytes: int) -> Any:
        if threading.current_thread() is threading.main_thread():
            callers.append(decoder)
            if len(callers) == 1:
                harness.put(0, COUNT)  # which makes the partition wait again
                harness.buffer._ahead.offer(BOUND)
                assert not begun()
                assert not harness.buffer._ahead.claimed
        return part(decoder, max_bytes)

    monkeypatch.setattr(BatchDecoder, "part", answered_meanwhile)
    assert harness.rest() == offsets(0, 0, 2 * COUNT)
    assert callers


def test_a_corrupt_batch_raises_after_the_batches_before_it() -> None:
    harness = DecodeAheadHarness()
    harness.put(0, 0)
    state, data = harness.states[1], bytearray(packed(0) + packed(COUNT))
    data[-1] ^= 1
    harness.buffer.put(state, PartitionResponse(state.tp, state.generation, 0, memoryview(data), len(data)))
    assert harness.take() == offsets(0, 0, COUNT)
    assert harness.take() == offsets(1, 0, COUNT)
    with pytest.raises(Exception, match=f"{COUNT}"):
        harness.take()


@pytest.mark.parametrize("seed", range(20))
def test_all_records_are_returned_in_order_for_any_limits(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    if seed % 2:  # so that items have several parts
        monkeypatch.setattr(fetch_buffer, "DECODED_BYTES", 200_000)
    harness = DecodeAheadHarness(4)
    wanted = [[(number, offset) for offset in range(4 * COUNT)] for number in range(4)]
    seen: list[list[tuple[int, int]]] = [[] for _ in range(4)]
    puts = [(number, start) for start in range(0, 4 * COUNT, COUNT) for number in range(4)]
    paused: set[int] = set()
    while puts or paused or seen != wanted:
        if puts and chance.random() < 0.6:
            harness.put(*puts.pop(0))
        if chance.random() < 0.2:
            number = chance.randrange(4)
            harness.states[number].paused = number not in paused
            paused ^= {number}
            harness.buffer.resume(harness.states[number])
        limits = {"most": chance.choice([1, 7, 10_000]), "one_each": chance.random() < 0.3}
        if chance.random() < 0.8:
            limits["max_bytes"] = chance.choice([1, 100_000, BOUND, 8 * BOUND])
        for number, offset in harness.take(**limits):
            seen[number].append((number, offset))
    assert seen == wanted
    assert harness.buffer.nbytes == 0
