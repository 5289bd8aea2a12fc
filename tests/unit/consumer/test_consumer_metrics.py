"""What a consumer measures of itself."""

from __future__ import annotations

import asyncio
import math

import pytest

from kafka.structs import OffsetAndMetadata
from unit.consumer import scripted_membership
from unit.consumer.bench import T0, T1, Bench, play
from unit.consumer.scripted_membership import ADD, REVOKE, A, B


def values(bench: Bench) -> dict[str, float]:
    """All metrics by name."""
    groups = bench.core.metrics.snapshot()
    assert {name for name in groups if groups[name]} == {
        "consumer-fetch-manager-metrics",
        "consumer-coordinator-metrics",
    }
    return {name: value for group in groups.values() for name, value in group.items()}


def test_what_was_read_is_counted() -> None:
    async def scenario(bench: Bench) -> None:
        before = values(bench)
        assert math.isnan(before.pop("records-lag-max"))
        assert set(before.values()) == {0}
        bench.core.assign([T0, T1])
        read: list[int] = []
        while len(read) < 20:
            for offsets in (await bench.poll(1_000)).values():
                read += offsets
        now = values(bench)
        assert now["records-consumed-total"] == 20
        assert now["assigned-partitions"] == 2
        assert now["fetch-responses-total"] >= 2
        assert now["bytes-consumed-total"] > 20
        assert now["buffered-bytes"] == now["records-lag-max"] == 0

    play(scenario)


def test_the_lag_is_that_of_the_partition_farthest_behind() -> None:
    async def scenario(bench: Bench) -> None:
        bench.core.assign([T0, T1])
        await bench.poll(1_000)
        await bench.poll(1_000)
        first, second = (bench.core.subscription.assigned(tp) for tp in (T0, T1))
        bench.core.seek(first, 4)
        bench.core.seek(second, 7)
        assert values(bench)["records-lag-max"] == 6
        bench.core.reset(first, None)  # a partition without a position has none
        assert values(bench)["records-lag-max"] == 3
        second.fetching.highwater = None  # nor has one that was not fetched yet
        assert math.isnan(values(bench)["records-lag-max"])

    play(scenario)


def test_commits_that_succeed_are_counted() -> None:
    async def scenario(bench: Bench) -> None:
        for _ in range(2):
            await bench.core.commits.commit({T0: OffsetAndMetadata(5)}, 1_000)
        await bench.core.commits.commit({}, 1_000)
        assert values(bench)["commits-total"] == 2

    play(scenario, group_id="g", enable_auto_commit=False)


def test_rebalances_are_counted_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(scene: scripted_membership.Scene) -> None:
        for partitions in ([A], [A, B]):
            scene.membership.eagerly(REVOKE)
            await scene.poll()
            scene.membership.eagerly(ADD, partitions)
            await scene.poll()
        await asyncio.sleep(0)
        group = scene.core.metrics.snapshot()["consumer-coordinator-metrics"]
        assert (group["rebalances-total"], group["assigned-partitions"]) == (2, 2)

    scripted_membership.play(monkeypatch, scenario)
