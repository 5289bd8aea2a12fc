"""`ClientCore`: what all clients start, report and close."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fakes.cluster import FakeCluster
from kafka.cluster.client_core import ClientCore
from kafka.cluster.client_health import Observed
from kafka.cluster.telemetry.client_telemetry import TelemetryState
from kafka.cluster.telemetry.collector import Identity
from kafka.config import parse_admin
from kafka.errors import KafkaConnectionError
from kafka.health import HealthState
from kafka.metrics.client_metrics import ClientMetrics
from kafka.net.statistics import NetworkTraffic
from unit.virtual_loop import simulate


def run(scenario: Callable[[ClientCore, FakeCluster], Awaitable[None]]) -> None:
    """Run a scenario with a core and the cluster that it uses."""

    async def main() -> None:
        cluster, loop = FakeCluster(), asyncio.get_running_loop()
        connection, security = (options := parse_admin({"client_id": "c"})).connection, options.security
        metrics = ClientMetrics(connection, loop.time)
        traffic = NetworkTraffic(metrics, "admin", loop)
        submit: list[Any] = []
        identity = Identity("admin-client", "admin")
        core = ClientCore(connection, security, loop, traffic, metrics, identity, submit.append, cluster)
        await scenario(core, cluster)

    simulate(main)


def test_it_starts_and_closes_the_cluster_and_telemetry() -> None:
    async def scenario(core: ClientCore, cluster: FakeCluster) -> None:
        assert core.health.report(Observed(), False).state is HealthState.STARTING
        await core.start()
        assert core.health.report(Observed(), False).state is HealthState.HEALTHY
        await core.close()
        assert cluster.closed
        assert core.telemetry.state is TelemetryState.TERMINATED

    run(scenario)


def test_a_cluster_that_is_down_raises_unless_it_is_searched_in_the_background() -> None:
    async def scenario(core: ClientCore, cluster: FakeCluster) -> None:
        cluster.down = set(cluster.broker_ids)
        with pytest.raises(KafkaConnectionError):
            await core.start()
        await core.start(in_background=True)
        await core.close()

    run(scenario)


def test_the_cluster_is_closed_even_if_the_last_push_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def interrupted(limit_s: float | None = None) -> None:
        raise KeyboardInterrupt

    async def scenario(core: ClientCore, cluster: FakeCluster) -> None:
        monkeypatch.setattr(core.telemetry, "close", interrupted)
        with pytest.raises(KeyboardInterrupt):
            await core.close()
        assert cluster.closed

    run(scenario)


def test_failures_with_its_backoff_are_in_the_health_report() -> None:
    async def scenario(core: ClientCore, cluster: FakeCluster) -> None:
        await core.start()
        assert core.backoff.current_failures is core.current_failures
        core.current_failures.failed("fetching", KafkaConnectionError("gone"), 3)
        report = core.health.report(Observed(), False)
        assert (report.state, [each.what for each in report.failing]) == (HealthState.DEGRADED, ["fetching"])
        await core.close()

    run(scenario)
