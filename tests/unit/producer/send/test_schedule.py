"""When the sender looks at which queue again."""

from __future__ import annotations

import asyncio
import math

from kafka.producer.batch.queues import PartitionQueue
from kafka.producer.send.schedule import Schedule
from kafka.structs import TopicPartition
from unit.virtual_loop import simulate


def queue(partition: int) -> PartitionQueue:
    return PartitionQueue(TopicPartition("t", partition))


def test_queues_are_taken_once_when_due() -> None:
    async def scenario() -> None:
        schedule = Schedule(asyncio.get_running_loop(), lambda: None)
        first, second = queue(0), queue(1)
        schedule.add(5.0, second)
        schedule.add(3.0, first)
        schedule.add(9.0, first)  # too late: it is looked at before
        schedule.add(3.0, first)
        assert first.due_at == 3.0
        assert schedule.take(2.9) == []
        assert schedule.take(3.0) == [first]
        assert first.due_at == math.inf
        schedule.add(4.0, first)
        assert schedule.take(10.0) == [first, second]
        assert schedule.take(10.0) == []

    simulate(scenario)


def test_a_rescheduled_queue_is_checked_at_both_times() -> None:
    async def scenario() -> None:
        schedule = Schedule(asyncio.get_running_loop(), lambda: None)
        only = queue(0)
        schedule.add(5.0, only)
        schedule.add(3.0, only)
        assert schedule.take(4.0) == [only]
        schedule.add(7.0, only)
        assert schedule.take(6.0) == [only]
        assert only.due_at == 7.0
        assert schedule.take(8.0) == [only]

    simulate(scenario)


def test_a_check_of_all_queues_is_scheduled_once() -> None:
    async def scenario() -> None:
        schedule = Schedule(asyncio.get_running_loop(), lambda: None)
        for when in (5.0, 5.0, 6.0, 4.0):
            schedule.add(when, None)
        assert len(schedule._heap) == 2
        assert schedule.take(4.0) == []
        schedule.add(5.5, None)
        assert schedule.take(9.0) == []
        assert not schedule._heap

    simulate(scenario)


def test_one_timer_fires_at_the_earliest_time() -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        rung: list[float] = []

        def ring() -> None:
            rung.append(loop.time())
            schedule.take(loop.time())
            schedule.set_timer()

        schedule = Schedule(loop, ring)
        schedule.set_timer()
        began = loop.time()
        for seconds in (4, 2, 3):
            schedule.add(began + seconds, queue(seconds))
            schedule.set_timer()
        await asyncio.sleep(10)
        assert [round(each - began) for each in rung] == [2, 3, 4]
        schedule.add(loop.time() + 1, None)
        schedule.set_timer()
        schedule.stop()
        schedule.set_timer()
        await asyncio.sleep(2)
        assert len(rung) == 3

    simulate(scenario)


def test_a_check_of_all_queues_does_not_hide_later_ones() -> None:
    async def scenario() -> None:
        schedule = Schedule(asyncio.get_running_loop(), lambda: None)
        only = queue(0)
        schedule.add(1.0, None)
        schedule.add(2.0, only)
        assert schedule.take(3.0) == [only]

    simulate(scenario)


def test_a_check_of_all_queues_can_be_scheduled_again() -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        rung: list[float] = []

        def ring() -> None:
            rung.append(loop.time())
            schedule.take(loop.time())
            if len(rung) < 3:
                schedule.add(loop.time() + 1, None)
                schedule.set_timer()

        schedule = Schedule(loop, ring)
        schedule.add(loop.time() + 1, None)
        schedule.set_timer()
        await asyncio.sleep(10)
        assert len(rung) == 3

    simulate(scenario)
