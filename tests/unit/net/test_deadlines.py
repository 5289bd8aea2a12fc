"""Closing connections because of timeouts, in virtual time."""

import asyncio

import pytest

from kafka.errors import KafkaConnectionError, KafkaTimeoutError
from kafka.net.pending_requests import Deadlines, InFlight, InFlightTable
from kafka.wire.api.heartbeat import HeartbeatRequest
from unit.virtual_loop import simulate


class RecordingConnection:
    """Records when it was aborted, and why."""

    described_as = "broker 1 at a:9092"
    ended_here = False

    def __init__(self):
        self._started = asyncio.get_running_loop().time()
        self.aborted = []

    def abort(self, error):
        self.aborted.append((asyncio.get_running_loop().time() - self._started, error))


class DeadlinesHarness:
    """Deadlines with a fake connection; ``waiting`` replaces the send queue."""

    def __init__(self, max_idle_ms):
        self.loop = asyncio.get_running_loop()
        self.connection, self.table, self.waiting = RecordingConnection(), InFlightTable(), []
        self.deadlines = Deadlines(self.loop, self.connection, self.table, self.waiting, max_idle_ms)

    def request(self, timeout_s):
        """Send a request now."""
        entry = InFlight(HeartbeatRequest, 0, self.loop.create_future(), timeout_s)
        self.deadlines.last_used = self.loop.time()
        entry.deadline = self.loop.time() + timeout_s
        self.table[len(self.table) + 1] = entry
        self.deadlines.timer.at(entry.deadline)
        return entry


def play(scenario, max_idle_ms):
    async def main():
        await scenario(DeadlinesHarness(max_idle_ms))

    simulate(main)


@pytest.mark.parametrize("max_idle_ms", [0, 500, 8_000])
def test_an_idle_connection_is_closed_after_its_limit(max_idle_ms):
    async def scenario(watched):
        watched.deadlines.watch_use()
        await asyncio.sleep(60)
        ((at, error),) = watched.connection.aborted
        assert at == max_idle_ms / 1000
        assert isinstance(error, KafkaConnectionError)
        assert "unused connection to broker 1" in str(error)
        assert watched.connection.ended_here

    play(scenario, max_idle_ms)


def test_an_idle_connection_stays_open_without_a_limit():
    async def scenario(watched):
        watched.deadlines.watch_use()
        entry = watched.request(10)
        await asyncio.sleep(5)
        watched.table.remove(entry)
        await asyncio.sleep(36_000)
        assert watched.connection.aborted == []

    play(scenario, -1)


def test_idle_time_counts_from_the_last_request():
    async def scenario(watched):
        watched.deadlines.watch_use()
        await asyncio.sleep(6)
        watched.table.remove(watched.request(100))
        await asyncio.sleep(60)
        assert [at for at, _ in watched.connection.aborted] == [14]

    play(scenario, 8_000)


def test_a_connection_with_queued_or_unanswered_requests_is_not_idle():
    async def scenario(watched):
        watched.deadlines.watch_use()
        watched.waiting.append("kept back")
        await asyncio.sleep(20)
        watched.waiting.clear()
        entry = watched.request(100)
        await asyncio.sleep(20)
        assert watched.connection.aborted == []
        watched.table.remove(entry)
        await asyncio.sleep(100)
        assert len(watched.connection.aborted) == 1

    play(scenario, 8_000)


def test_a_late_answer_closes_the_connection_with_its_own_error():
    async def scenario(watched):
        watched.deadlines.watch_use()
        late, other = watched.request(2.5), watched.request(60)
        await asyncio.sleep(60)
        ((at, error),) = watched.connection.aborted
        assert at == 2.5
        assert not watched.connection.ended_here
        assert "was closed, because Heartbeat" in str(error)
        with pytest.raises(
            KafkaTimeoutError, match=r"Heartbeat\w* version 0 got no answer from broker 1 .* in 2\.5 s;"
        ):
            await late.future
        assert list(watched.table.values()) == [other]

    play(scenario, 540_000)


def test_an_abandoned_late_answer_closes_the_connection_too():
    async def scenario(watched):
        watched.request(2.5).future.cancel()
        await asyncio.sleep(3)
        assert [at for at, _ in watched.connection.aborted] == [2.5]

    play(scenario, 540_000)


def test_the_next_deadline_is_checked_after_one_that_was_met():
    async def scenario(watched):
        met = watched.request(1)
        await asyncio.sleep(0.5)
        watched.request(3)
        watched.table.remove(met)
        await asyncio.sleep(60)
        assert [at for at, _ in watched.connection.aborted] == [3.5]

    play(scenario, 540_000)
