"""What a consumer measures of itself."""

from __future__ import annotations

import asyncio
import math

import pytest

from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState, current_lag
from kafka.metrics import MetricName
from kafka.structs import OffsetAndMetadata
from unit.consumer import scripted_membership
from unit.consumer.consumer_harness import T0, T1, ConsumerHarness, play
from unit.consumer.scripted_membership import ADD, REVOKE, A, B

FETCHING, GROUP = "consumer-fetch-manager-metrics", "consumer-coordinator-metrics"


def fetching(harness: ConsumerHarness) -> dict[str, float]:
    """Metrics of fetching, by name."""
    return harness.core.metrics.snapshot()[FETCHING]


def raw(harness: ConsumerHarness, name: str, **tags: str) -> float:
    """A metric of fetching of a topic or a partition."""
    client_id = harness.core.config.connection.client_id
    metrics = harness.core.metrics.registered()
    return metrics[MetricName(name, FETCHING, tags={"client-id": client_id or "", **tags})].value()


async def read_all(harness: ConsumerHarness) -> None:
    read = 0
    while read < 20:
        for offsets in (await harness.poll(1_000)).values():
            read += len(offsets)


def test_nothing_was_read_yet() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        groups = harness.core.metrics.snapshot()
        assert groups.keys() == {"consumer-metrics", FETCHING, GROUP, "kafka-metrics-count"}
        extremes = {"fetch-size-max", "fetch-latency-max", "fetch-throttle-time-max", "records-lag-max"}
        assert all(math.isinf(fetching(harness).pop(name)) for name in extremes)
        assert {value for name, value in fetching(harness).items() if name not in extremes} == {0}
        assert groups[GROUP]["last-heartbeat-seconds-ago"] == math.inf
        assert groups["kafka-metrics-count"] == {"count": len(harness.core.metrics.registered())}

    play(scenario)


def test_returned_records_are_counted() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0, T1])
        await read_all(harness)
        now = fetching(harness)
        assert now["records-consumed-total"] == 20
        assert now["fetch-responses-total"] >= 2
        assert now["bytes-consumed-total"] > 20
        assert now["buffered-bytes"] == 0
        assert now["records-consumed-rate"] == pytest.approx(20 / 30, rel=0.2)
        assert now["bytes-consumed-rate"] == pytest.approx(now["bytes-consumed-total"] / 30, rel=0.2)
        assert 0 < now["fetch-size-avg"] <= now["fetch-size-max"] <= now["bytes-consumed-total"]
        assert 0 < now["records-per-request-avg"] <= 20
        assert 0 < now["fetch-rate"] <= now["fetch-responses-total"] / 30
        assert 0 <= now["fetch-latency-avg"] <= now["fetch-latency-max"] < 1_000
        assert now["records-lag-max"] == 0
        assert harness.core.metrics.snapshot()[GROUP]["assigned-partitions"] == 2

    play(scenario)


def test_topics_and_partitions_are_shown_by_themselves() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0, T1])
        await read_all(harness)
        whole = fetching(harness)
        topic = T0.topic.replace(".", "_")
        for name in ("records-consumed-rate", "bytes-consumed-rate", "fetch-size-max"):
            assert raw(harness, name, topic=topic) == pytest.approx(whole[name])
        for tp in (T0, T1):
            assert raw(harness, "records-lag", topic=topic, partition=str(tp.partition)) == 0
            assert raw(harness, "records-lag-max", topic=topic, partition=str(tp.partition)) >= 0
            assert raw(harness, "records-lag-avg", topic=topic, partition=str(tp.partition)) >= 0
        harness.core.seek(harness.core.subscription.assigned(T0), 4)
        assert raw(harness, "records-lag", topic=topic, partition=str(T0.partition)) == 6
        harness.core.assign([T1])
        with pytest.raises(KeyError):
            raw(harness, "records-lag", topic=topic, partition=str(T0.partition))
        assert raw(harness, "records-lag", topic=topic, partition=str(T1.partition)) == 0
        harness.core.assign([T0, T1])
        await harness.poll(1_000)
        assert (
            raw(harness, "records-lag", topic=topic, partition=str(T0.partition)) == 0
        )  # listed before, and here again

    play(scenario)


def test_a_partition_given_up_before_anybody_looked_is_not_shown() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0, T1])
        await read_all(harness)
        harness.core.assign([T1])
        topic = T0.topic.replace(".", "_")
        assert raw(harness, "records-lag", topic=topic, partition=str(T1.partition)) == 0
        with pytest.raises(KeyError):
            raw(harness, "records-lag", topic=topic, partition=str(T0.partition))

    play(scenario)


def test_the_lag_is_the_maximum_when_records_were_read() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        await harness.poll(1_000, 4)
        assert fetching(harness)["records-lag-max"] == 6
        assert await harness.poll(1_000) == {0: [4, 5, 6, 7, 8, 9]}
        assert fetching(harness)["records-lag-max"] == 6  # as long as the window counts
        await asyncio.sleep(61)
        assert fetching(harness)["records-lag-max"] == -math.inf

    play(scenario)


def test_records_that_are_put_back_do_not_count() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        harness.core.assign([T0])
        await harness.poll(1_000, 1)
        taken = harness.core.buffer.take(3)
        taken.roll_back()
        rate = fetching(harness)["records-consumed-rate"]
        assert rate == pytest.approx(1 / 30, rel=0.2)

    play(scenario)


def test_commits_that_succeed_are_counted() -> None:
    async def scenario(harness: ConsumerHarness) -> None:
        for _ in range(2):
            await harness.core.commits.commit({T0: OffsetAndMetadata(5)}, 1_000)
        await harness.core.commits.commit({}, 1_000)
        group = harness.core.metrics.snapshot()[GROUP]
        assert group["commits-total"] == 2
        assert group["commit-rate"] == pytest.approx(2 / 30, rel=0.2)
        assert 0 <= group["commit-latency-avg"] <= group["commit-latency-max"] < 1_000

    play(scenario, group_id="g", enable_auto_commit=False)


def test_rebalances_are_counted_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(setup: scripted_membership.ScriptedConsumer) -> None:
        for partitions in ([A], [A, B]):
            setup.membership.eagerly(REVOKE)
            await setup.poll()
            setup.membership.eagerly(ADD, partitions)
            await setup.poll()
        await asyncio.sleep(0)
        group = setup.core.metrics.snapshot()[GROUP]
        assert (group["rebalances-total"], group["assigned-partitions"]) == (2, 2)

    scripted_membership.play(monkeypatch, scenario)


def test_the_lag_is_not_known_before_there_is_an_end_and_a_position() -> None:
    state = PartitionState(T0)
    assert current_lag(state, False) is None
    state.fetching.highwater = 10
    assert current_lag(state, False) is None
    state.locate(0, FetchPosition(4))
    assert current_lag(state, False) == 6
    state.fetching.last_stable_offset = -1  # of a broker before 0.11
    assert current_lag(state, True) == 6
    state.fetching.highwater = None
    assert current_lag(state, False) is None
