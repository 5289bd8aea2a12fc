"""The cluster is polled once for all viewers, and only while there are any."""

import asyncio
import dataclasses
import itertools
from contextlib import aclosing

import pytest

from kafka.errors import KafkaConnectionError, KafkaTimeoutError
from kafka.structs import TopicPartition
from kafka.ui.history import History
from kafka.ui.poller import ClusterPoller
from kafka.ui.snapshot import BrokerState, GroupState, Need, PartitionState, Snapshot, TopicState, rate
from unit.virtual_loop import simulate

pytestmark = pytest.mark.once

TP = TopicPartition("t", 0)


def snapshot(time: float, end: int = 0, lag: int = 0) -> Snapshot:
    """Return a snapshot of a cluster with one topic and one group."""
    topic = TopicState("t", False, (PartitionState(0, 1, (1,), (1,), 0, end, None),))
    group = GroupState("g", "classic", "Stable", {TP: end - lag}, {TP: lag}, {TP: end})
    return Snapshot(time, "c", 1, {1: BrokerState(1, "h:1")}, {"t": topic}, {"g": group})


class CountingCluster:
    """Counts its snapshots; raises `error` if it is set."""

    def __init__(self) -> None:
        self.looks = 0
        self.error: Exception | None = None
        self.needed: list[Need] = []
        self.completed: list[Need] = []

    async def look(self, time: float, need: Need) -> Snapshot:
        """Return a snapshot with ten records more than the previous one."""
        self.looks += 1
        if self.error is not None:
            raise self.error
        self.needed.append(need)
        return snapshot(time, end=10 * self.looks, lag=self.looks)

    async def complete(self, now: Snapshot, need: Need, time: float) -> Snapshot:
        """Add details, as if the topics and groups had been read."""
        self.completed.append(need)
        await asyncio.sleep(0.1)
        if self.error is not None:
            raise self.error
        full = snapshot(time, end=7)
        topics = {name: dataclasses.replace(full.topics[name], as_of=time) for name in need.topics}
        groups = {name: dataclasses.replace(full.groups[name], as_of=time) for name in need.groups}
        return dataclasses.replace(now, topics=now.topics | topics, groups=now.groups | groups)


def poller(cluster: CountingCluster) -> ClusterPoller:
    """Return a poller that polls every five seconds of loop time."""
    return ClusterPoller(cluster.look, cluster.complete, 5.0, 60.0, lambda: asyncio.get_running_loop().time())


def test_viewers_share_snapshots() -> None:
    async def scenario() -> None:
        cluster = CountingCluster()
        shared = poller(cluster)

        async def view() -> None:
            async with aclosing(shared.follow()) as moments:
                seen = 0
                async for is_news in moments:
                    seen += is_news
                    if seen == 4:
                        return

        await asyncio.gather(*(view() for _ in range(20)))
        assert cluster.looks == 4
        await shared.close()

    simulate(scenario)


def test_an_invalid_response_is_reported_and_polling_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        shared = poller(CountingCluster())
        add, failures = History.add, iter([ZeroDivisionError("of a time")])

        def fail_once(history: History, before: Snapshot | None, now: Snapshot) -> None:
            for failure in failures:
                raise failure
            add(history, before, now)

        monkeypatch.setattr(History, "add", fail_once)
        async with aclosing(shared.follow()) as moments:
            assert await anext(moments)
            assert "ZeroDivisionError: of a time" in shared.trouble
            assert await anext(moments)
            assert (shared.trouble, shared.newest is None) == ("", False)
        await shared.close()

    simulate(scenario)


def test_polling_stops_without_viewers() -> None:
    async def scenario() -> None:
        cluster = CountingCluster()
        shared = poller(cluster)
        await asyncio.sleep(60)
        assert cluster.looks == 0
        async with aclosing(shared.follow()) as moments:
            assert await anext(moments)
        await asyncio.sleep(60)
        looks = cluster.looks
        assert not shared.is_looking
        await asyncio.sleep(600)
        assert cluster.looks == looks <= 4
        await shared.close()

    simulate(scenario)


