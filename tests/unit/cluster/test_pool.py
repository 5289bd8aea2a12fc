"""The connections of a pool: which is used, kept, closed, and when a broker is tried again, in virtual time."""

import asyncio
import gc
import logging

import pytest

from kafka.cluster import pool as pool_module
from kafka.cluster.pool import BOOTSTRAP_NODE, ConnectionPool
from kafka.config import parse_admin
from kafka.errors import IllegalStateError, KafkaConnectionError, StaleMetadata
from unit.virtual_loop import simulate


class FakeConnection:
    """As much of a connection as a pool looks at."""

    def __init__(self, host="a", port=1):
        self.host, self.port = host, port
        self.closed = self.has_served = self.ended_here = False
        self.in_flight, self.api_versions, self.node_id = 0, object(), None
        self.closings, self.aborted_for = 0, None
        self._listeners = []

    def on_close(self, listener):
        self._listeners.append(listener)

    def lose(self):
        self.closed = True
        for listener in self._listeners:
            listener(self, KafkaConnectionError("lost"))

    async def close(self):
        self.closings += 1
        await asyncio.sleep(0.5)
        self.closed = True

    def abort(self, error):
        self.closed, self.aborted_for = True, error


class Brokers:
    """Where brokers are, and what becomes of attempts to connect to them; an attempt takes a tenth of a second."""

    def __init__(self):
        self.addresses = {1: ("a", 1), 2: ("b", 2)}
        self.dialled, self.errors = [], []

    async def open(self, host, port, *rest):
        self.dialled.append((host, port))
        await asyncio.sleep(0.1)
        if self.errors:
            raise self.errors.pop(0)
        return FakeConnection(host, port)


def play(monkeypatch, scenario, **configs):
    brokers = Brokers()
    monkeypatch.setattr(pool_module, "open_connection", brokers.open)
    parsed = parse_admin({"reconnect_backoff_ms": 60_000, "reconnect_backoff_max_ms": 60_000, **configs})

    async def main():
        pool = ConnectionPool(parsed.connection, parsed.security, brokers.addresses.get)
        await scenario(pool, brokers)
        await pool.close()

    simulate(main)


async def refused(pool, brokers, node_id=1, channel=""):
    brokers.errors.append(KafkaConnectionError("refused"))
    with pytest.raises(KafkaConnectionError, match="refused"):
        await pool.get(node_id, channel)


def test_the_connection_to_a_broker_that_moved_is_closed(monkeypatch):
    async def scenario(pool, brokers):
        before = await pool.get(1)
        brokers.addresses[1] = ("c", 1)
        assert pool.ready(1) is None
        after = await pool.get(1)
        await asyncio.sleep(1)
        assert (before.closings, after.closings) == (1, 0)
        assert (after.host, after.port) == ("c", 1)

    play(monkeypatch, scenario)


def test_a_removed_broker_keeps_its_connection_but_gets_no_new_one(monkeypatch):
    async def scenario(pool, brokers):
        connection = await pool.get(1)
        brokers.addresses.clear()
        assert pool.ready(1) is connection
        with pytest.raises(StaleMetadata, match="no broker with id 2"):
            await pool.get(2)

    play(monkeypatch, scenario)


def test_the_last_error_at_an_address_is_kept_during_backoff(monkeypatch):
    async def scenario(pool, brokers):
        await pool.get(2)
        assert pool.last_error_at(("a", 1)) is None
        await refused(pool, brokers)
        assert "refused" in str(pool.last_error_at(("a", 1)))
        assert pool.last_error_at(("b", 2)) is None
        await asyncio.sleep(80)
        assert pool.last_error_at(("a", 1)) is None

    play(monkeypatch, scenario)


def test_a_broker_is_tried_again_after_its_backoff_or_rebootstrapping(monkeypatch):
    async def scenario(pool, brokers):
        assert pool.blocked_for(1) == 0
        await refused(pool, brokers)
        assert 47 < pool.blocked_for(1) < 73
        with pytest.raises(KafkaConnectionError, match=r"broker 1 is tried again in \d\d\.\d s"):
            await pool.get(1)
        pool.try_all_again()
        assert pool.blocked_for(1) == 0
        await refused(pool, brokers)
        await asyncio.sleep(80)
        assert pool.blocked_for(1) == 0
        assert await pool.get(1) is pool.ready(1)
        assert len(brokers.dialled) == 3

    play(monkeypatch, scenario)


