"""An interrupt, wherever it comes: the caller has the records, or gets them again."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kafka.consumer
from kafka.config import parse_consumer
from kafka.consumer._sync.calls import ConsumerCalls
from kafka.consumer.buffer.decode_ahead import ResponseOpener
from kafka.consumer.buffer.fetch_buffer import FetchBuffer
from kafka.consumer.buffer.partition_response import PartitionResponse
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.runners import thread_runner
from kafka.consumer.runners.thread_runner import PollGuard
from kafka.errors import IllegalStateError, RecordDeserializationError
from kafka.net import LoopThread
from kafka.record import Columns
from kafka.structs import TopicPartition
from unit.consumer.batches import at, numbered
from unit.consumer.listeners import BufferCalls
from unit.interrupt import NEVER, Interrupt, interrupts

FOLDER = str(Path(kafka.consumer.__file__).parent)
ENDS = (2, 1)
LAST = 80
CONFIG = parse_consumer({})


class BufferedCalls:
    """The calls of a consumer on a buffer with two partitions, without anything that waits.

    Arguments:
        ends: of the partitions.
        each: how many records an answer has.
    """

    def __init__(self, ends: tuple[int, int] = ENDS, each: int = LAST, **options: Any) -> None:
        config = parse_consumer(options) if options else CONFIG
        self._each = each
        self._ends = ends
        self._lost: list[PartitionState] = []
        self._states = [PartitionState(TopicPartition("t", number)) for number in range(2)]
        buffer = self._buffer = FetchBuffer(config.fetch, BufferCalls(self._lost.append))
        for state in self._states:
            state.locate(0, FetchPosition(0))
            self._fetch(state)
        calls: Any = ConsumerCalls.__new__(ConsumerCalls)
        self.calls = calls
        calls._make_parts(config)
        calls._events = SimpleNamespace(pending=False)
        calls._clock = SimpleNamespace(progressed=False)
        calls._core = SimpleNamespace(
            config=config, buffer=buffer, closed=False, check_wanted=lambda: None, interceptors=None
        )
        calls._poll_loop = SimpleNamespace(poll_guard=PollGuard(), wait_for=lambda timeout_ms, take: take())

    def _fetch(self, state: PartitionState) -> None:
        """What a broker would give from the position on."""
        end = self._ends[state.tp.partition]
        for begin in range(at(state) or 0, end, self._each):
            self._put(state, begin, min(begin + self._each, end))

    def _put(self, state: PartitionState, begin: int, end: int) -> None:
        data = numbered(begin, end)
        self._buffer.put(state, PartitionResponse(state.tp, state.generation, begin, memoryview(data), len(data)))

    def fetch_more(self, offset: int) -> None:
        """A record for the first partition has come."""
        self._put(self._states[0], offset, offset + 1)

    def refetch(self) -> None:
        """Fetch what an interrupt has made useless."""
        for state in dict.fromkeys(self._lost):
            self._fetch(state)
        self._lost.clear()

    def seek(self, offset: int) -> None:
        """Read the first partition from elsewhere; the loop is told, as the core does, if the position has moved."""
        state = self._states[0]
        before = state.generation
        try:
            self._buffer.discard(state, FetchPosition(offset))
        finally:
            if state.generation != before:
                self._lost.append(state)

    def state(self, number: int) -> PartitionState:
        return self._states[number]

    def is_full(self, number: int) -> bool:
        """Whether a partition has to wait for room."""
        return self._buffer.is_full(self._states[number])

    def is_told_of(self, number: int) -> bool:
        """Whether the loop has been told that a partition may be fetched again."""
        return self._states[number] in self._lost

    def pause(self) -> None:
        self._buffer.pause(self._states[0])

    def resume(self) -> None:
        self._buffer.resume(self._states[0])

    def positions(self) -> tuple[int | None, ...]:
        return tuple(at(state) for state in self._states)


Rows = list[tuple[int, int]]
"""Partition and offset of records."""


def of_records(records: Iterable[Any]) -> Rows:
    return [(record.partition, record.offset) for record in records]


def of_columns(columns: dict[TopicPartition, Columns]) -> Rows:
    return [(tp.partition, offset) for tp, each in columns.items() for offset in each.offsets]


def of_arrow(batch: Any) -> Rows:
    return list(zip(batch.column("partition").to_pylist(), batch.column("offset").to_pylist(), strict=True))


def next_one(calls: Any) -> Any:
    """A record in a list, as iteration gives it; an empty list at its end."""
    for record in calls:
        return [record]
    return []


CALLS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Rows]]] = {
    "poll": (lambda calls: calls.poll(0), of_records),
    "poll_columns": (lambda calls: calls.poll_columns(0), of_columns),
    "poll_arrow": (lambda calls: calls.poll_arrow(0), of_arrow),
    "iteration": (next_one, of_records),
}
EACH_CALL = [
    pytest.param(*each, id=name, marks=() if name == "poll" else pytest.mark.exhaustive) for name, each in CALLS.items()
]
"""The calls for tests that interrupt at every moment."""
EVERYTHING = [(number, offset) for number, end in enumerate(ENDS) for offset in range(end)]


@pytest.mark.slow
@pytest.mark.parametrize(("call", "rows"), EACH_CALL)
def test_no_record_is_lost_to_an_interrupt(call: Callable[[Any], Any], rows: Callable[[Any], Rows]) -> None:
    call(BufferedCalls().calls)  # the first one does more, such as to import
    harness, undisturbed = BufferedCalls(), Interrupt(NEVER, FOLDER)
    with undisturbed:
        call(harness.calls)
    looks = undisturbed.looks
    # The last ones are those at which the positions move; of the others there are hundreds.
    for n in [*range(0, looks - LAST, 10), *range(looks - LAST, looks)]:
        harness, interrupt = BufferedCalls(), Interrupt(n, FOLDER)
        with pytest.raises(KeyboardInterrupt), interrupt:
            call(harness.calls)
        harness.refetch()
        got: Rows = []
        while more := rows(call(harness.calls)):
            got += more
        assert sorted(got) == EVERYTHING, f"interrupted in {interrupt.where}"
        assert harness.positions() == ENDS


@pytest.mark.slow
def test_no_partition_that_is_passed_over_is_lost_to_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one is whose answer is being decoded ahead, while another has records."""
    read, rows = CALLS["poll"]
    awaited: list[PartitionState] = []
    monkeypatch.setattr(ResponseOpener, "is_awaited", lambda self, state: state in awaited)

    def awaiting() -> BufferedCalls:
        harness = BufferedCalls(ends=(1, 1))
        awaited[:] = [harness.state(0)]
        return harness

    harness, undisturbed = awaiting(), Interrupt(NEVER, FOLDER)
    with undisturbed:
        read(harness.calls)
    for n in range(undisturbed.looks):
        harness, interrupt = awaiting(), Interrupt(n, FOLDER)
        with pytest.raises(KeyboardInterrupt), interrupt:
            read(harness.calls)
        harness.refetch()
        awaited.clear()
        got: Rows = []
        while more := rows(read(harness.calls)):
            got += more
        assert sorted(got) == [(0, 0), (1, 0)], f"interrupted in {interrupt.where}"


