"""The order in which partitions are handed out."""

from __future__ import annotations

import threading

from kafka.consumer.buffer.fetch_buffer import ReadyQueue
from kafka.consumer.buffer.partition_response import DecodedFetch, PartitionResponse
from kafka.consumer.buffer.partition_state import PartitionState
from kafka.structs import TopicPartition


def queue_of(*states: PartitionState) -> ReadyQueue:
    ready = ReadyQueue(threading.RLock())
    for state in states:
        ready.add(state)
    return ready


def state(number: int, items: int = 1) -> PartitionState:
    made = PartitionState(TopicPartition("t", number))
    made.buffer.items.extend(PartitionResponse(made.tp, 0, 0) for _ in range(items))
    return made


def test_partitions_take_turns() -> None:
    one, two = state(1), state(2)
    ready = queue_of(one, two, one)
    assert list(ready) == [one, two]
    assert ready.next() is one
    assert ready.at is one
    ready.give_back(one)
    assert [ready.next(), ready.next(), ready.next()] == [two, one, None]
    assert ready.at is None


def test_a_partition_held_by_the_caller_is_not_requeued() -> None:
    one = state(1)
    ready = queue_of(one)
    assert ready.next() is one
    ready.add(one)
    assert list(ready) == []
    ready.give_back(one)
    assert list(ready) == [one]


def test_neither_empty_nor_paused_partitions_are_put_in() -> None:
    empty, paused = state(1, items=0), state(2)
    paused.paused = True
    ready = queue_of(empty, paused)
    assert ready.next() is None
    assert not empty.buffer.queued
    ready.put_first(paused)
    assert ready.next() is None
    paused.paused = False
    ready.put_first(paused)
    assert ready.next() is paused


def test_partitions_that_were_paused_or_emptied_in_the_queue_are_passed() -> None:
    paused, emptied, last = state(1), state(2), state(3)
    ready = queue_of(paused, emptied, last)
    paused.paused = True
    emptied.buffer.items.clear()
    assert ready.next() is last
    assert not paused.buffer.queued
    assert not emptied.buffer.queued
    paused.paused = False
    ready.add(paused)
    assert ready.next() is paused


def test_started_partitions_come_before_the_next_in_turn() -> None:
    one, two = state(1), state(2)
    ready = queue_of(one, two)
    assert ready.next() is one
    one.buffer.current = DecodedFetch((), 5, -1, 0)  # type: ignore[arg-type]
    ready.give_back(one)
    assert list(ready) == [one, two]


def test_a_partition_put_first_is_queued_once() -> None:
    one, two = state(1), state(2)
    ready = queue_of(one, two)
    ready.put_first(two)
    ready.put_first(two)
    assert list(ready) == [two, one]


def test_served_partitions_queue_last_and_once() -> None:
    one, two, three = state(1), state(2), state(3)
    ready = queue_of(one, two, three)
    ready.served += [served for served in (ready.next(),) if served is not None]
    ready.add(one)
    assert list(ready) == [two, three], "it is in the caller's hands"
    ready.give_back_aside()
    ready.served.append(one)  # as where an interrupt came before it was taken out
    ready.give_back_aside()
    assert (list(ready), ready.served) == ([two, three, one], [])


def test_those_passed_over_come_back() -> None:
    one, two = state(1), state(2)
    ready = queue_of(one, two)
    ready.passed_over += [passed for passed in (ready.next(), ready.next()) if passed is not None]
    ready.give_back_aside()
    assert ready.passed_over == []
    assert list(ready) == [one, two]


class Compared(PartitionState):
    """Counts how often partitions are compared."""

    count = 0
    __hash__ = PartitionState.__hash__

    def __eq__(self, other: object) -> bool:
        Compared.count += 1
        return self is other


def test_partitions_that_were_served_are_not_looked_for_among_all_that_wait() -> None:
    states = [Compared(TopicPartition("t", number)) for number in range(200)]
    for each in states:
        each.buffer.items.append(PartitionResponse(each.tp, 0, 0))
    ready = queue_of(*states)
    for _ in range(100):
        served = ready.next()
        assert served is not None
        ready.served.append(served)
    Compared.count = 0
    ready.give_back_aside()
    assert Compared.count < 200
    assert [each.tp.partition for each in ready] == [*range(100, 200), *range(100)]