def test_page_reloads_keep_polling_alive() -> None:
    async def scenario() -> None:
        cluster = CountingCluster()
        shared = poller(cluster)
        for _ in range(10):
            assert await shared.snapshot() is not None
            await asyncio.sleep(5)
        assert shared.is_looking
        assert cluster.looks >= 10
        assert [value for _, value in shared.history.rates["t"]][:3] == [2.0, 2.0, 2.0]
        assert [value for _, value in shared.history.lags["g", "t"]][:3] == [1, 2, 3]
        await shared.close()
        assert not shared.is_looking

    simulate(scenario)


def test_a_failure_is_shown_backed_off_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        cluster = CountingCluster()
        cluster.error = KafkaConnectionError("no broker answers")
        shared = poller(cluster)
        async with aclosing(shared.follow()) as moments:
            async with asyncio.timeout(600):
                for _ in range(5):
                    await anext(moments)
            assert "no broker answers" in shared.trouble
            assert shared.newest is None
            await asyncio.sleep(600)
            assert cluster.looks < 20
            cluster.error = None
            await asyncio.sleep(100)
            assert shared.trouble == ""
            assert shared.newest is not None
        await shared.close()

    simulate(scenario)
    assert len(caplog.records) == 1


def test_each_outage_is_logged_once_whatever_its_errors(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        cluster = CountingCluster()
        shared = poller(cluster)
        shared.begin_unreachable("told by the command")
        for error in (KafkaConnectionError("first"), KafkaTimeoutError("second")):
            cluster.error = error
            await shared._observe()
        assert not caplog.records, "the command has told of it"
        cluster.error = None
        await shared._observe()
        for error in (KafkaConnectionError("third"), KafkaTimeoutError("fourth")):
            cluster.error = error
            await shared._observe()

    simulate(scenario)
    assert [record.getMessage() for record in caplog.records] == ["cannot read the state of the cluster: third"]


def test_closing_ends_the_streams() -> None:
    async def scenario() -> None:
        shared = poller(CountingCluster())

        async def view() -> int:
            async with aclosing(shared.follow()) as moments:
                return len([is_news async for is_news in moments])

        viewer = asyncio.create_task(view())
        await asyncio.sleep(12)
        await shared.close()
        assert await viewer >= 1
        assert await shared.snapshot() is not None
        assert not shared.is_looking

    simulate(scenario)


def test_a_quiet_stream_sends_keep_alives() -> None:
    async def scenario() -> None:
        cluster = CountingCluster()

        async def stuck(time: float, need: Need) -> Snapshot:
            await asyncio.sleep(100)
            return await cluster.look(time, need)

        shared = ClusterPoller(stuck, cluster.complete, 5.0, 60.0)
        async with aclosing(shared.follow()) as moments:
            assert [await anext(moments) for _ in range(7)] == [False] * 6 + [True]
        await shared.close()

    simulate(scenario)


def test_a_recreated_topic_has_no_rate() -> None:
    before, after = snapshot(10.0, end=100), snapshot(15.0, end=50)
    assert rate(before, after, "t") is None
    assert rate(before, dataclasses.replace(after, topics={}), "t") is None
    assert rate(None, after, "t") is None
    assert rate(after, snapshot(25.0, end=70), "t") == 2.0


NEED = Need(frozenset(("t", "deleted")), frozenset("g"))


def undetailed(now: Snapshot) -> Snapshot:
    """Return a snapshot that lists topics and groups only."""
    topics = {name: dataclasses.replace(each, is_detailed=False) for name, each in now.topics.items()}
    groups = {name: GroupState(name, each.kind, each.state, is_detailed=False) for name, each in now.groups.items()}
    return dataclasses.replace(now, topics=topics, groups=groups)


def test_details_are_read_once_for_the_pages_that_need_them() -> None:
    async def scenario() -> None:
        cluster = CountingCluster()

        async def look(time: float, need: Need) -> Snapshot:
            return undetailed(await cluster.look(time, need))

        shared = ClusterPoller(look, cluster.complete, 5.0, 60.0, lambda: asyncio.get_running_loop().time())
        assert await shared.detail(NEED) is None
        await shared.snapshot()
        found = await asyncio.gather(*(shared.detail(NEED) for _ in range(5)))
        assert [each is not None and each.topics["t"].end for each in found] == [7] * 5
        assert cluster.completed == [Need(topics=frozenset("t")), Need(groups=frozenset("g"))]
        await asyncio.sleep(5)
        assert cluster.needed[-1] == NEED, "the next poll reads the same details"
        async with aclosing(shared.follow()) as moments:
            for _ in range(5):
                await anext(moments)
        assert cluster.needed[-1] == Need(), "nobody needs them any more"
        await shared.close()

    simulate(scenario)


async def listing(cluster: CountingCluster) -> ClusterPoller:
    """Return a poller with patience for 0.15 s, of a cluster with 450 topics and no details, after its first poll."""
    topics = {f"t{number:03}": TopicState(f"t{number:03}", False, (), is_detailed=False) for number in range(450)}

    async def look(time: float, need: Need) -> Snapshot:
        await asyncio.sleep(2)
        return dataclasses.replace(await cluster.look(time, need), topics=topics, groups={})

    async def complete(now: Snapshot, need: Need, time: float) -> Snapshot:
        cluster.completed.append(need)
        await asyncio.sleep(0.1)
        read = {name: dataclasses.replace(now.topics[name], is_detailed=True, as_of=time) for name in need.topics}
        return dataclasses.replace(now, topics=now.topics | read)

    return ClusterPoller(look, complete, 5.0, 0.15, lambda: asyncio.get_running_loop().time())


def test_the_first_page_does_not_wait_for_a_slow_cluster_and_is_updated() -> None:
    async def scenario() -> None:
        shared, clock = await listing(CountingCluster()), asyncio.get_running_loop().time
        began = clock()
        assert await shared.snapshot() is None
        assert clock() - began == pytest.approx(0.15)
        shown = shared.number
        await asyncio.sleep(3)  # the browser is slower than the cluster
        async with aclosing(shared.follow(shown)) as moments:
            began = clock()
            assert await anext(moments)
            assert clock() == began, "what arrived in between is sent at once"
        await shared.close()

    simulate(scenario)


def test_after_a_pause_the_old_snapshot_is_shown_at_once_and_is_marked() -> None:
    async def scenario() -> None:
        cluster = CountingCluster()
        shared, clock = await listing(cluster), asyncio.get_running_loop().time
        async with aclosing(shared.follow()) as moments:
            assert await anext(moments)
        await asyncio.sleep(3600)
        assert not shared.is_looking
        began, looks = clock(), cluster.looks
        found = await shared.snapshot()
        assert clock() == began
        assert found is not None
        assert (shared.is_resuming, shared.age_s > 3500) == (True, True)
        await asyncio.sleep(2.5)
        assert (cluster.looks, shared.is_resuming, shared.age_s < 3) == (looks + 1, False, True)
        await shared.close()

    simulate(scenario)


def test_the_details_of_all_are_read_in_parts_and_kept_for_a_minute() -> None:
    async def scenario() -> None:
        cluster = CountingCluster()
        shared = await listing(cluster)
        async with aclosing(shared.follow()) as moments:
            assert await anext(moments)
            now = shared.newest
            assert now is not None
            every = Need(topics=frozenset(now.topics))
            found = await shared.collect(every)
            assert found is not None
            assert sum(each.is_detailed for each in found.topics.values()) == 200, "as many as there was patience for"
            shown = shared.number
            assert await anext(moments)
            assert shared.number == shown + 1, "viewers are told once, when all are there"
            found = await shared.collect(every)
            assert found is not None
            assert all(each.is_detailed for each in found.topics.values())
            assert [len(each.topics) for each in cluster.completed] == [200, 200, 50]
            while not await anext(moments):
                pass
            # a snapshot without details keeps them
            found = await shared.collect(every)
            assert found is not None
            assert all(each.is_detailed and found.read_at(each) < found.time for each in found.topics.values())
            row = Need(topics=frozenset(("t000",)))
            found = await shared.detail(row)
            assert found is not None
            assert cluster.completed[3:] == [row], "what a page shows is as new as its snapshot"
            assert found.read_at(found.topics["t000"]) >= found.time
            await asyncio.sleep(60)
            await shared.collect(every)
            assert len(cluster.completed) > 4, "after a minute, they are read again"
        await shared.close()

    simulate(scenario)


def test_a_page_about_something_new_looks_again_but_not_all_the_time() -> None:
    async def scenario() -> None:
        cluster = CountingCluster()
        shared = poller(cluster)
        for _ in range(20):
            assert await shared.found(lambda now: "new" in now.topics) is not None
        assert cluster.looks == 1, "the snapshot is new enough"
        await shared.refreshed()
        assert cluster.looks == 2, "after a change, it is not"
        shared._interval_s = 100.0
        await asyncio.sleep(101)
        await shared.found(lambda now: "new" in now.topics)
        assert cluster.looks == 4
        await shared.close()

    simulate(scenario)


def test_a_change_during_a_poll_is_in_the_next_one() -> None:
    async def scenario() -> None:
        cluster = CountingCluster()
        shared = await listing(cluster)
        shared._patience_s = 60.0
        first = asyncio.create_task(shared.snapshot())
        await asyncio.sleep(1)
        await shared.refreshed()
        assert cluster.looks == 2, "the poll that was running may not have the change"
        assert await first is not None
        await shared.close()

    simulate(scenario)


def test_details_that_cannot_be_read_are_a_trouble_and_no_error() -> None:
    async def scenario() -> None:
        cluster = CountingCluster()
        shared = poller(cluster)
        await shared.snapshot()
        assert shared.newest is not None
        shared.newest, cluster.error = undetailed(shared.newest), KafkaConnectionError("no broker answers")
        found = await shared.detail(NEED)
        assert found is not None
        assert not found.topics["t"].is_detailed
        assert "no broker answers" in shared.trouble
        await shared.close()

    simulate(scenario)


def test_the_history_tells_the_lag_in_time() -> None:
    history = History()
    before = None
    for second in range(5):
        now = snapshot(100.0 + second, end=10 * second, lag=5)
        history.add(before, now)
        before = now
    assert history.seconds_behind(TP, 35) == 1.0
    assert history.seconds_behind(TP, 40) == 0.0
    assert history.seconds_behind(TP, 0) == 4.0
    assert history.seconds_behind(TP, -1) is None
    assert history.seconds_behind(TopicPartition("other", 0), 0) is None
    history.add(before, undetailed(snapshot(105.0)))
    assert history.seconds_behind(TP, 35) == 1.0, "a group that is not on a page keeps its history"
    history.add(before, dataclasses.replace(snapshot(106.0), groups={}))
    assert history.seconds_behind(TP, 35) is None


def test_slow_polls_are_far_apart() -> None:
    async def scenario() -> None:
        cluster = CountingCluster()
        times = []

        async def slow(time: float, need: Need) -> Snapshot:
            times.append(asyncio.get_running_loop().time())
            await asyncio.sleep(2)
            return await cluster.look(time, need)

        shared = ClusterPoller(slow, cluster.complete, 5.0, 60.0)
        async with aclosing(shared.follow()) as moments:
            seen = 0
            while seen < 3:
                seen += await anext(moments)
        assert [later - earlier for earlier, later in itertools.pairwise(times)] == [20.0, 20.0]
        await shared.close()

    simulate(scenario)


def test_a_poll_that_waited_for_a_dead_broker_is_repeated_soon() -> None:
    async def scenario() -> None:
        cluster = CountingCluster()
        times = []

        async def partial(time: float, need: Need) -> Snapshot:
            times.append(asyncio.get_running_loop().time())
            await asyncio.sleep(10)
            return dataclasses.replace(await cluster.look(time, need), is_partial=True)

        shared = ClusterPoller(partial, cluster.complete, 5.0, 60.0)
        async with aclosing(shared.follow()) as moments:
            seen = 0
            while seen < 2:
                seen += await anext(moments)
        assert times == [times[0], times[0] + 15.0]
        await shared.close()

    simulate(scenario)