def test_rebootstrapping_resets_the_pauses(monkeypatch):
    async def scenario(pool, brokers):
        for _ in range(4):
            await refused(pool, brokers)
            pool.try_all_again()
        await refused(pool, brokers)
        assert 0.8 <= pool.blocked_for(1) <= 1.2

    play(monkeypatch, scenario, reconnect_backoff_ms=1_000)


def test_callers_of_a_channel_share_one_attempt(monkeypatch):
    async def scenario(pool, brokers):
        one, other = await asyncio.gather(pool.get(1), pool.get(1))
        assert one is other
        assert brokers.dialled == [("a", 1)]
        assert pool._brokers[1].opening == {}

    play(monkeypatch, scenario)


def test_a_second_channel_waits_for_the_first_only_while_nothing_is_connected(monkeypatch):
    async def scenario(pool, brokers):
        waiting = [asyncio.ensure_future(pool.get(1, channel)) for channel in ("", "fetch")]
        await asyncio.sleep(0.05)
        assert len(brokers.dialled) == 1
        await asyncio.gather(*waiting)
        waiting = [asyncio.ensure_future(pool.get(1, channel)) for channel in ("x", "y")]
        await asyncio.sleep(0.05)
        assert len(brokers.dialled) == 4
        await asyncio.gather(*waiting)

    play(monkeypatch, scenario)


def test_a_bootstrap_connection_becomes_that_of_its_broker(monkeypatch):
    async def scenario(pool, brokers):
        connection = FakeConnection()
        pool.adopt(1, connection)
        assert await pool.get(1) is connection
        assert (connection.node_id, pool.load(1)) == (1, 0)
        assert pool.api_versions(1) is connection.api_versions
        assert brokers.dialled == []

    play(monkeypatch, scenario)


@pytest.mark.parametrize("still_opening", [False, True])
def test_a_bootstrap_connection_to_a_broker_that_has_one_is_kept_for_no_broker(monkeypatch, still_opening):
    async def scenario(pool, brokers):
        opening = asyncio.ensure_future(pool.get(1))
        await asyncio.sleep(0.05 if still_opening else 0.2)
        extra = FakeConnection()
        pool.adopt(1, extra)
        assert pool.ready(BOOTSTRAP_NODE) is extra
        assert extra.node_id == BOOTSTRAP_NODE
        assert await opening is pool.ready(1)
        assert pool.ready(1) is not extra

    play(monkeypatch, scenario)


def test_only_the_last_connection_without_a_broker_is_kept(monkeypatch):
    async def scenario(pool, brokers):
        first, second, third = (FakeConnection() for _ in range(3))
        pool.adopt(BOOTSTRAP_NODE, first)
        pool.adopt(BOOTSTRAP_NODE, second)
        second.closed = True
        pool.adopt(BOOTSTRAP_NODE, third)
        await asyncio.sleep(1)
        assert [each.closings for each in (first, second, third)] == [1, 0, 0]
        assert pool.ready(BOOTSTRAP_NODE) is third

    play(monkeypatch, scenario)


def test_a_connection_that_never_worked_blocks_its_broker_when_it_is_lost(monkeypatch):
    async def scenario(pool, brokers):
        (await pool.get(1)).lose()
        assert pool.ready(1) is None
        assert pool.blocked_for(1) > 47

    play(monkeypatch, scenario)


@pytest.mark.parametrize("state", ["has_served", "ended_here"])
def test_losing_a_working_or_closed_connection_causes_no_backoff(monkeypatch, state):
    async def scenario(pool, brokers):
        connection = await pool.get(1)
        setattr(connection, state, True)
        connection.lose()
        assert pool.blocked_for(1) == 0
        assert await pool.get(1) is not connection

    play(monkeypatch, scenario)


