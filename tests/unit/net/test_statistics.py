"""Statistics of connections, and of the clients' loop."""

from __future__ import annotations

import math
import selectors

import pytest

from kafka.config import parse_admin
from kafka.metrics.client_metrics import ClientMetrics
from kafka.net import loop_thread
from kafka.net.loop_thread import LOOP_METRICS, TimedSelector
from kafka.net.statistics import NetworkTraffic


def test_traffic_is_counted_per_broker() -> None:
    metrics = ClientMetrics(parse_admin({}).connection, lambda: 5.0)
    network = NetworkTraffic(metrics, "admin")
    assert set(metrics.snapshot()["admin-metrics"].values()) == {0, -math.inf}
    first, second = network.node("1"), network.node("bootstrap-0")
    assert network.node("1") is first
    first.sent(100, 5.0)
    first.answered(300, 0.25, 5.0)
    first.answered(100, 0.05, 5.0)
    first.throttled(0.5, 5.0)
    second.sent(200, 5.0)
    shown = metrics.snapshot()
    assert shown["admin-node-metrics.node-1"] == pytest.approx(
        {
            "outgoing-byte-rate": 100 / 30,
            "request-rate": 1 / 30,
            "request-size-avg": 100,
            "request-size-max": 100,
            "incoming-byte-rate": 400 / 30,
            "response-rate": 2 / 30,
            "request-latency-avg": 150,
            "request-latency-max": 250,
            "throttle-time-avg": 250,
            "throttle-time-max": 500,
        }
    )
    assert shown["admin-node-metrics.node-bootstrap-0"]["throttle-time-max"] == -math.inf
    whole = shown["admin-metrics"]
    assert (whole["request-size-avg"], whole["request-size-max"]) == (150, 200)
    assert whole["network-io-rate"] == pytest.approx(4 / 30)
    second.answered(1, 0, 5.0)
    assert metrics.snapshot()["admin-node-metrics.node-bootstrap-0"]["throttle-time-max"] == 0


def test_connections_are_counted() -> None:
    metrics = ClientMetrics(parse_admin({}).connection, lambda: 5.0)
    network = NetworkTraffic(metrics, "admin")
    network.connection_opened(5.0)
    network.connection_opened(5.0)
    network.connection_closed(5.0)
    shown = metrics.snapshot()["admin-metrics"]
    assert shown["connection-count"] == 1
    assert shown["connection-creation-rate"] == pytest.approx(2 / 30)
    assert shown["connection-close-rate"] == pytest.approx(1 / 30)


def test_the_loop_measures_how_it_spends_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(loop_thread, "_now", lambda: now[0])

    def wait(self: object, timeout: float | None = None) -> list[object]:
        now[0] += 0.25
        return []

    monkeypatch.setattr(selectors.DefaultSelector, "select", wait)
    selector = TimedSelector()
    for _ in range(2):
        now[0] += 0.5
        assert selector.select(1) == []
    shown = {metric.name: metric.read((selector.times,), now[0]) for metric in LOOP_METRICS}
    selector.close()
    assert shown == pytest.approx(
        {
            "select-rate": 2 / 31,
            "io-wait-time-ns-avg": 0.25e9,
            "io-wait-ratio": 0.5 / 31,
            "io-time-ns-avg": 0.5e9,
            "io-ratio": 1 / 31,
        }
    )