@pytest.mark.parametrize("target", [0, 1, 30, 60])
@pytest.mark.parametrize("call", ["poll", "iteration"])
def test_an_interrupted_seek_has_been_made_or_not(call: str, target: int) -> None:
    end = 40
    read, rows = CALLS[call]

    def begun() -> BufferedCalls:
        """A consumer that has read one record of many."""
        harness = BufferedCalls(ends=(end, 0), max_poll_records=20 if call == "iteration" else 1)
        assert rows(read(harness.calls)) == [(0, 0)]
        return harness

    harness, undisturbed = begun(), Interrupt(NEVER, FOLDER)
    with undisturbed:
        harness.seek(target)
    for n in range(undisturbed.looks):
        harness, interrupt = begun(), Interrupt(n, FOLDER)
        with pytest.raises(KeyboardInterrupt), interrupt:
            harness.seek(target)
        harness.refetch()
        position = harness.positions()[0]
        assert position in (1, target)
        got: Rows = []
        while more := rows(read(harness.calls)):
            got += more
        assert got == [(0, offset) for offset in range(position, end)], f"interrupted in {interrupt.where}"


def test_partitions_that_wait_for_room_are_fetched_again_after_an_interrupted_seek() -> None:
    def full() -> BufferedCalls:
        harness = BufferedCalls(ends=(40, 0), max_partition_fetch_bytes=1, fetch_max_bytes=1)
        assert harness.is_full(1)
        return harness

    harness, undisturbed = full(), Interrupt(NEVER, FOLDER)
    with undisturbed:
        harness.seek(0)
    for n in range(undisturbed.looks):
        harness, interrupt = full(), Interrupt(n, FOLDER)
        with pytest.raises(KeyboardInterrupt), interrupt:
            harness.seek(0)
        if harness.is_full(1):
            continue  # the seek was not made
        harness.calls.poll(0)
        assert harness.is_told_of(1), f"interrupted in {interrupt.where}"


@pytest.mark.parametrize("nested", [False, True])
def test_an_interrupt_leaves_no_thread_inside(nested: bool) -> None:
    caller = PollGuard()

    def work() -> None:
        with caller, caller if nested else contextlib.nullcontext():
            pass

    def enter() -> None:
        with caller:
            entered.append(True)

    for interrupt in interrupts(work, thread_runner.__file__, __file__):
        with pytest.raises(KeyboardInterrupt), interrupt:
            work()
        entered: list[bool] = []
        other = threading.Thread(target=enter)
        other.start()
        other.join()
        assert entered, f"interrupted in {interrupt.where}"