def test_losing_a_working_connection_allows_all_channels_to_retry(monkeypatch):
    async def scenario(pool, brokers):
        connection = await pool.get(1)
        await refused(pool, brokers, channel="fetch")
        assert pool.blocked_for(1) > 47
        connection.has_served = True
        connection.lose()
        assert pool.blocked_for(1) == 0

    play(monkeypatch, scenario)


def test_losing_a_replaced_connection_does_not_affect_its_broker(monkeypatch):
    async def scenario(pool, brokers):
        old = await pool.get(1)
        brokers.addresses[1] = ("c", 1)
        new = await pool.get(1)
        old.lose()
        assert pool.ready(1) is new
        assert pool.blocked_for(1) == 0

    play(monkeypatch, scenario)


def test_a_channel_is_tried_immediately_if_another_one_works(monkeypatch):
    async def scenario(pool, brokers):
        (await pool.get(1)).has_served = True
        await refused(pool, brokers, channel="fetch")
        assert not (await pool.get(1, "fetch")).closed

    play(monkeypatch, scenario)


def test_a_channel_waits_if_no_other_one_works(monkeypatch):
    async def scenario(pool, brokers):
        await pool.get(1)
        await refused(pool, brokers, channel="fetch")
        with pytest.raises(KafkaConnectionError, match="tried again in"):
            await pool.get(1, "fetch")

    play(monkeypatch, scenario)


def test_success_is_logged_only_after_a_failure(monkeypatch, caplog):
    async def scenario(pool, brokers):
        await pool.get(2)
        assert "works again" not in caplog.text
        await refused(pool, brokers)
        await asyncio.sleep(80)
        await pool.get(1)
        assert "connecting to broker 1 works again" in caplog.text

    with caplog.at_level(logging.INFO, "kafka"):
        play(monkeypatch, scenario)


def test_closing_ends_attempts_and_connections_and_waits_for_those_that_are_being_closed(monkeypatch):
    async def scenario(pool, brokers):
        moved, kept = await pool.get(1), await pool.get(2)
        brokers.addresses[1] = ("c", 1)
        opening = asyncio.ensure_future(pool.get(1))
        await asyncio.sleep(0.05)
        await pool.close()
        assert moved.closed
        assert kept.closed
        with pytest.raises(IllegalStateError, match="closed"):
            await opening
        with pytest.raises(IllegalStateError, match="closed"):
            await pool.get(2)
        assert pool.ready(2) is None
        assert asyncio.all_tasks() == {asyncio.current_task()}

    play(monkeypatch, scenario)


def test_closing_waits_for_connections_that_are_being_closed_already(monkeypatch):
    async def scenario(pool, brokers):
        moved = await pool.get(1)
        brokers.addresses[1] = ("c", 1)
        assert pool.ready(1) is None
        await asyncio.sleep(0.1)
        await pool.close()
        assert moved.closed
        assert not pool._closing

    play(monkeypatch, scenario)


def test_a_closed_pool_remembers_no_failure(monkeypatch):
    async def scenario(pool, brokers):
        await refused(pool, brokers)
        await pool.close()
        assert (pool.blocked_for(1), pool.last_error_at(("a", 1))) == (0, None)

    play(monkeypatch, scenario)


def test_a_connection_opened_after_close_is_closed(monkeypatch):
    async def scenario(pool, brokers):
        made = FakeConnection()

        async def obstinate(*_):
            try:
                await asyncio.sleep(1)
            except asyncio.CancelledError:
                return made

        monkeypatch.setattr(pool_module, "open_connection", obstinate)
        opening = asyncio.ensure_future(pool.get(1))
        await asyncio.sleep(0.05)
        await pool.close()
        with pytest.raises(IllegalStateError, match="closed"):
            await opening
        assert "closed" in str(made.aborted_for)

    play(monkeypatch, scenario)


def test_a_failure_after_all_callers_gave_up_is_retrieved(monkeypatch):
    async def scenario(pool, brokers):
        unseen = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: unseen.append(context["message"]))
        brokers.errors.append(KafkaConnectionError("refused"))
        waiting = asyncio.ensure_future(pool.get(1))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        del waiting
        await asyncio.sleep(1)
        gc.collect()
        assert unseen == []
        assert len(brokers.dialled) == 1

    play(monkeypatch, scenario)
