"""A metrics reporter that fails is logged; clients and other reporters work on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, KafkaShareConsumer
from kafka.broker import EmbeddedBroker
from kafka.metrics import Metrics
from kafka.metrics.kafka_metric import AnonMeasurable
from kafka.metrics.metrics_reporter import AbstractMetricsReporter

pytestmark = pytest.mark.once


class FailingReporter(AbstractMetricsReporter):
    """Fails whenever it is told something."""

    def __init__(self, error: type[BaseException] = RuntimeError) -> None:
        self.error = error

    def init(self, metrics: Any) -> None: ...

    def configure(self, configs: Any) -> None: ...

    def metric_change(self, metric: Any) -> None:
        raise self.error("statsd is away")

    def metric_removal(self, metric: Any) -> None:
        raise self.error("statsd is away")

    def close(self) -> None:
        raise self.error("statsd is away")


class CountingReporter(FailingReporter):
    """Counts what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def metric_change(self, metric: Any) -> None:
        self.told.append("change")

    def metric_removal(self, metric: Any) -> None:
        self.told.append("removal")

    def close(self) -> None:
        self.told.append("close")


class UnconfigurableReporter(CountingReporter):
    """Cannot be set up."""

    def configure(self, configs: Any) -> None:
        raise LookupError("no statsd_host")


@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
def test_a_failing_reporter_is_logged_once_and_others_are_called(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    counting = CountingReporter()
    metrics = Metrics(reporters=[FailingReporter(error), counting])
    name = metrics.metric_name("n", "g")
    metrics.add_metric(name, AnonMeasurable(lambda config, now: 1.0))
    assert metrics.remove_metric(name) is not None
    metrics.close()
    assert counting.told == ["change", "change", "removal", "close"]
    [logged] = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert logged.getMessage() == "metrics reporter FailingReporter failed; its further errors are logged as DEBUG"
    assert logged.exc_info is not None


def test_an_interrupt_in_a_reporter_is_raised() -> None:
    with pytest.raises(KeyboardInterrupt):
        Metrics(reporters=[FailingReporter(KeyboardInterrupt)])


@pytest.mark.parametrize(
    "make",
    [
        KafkaProducer,
        KafkaConsumer,
        KafkaAdminClient,
        lambda **given: KafkaShareConsumer("t", group_id="g", **given),
    ],
    ids=["producer", "consumer", "admin", "share consumer"],
)
def test_a_client_works_with_a_failing_reporter(make: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    counting = CountingReporter()
    with EmbeddedBroker() as broker:
        client = make(bootstrap_servers=broker.bootstrap_servers, metric_reporters=[FailingReporter, counting])
        client.close()
        with pytest.raises(LookupError, match="no statsd_host"):
            make(bootstrap_servers=broker.bootstrap_servers, metric_reporters=[UnconfigurableReporter])
    assert counting.told[0] == "change"
    assert counting.told[-1] == "close"
    assert caplog.text.count("metrics reporter FailingReporter failed") == 1
