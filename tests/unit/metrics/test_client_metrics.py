"""The metrics of one client, and its reporters."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from kafka.config import ConnectionOptions, parse_admin
from kafka.errors import KafkaConfigurationError
from kafka.metrics import DictReporter, KafkaMetric, MetricConfig, MetricName, Metrics
from kafka.metrics.client_metrics import ClientMetrics, Metric

pytestmark = pytest.mark.once

NUMBER = Metric("n", "a number", lambda source, now: source["n"])
TIME = Metric("t", "the time", lambda source, now: now)


class ReporterWithoutConfigure:
    """A reporter without `configure`, as old programs have."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def init(self, metrics: list[KafkaMetric]) -> None:
        self.seen.append(f"init {len(metrics)}")

    def metric_change(self, metric: KafkaMetric) -> None:
        self.seen.append(f"+{metric.metric_name.name}")

    def metric_removal(self, metric: KafkaMetric) -> None:
        self.seen.append(f"-{metric.metric_name.name}")

    def close(self) -> None:
        self.seen.append("close")


class Configured(DictReporter):
    """Keeps what it was configured with."""

    configs: Any = None

    def configure(self, configs: Any) -> None:
        Configured.configs = configs


def options(**given: Any) -> ConnectionOptions:
    return parse_admin({"client_id": "me", **given}).connection


def test_a_snapshot_has_the_present_values() -> None:
    now, source = [5.0], {"n": 1.0}
    metrics = ClientMetrics(options(), lambda: now[0])
    metrics.add("g", (NUMBER, TIME), source)
    metrics.add("h", (NUMBER,), {"n": -1})
    assert metrics.snapshot() == {"g": {"n": 1, "t": 5}, "h": {"n": -1}, "kafka-metrics-count": {"count": 4}}
    now[0], source["n"] = 6.0, 7.0
    assert metrics.snapshot()["g"] == {"n": 7, "t": 6}


def test_tagged_metrics_are_not_in_the_snapshot() -> None:
    metrics = ClientMetrics(options(), lambda: 0.0)
    metrics.add("g", (NUMBER,), {"n": 1})
    metrics.add("g", (NUMBER,), {"n": 2}, {"topic": "t"})
    assert metrics.snapshot() == {"g": {"n": 1}, "kafka-metrics-count": {"count": 3}}
    found = {name: metric.value() for name, metric in metrics.registered().items()}
    assert found[MetricName("n", "g", tags={"client-id": "me", "topic": "t"})] == 2
    assert found[MetricName("n", "g", tags={"client-id": "me"})] == 1
    assert found[MetricName("count", "kafka-metrics-count", tags={"client-id": "me"})] == 3
    metrics.remove("g", (NUMBER,), {"topic": "t"})
    assert len(metrics.registered()) == 2
    assert metrics.snapshot()["kafka-metrics-count"] == {"count": 2}
    metrics.remove("g", (NUMBER,), {"topic": "t"})


def test_later_metrics_are_registered_too() -> None:
    metrics = ClientMetrics(options(metrics_num_samples=3, metrics_sample_window_ms=500), lambda: 9.0)
    assert len(metrics.registered()) == 1
    metrics.add("g", (TIME,), None)
    (found,) = (metric for name, metric in metrics.registered().items() if name.name == "t")
    assert found.value() == found.value(1e12) == 9  # by the clock of the client
    assert (found.config.samples, found.config.time_window_ms) == (3, 500)
    assert found.metric_name.description == "the time"
    assert metrics.window == (3, 0.5)


def test_metrics_removed_during_creation_are_not_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = ClientMetrics(options(), lambda: 0.0)
    metrics.add("g", (NUMBER,), {"n": 1}, {"topic": "t"})
    remover = threading.Thread(target=metrics.remove, args=("g", (NUMBER,), {"topic": "t"}))
    register = ClientMetrics._register

    def removed_meanwhile(self: ClientMetrics, registry: Metrics, group: Any) -> None:
        remover.start()
        remover.join(0.1)  # it waits for the registry, and does not end here
        register(self, registry, group)

    monkeypatch.setattr(ClientMetrics, "_register", removed_meanwhile)
    metrics.registered()
    remover.join()
    assert "n" not in {name.name for name in metrics.registered()}


def test_disabled_metrics_show_nothing() -> None:
    reporter = ReporterWithoutConfigure()
    metrics = ClientMetrics(options(metrics_enabled=False, metric_reporters=[reporter]), lambda: 0.0)
    metrics.add("g", (NUMBER,), {"n": 1})
    metrics.close()
    assert (metrics.snapshot(), metrics.registered(), reporter.seen) == ({}, {}, [])


def test_reporters_are_called_where_user_code_may_run() -> None:
    reporter, calls = ReporterWithoutConfigure(), list[Callable[[], object]]()
    metrics = ClientMetrics(options(metric_reporters=[reporter]), lambda: 0.0)
    metrics.add("g", (NUMBER,), {"n": 1})
    assert reporter.seen == ["init 0", "+count", "+n"]
    metrics.call_reporters_by(calls.append)
    metrics.add("g", (TIME,), None, {"topic": "t"})
    metrics.remove("g", (TIME,), {"topic": "t"})
    metrics.close()
    assert len(reporter.seen) == 3
    for call in calls:
        call()
    assert reporter.seen[3:] == ["+t", "-t", "close"]


def test_reporter_classes_are_created_and_configured() -> None:
    metrics = ClientMetrics(
        options(metric_reporters=[Configured, ReporterWithoutConfigure]), lambda: 0.0, {"retries": 5}
    )
    assert metrics.has_reporters
    assert Configured.configs == {"retries": 5}


@pytest.mark.parametrize("given", [[print], "kafka.metrics.DictReporter", [None], [object]])
def test_invalid_reporters_are_refused(given: Any) -> None:
    with pytest.raises(KafkaConfigurationError, match=r"metric_reporters.*metric_change\(\)"):
        options(metric_reporters=given)


@pytest.mark.parametrize("name", ["metrics_num_samples", "metrics_sample_window_ms"])
def test_windows_are_at_least_one(name: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=name):
        options(**{name: 0})


def test_a_user_registry_is_not_closed() -> None:
    registry = Metrics(MetricConfig(samples=4, time_window_ms=2000), reporters=[DictReporter()])
    metrics = ClientMetrics(options(), lambda: 0.0, registry=registry)
    metrics.add("g", (NUMBER,), {"n": 3})
    assert metrics.window == (4, 2)
    assert registry.metrics[MetricName("n", "g", tags={})].value() == 3
    metrics.close()
    assert len(registry.metrics) == 2


@pytest.mark.slow
def test_metric_classes_are_loaded_only_when_metrics_are_read() -> None:
    code = (
        "import sys, kafka\n"
        "from kafka import KafkaConsumer, KafkaProducer, KafkaAdminClient\n"
        "found = [name for name in sys.modules if name.startswith('kafka.metrics.')]\n"
        "light = {'kafka.metrics.' + name for name in ('windows', 'client_metrics', 'group_names')}\n"
        "assert set(found) <= light, found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
