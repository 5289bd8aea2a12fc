"""Queueing and sending requests, and the timers of connections."""

import asyncio
import math

import pytest

from kafka.net.pending_requests import CheckTimer, InFlight, InFlightTable, Reply, SendQueue
from kafka.wire.api.heartbeat import HeartbeatRequest
from unit.virtual_loop import simulate


def in_virtual_time(scenario):
    def test():
        simulate(scenario)

    test.__name__, test.__doc__ = scenario.__name__, scenario.__doc__
    return test


class SendQueueHarness:
    """A send queue with a limit of two requests in flight, and a record of the sent ones."""

    def __init__(self, limit=2):
        self.sent, self.in_flight = [], 0
        self.send_queue = SendQueue(asyncio.get_running_loop(), self._transmit, lambda: self.in_flight, limit)
        self.replies = {}

    def _transmit(self, outgoing):
        self.sent.append(outgoing.number)
        self.in_flight += 1

    def put(self, *numbers):
        for number in numbers:
            self.replies[number] = Reply(lambda *_: None)
            self.send_queue.put(InFlight(HeartbeatRequest, 4, self.replies[number], 30.0, number=number))

    def answered(self):
        self.in_flight -= 1
        self.send_queue.flush()


@in_virtual_time
async def test_at_most_the_limit_is_in_flight_and_the_order_is_kept():
    wire = SendQueueHarness()
    wire.put(1, 2, 3, 4)
    assert (wire.sent, len(wire.send_queue)) == ([1, 2], 2)
    wire.answered()
    assert (wire.sent, len(wire.send_queue)) == ([1, 2, 3], 1)
    wire.in_flight = 0
    wire.put(5)
    assert wire.sent == [1, 2, 3]  # queued after 4
    wire.send_queue.flush()
    assert wire.sent == [1, 2, 3, 4, 5]


@in_virtual_time
async def test_abandoned_requests_are_not_sent():
    wire = SendQueueHarness(limit=1)
    wire.put(1, 2, 3)
    wire.replies[2].cancel()
    wire.answered()
    assert wire.sent == [1, 3]


@in_virtual_time
async def test_held_requests_are_sent_after_unhold():
    wire = SendQueueHarness()
    wire.send_queue.hold()
    wire.put(1)
    wire.send_queue.flush()
    assert wire.sent == []
    wire.send_queue.unhold()
    assert wire.sent == [1]


@in_virtual_time
async def test_a_throttle_queues_requests_until_its_latest_end():
    wire = SendQueueHarness()
    wire.send_queue.throttle(2)
    wire.send_queue.throttle(5)
    wire.send_queue.throttle(1)
    wire.put(1)
    await asyncio.sleep(4.9)
    assert wire.sent == []
    await asyncio.sleep(0.2)
    assert wire.sent == [1]
    wire.put(2)
    assert wire.sent == [1, 2]


@in_virtual_time
async def test_closing_returns_the_waiters_and_sends_nothing_later():
    wire = SendQueueHarness()
    wire.send_queue.throttle(2)
    wire.put(1, 2)
    assert wire.send_queue.close() == [wire.replies[1], wire.replies[2]]
    assert len(wire.send_queue) == 0
    await asyncio.sleep(3)
    assert wire.sent == []


class RecordedChecks:
    def __init__(self):
        self._loop = asyncio.get_running_loop()
        self.started, self.times = self._loop.time(), []
        self.timer = CheckTimer(self._loop, lambda: self.times.append(self._loop.time() - self.started))

    def at(self, *seconds):
        for each in seconds:
            self.timer.at(self.started + each)


@in_virtual_time
async def test_the_check_runs_at_the_earliest_time_and_forgets_the_others():
    checks = RecordedChecks()
    checks.at(5, 3, 4, 3)
    await asyncio.sleep(10)
    assert checks.times == [3]
    checks.at(12, 14)
    await asyncio.sleep(10)
    assert checks.times == [3, 12]


@in_virtual_time
async def test_a_cancelled_check_does_not_run_and_another_can_be_requested():
    checks = RecordedChecks()
    checks.timer.cancel()
    checks.at(5)
    checks.timer.cancel()
    checks.at(7)
    await asyncio.sleep(10)
    assert checks.times == [7]


def entry(deadline=math.inf, timeout_s=30.0):
    made = InFlight(HeartbeatRequest, 4, Reply(lambda *_: None), timeout_s)
    made.deadline = deadline
    return made


def test_requests_in_flight_are_found_by_their_ids_and_by_their_deadlines():
    table, first, second = InFlightTable(), entry(10.0), entry(5.0, 20.0)
    assert table.earliest_deadline() is None
    numbers = [1, 2]
    table.update(zip(numbers, (first, second), strict=True))
    assert (len(table), table.earliest_deadline()) == (2, 5.0)
    assert table.expired(4.9) is None
    assert table.expired(5.0) is second
    assert table.expired(10.0) is first
    table.extend(0.0)
    assert (first.deadline, second.deadline) == (30.0, 20.0)
    table.extend(-100.0)
    assert (first.deadline, second.deadline) == (30.0, 20.0)
    assert table.pop(numbers[0]) is first
    table.remove(second)
    assert len(table) == 0
    table[numbers[0]] = first
    assert table.drain() == [first]
    assert len(table) == 0


@pytest.mark.parametrize("ends_with", ["set_result", "set_exception", "cancel"])
def test_a_reply_is_given_once(ends_with):
    taken = []
    reply = Reply(lambda *what: taken.append(what))
    assert not reply.done()
    error = ValueError()
    getattr(reply, ends_with)(*{"set_result": ("response",), "set_exception": (error,)}.get(ends_with, ()))
    assert reply.done()
    reply.set_result("again")
    reply.set_exception(error)
    assert taken == {"set_result": [("response", None)], "set_exception": [(None, error)]}.get(ends_with, [])