@pytest.mark.slow
@pytest.mark.parametrize("act", ["poll", "pause", "seek"])
@pytest.mark.parametrize(("call", "rows"), EACH_CALL)
def test_a_signal_handler_may_run_at_any_point(
    call: Callable[[Any], Any], rows: Callable[[Any], Rows], act: str
) -> None:
    """What it polls is not handed out twice, or it is told off; what it pauses or seeks is read on, or anew."""
    call(BufferedCalls().calls)
    undisturbed = Interrupt(NEVER, FOLDER)
    with undisturbed:
        call(BufferedCalls().calls)
    for n in range(0, undisturbed.looks, 7):
        harness, extra = BufferedCalls(), Rows()

        def handle(harness: BufferedCalls = harness, extra: Rows = extra) -> None:
            if act == "pause":
                harness.pause()
            elif act == "seek":
                harness.seek(0)
                harness.refetch()
            else:
                with contextlib.suppress(IllegalStateError):
                    extra += of_records(harness.calls.poll(0))

        signal = Interrupt(n, FOLDER, handler=handle)
        with signal:
            before = rows(call(harness.calls))
        harness.resume()
        harness.refetch()
        after: Rows = []
        while more := rows(call(harness.calls)):
            after += more
        got = before + extra + after
        if act == "seek":  # to the start of the first partition, which was handed out before or was not
            assert [offset for number, offset in got if not number][-2:] == [0, 1], f"in {signal.where}"
            got = list(dict.fromkeys(got))
        assert sorted(got) == EVERYTHING, f"in {signal.where}"
        assert harness.positions() == ENDS


@pytest.mark.slow
@pytest.mark.parametrize(("call", "rows"), EACH_CALL)
def test_a_handler_that_pauses_loses_nothing_of_a_partition_with_several_answers(
    call: Callable[[Any], Any], rows: Callable[[Any], Rows]
) -> None:
    ends, everything = (6, 1), [*((0, offset) for offset in range(6)), (1, 0)]

    def read_with(signal: Interrupt) -> Rows:
        with signal:
            return rows(call(harness.calls))

    call(BufferedCalls().calls)
    harness = BufferedCalls(ends, each=2)
    read_with(undisturbed := Interrupt(NEVER, FOLDER))
    for n in range(0, undisturbed.looks, 7):
        harness = BufferedCalls(ends, each=2)
        got = read_with(signal := Interrupt(n, FOLDER, handler=harness.pause))
        harness.resume()
        while more := rows(call(harness.calls)):
            got += more
        assert sorted(got) == everything, f"in {signal.where}"


@pytest.mark.slow
@pytest.mark.parametrize(("call", "rows"), EACH_CALL)
def test_a_signal_handler_may_wait_for_the_loop_at_any_point(
    call: Callable[[Any], Any], rows: Callable[[Any], Rows]
) -> None:
    """As one does that closes a client."""

    async def fetch(harness: BufferedCalls) -> None:
        harness.is_full(0)
        harness.fetch_more(2)

    def wait(harness: BufferedCalls) -> None:
        LoopThread.shared().run(fetch(harness), 5)

    call(BufferedCalls().calls)
    harness, undisturbed = BufferedCalls(), Interrupt(NEVER, FOLDER)
    with undisturbed:
        call(harness.calls)
    for n in range(0, undisturbed.looks, 3):
        harness = BufferedCalls()
        signal = Interrupt(n, FOLDER, handler=lambda harness=harness: wait(harness))
        with signal:
            got = rows(call(harness.calls))
        while more := rows(call(harness.calls)):
            got += more
        assert sorted(got) == sorted([*EVERYTHING, (0, 2)]), f"in {signal.where}"


def test_a_deserializer_must_not_poll() -> None:
    harness = BufferedCalls(value_deserializer=lambda value: harness.calls.poll(0))
    with pytest.raises(RecordDeserializationError, match="polled from within its own poll"):
        harness.calls.poll(0)
    assert harness.positions() == (0, 0)


class Window:
    """A `PollGuard` that lets another thread poll as soon as the first is out."""

    def __init__(self, calls: Any, poll: Callable[[Any], Any]) -> None:
        self._caller = PollGuard()
        self._calls = calls
        self._poll = poll
        self.got: list[Any] = []

    def __enter__(self) -> None:
        self._caller.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._caller.__exit__(*error)
        if not self.got and threading.current_thread() is threading.main_thread():
            thread = threading.Thread(target=lambda: self.got.append(self._poll(self._calls)))
            thread.start()
            thread.join()


@pytest.mark.parametrize(("call", "rows"), CALLS.values(), ids=CALLS)
def test_a_thread_that_polls_as_another_returns_gets_other_records(
    call: Callable[[Any], Any], rows: Callable[[Any], Rows]
) -> None:
    harness = BufferedCalls(max_poll_records=1)
    calls = harness.calls
    window = calls._poll_loop.poll_guard = Window(calls, lambda calls: calls.poll(0))
    got: Rows = []
    while more := rows(call(calls)):
        got += more
    assert len(window.got) == 1
    assert sorted(got + of_records(window.got[0])) == EVERYTHING
    assert harness.positions() == ENDS
