"""kafka-python's classes of metrics: windows of samples, quotas, sensors with parents, reporters."""

from __future__ import annotations

import gc
import math
import sys
import time
import weakref

import pytest

import kafka.metrics
from kafka.errors import QuotaViolationError
from kafka.metrics import (
    AnonMeasurable,
    DictReporter,
    KafkaMetric,
    MetricConfig,
    MetricName,
    Metrics,
    NamedMeasurable,
    Quota,
)
from kafka.metrics.metrics_reporter import AbstractMetricsReporter
from kafka.metrics.stats import Avg, Count, Histogram, Max, Min, Percentile, Percentiles, Rate, Total
from kafka.metrics.stats.percentiles import BucketSizing
from kafka.metrics.stats.rate import SampledTotal, TimeUnit

pytestmark = pytest.mark.once


class Clock:
    """The wall clock, which goes when a test says so."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    @property
    def ms(self) -> float:
        return self.now * 1000

    def pass_s(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "time", lambda: clock.now)
    return clock


def value(metrics: Metrics, name: str, group: str = "g") -> float:
    return metrics.metrics[metrics.metric_name(name, group)].value()


# Names and configs


def test_a_name_is_its_name_group_and_tags() -> None:
    name = MetricName("n", "g", "text", {"a": "1"})
    assert name == MetricName("n", "g", "another text", {"a": "1"})
    assert hash(name) == hash(MetricName("n", "g", None, {"a": "1"}))
    assert name not in (MetricName("m", "g", "text", {"a": "1"}), MetricName("n", "g", "text"), "n")
    tags = name.tags
    assert tags is not None
    tags["a"] = "2"
    assert name.tags == {"a": "1"}
    assert str(name) == "MetricName(name=n, group=g, description=text, tags={'a': '1'})"


@pytest.mark.parametrize("arguments", [("", "g"), ("n", ""), ("n", "g", None, "tags")])
def test_an_invalid_name_is_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"name and a group|dict"):
        MetricName(*arguments)  # type: ignore[arg-type]


def test_tags_of_the_registry_apply_to_each_name() -> None:
    metrics = Metrics(MetricConfig(tags={"a": "1", "b": "1"}))
    assert metrics.metric_name("n", "g", tags={"b": "2", "c": "2"}).tags == {"a": "1", "b": "2", "c": "2"}


def test_a_config_counts_at_least_one_sample() -> None:
    config = MetricConfig()
    assert (config.samples, config.time_window_ms, config.event_window) == (2, 30_000, sys.maxsize)
    assert (config.quota, config.tags) == (None, {})
    with pytest.raises(ValueError, match="at least one"):
        config.samples = 0


def test_a_metric_needs_a_name_and_something_to_measure() -> None:
    with pytest.raises(ValueError, match="needs a name"):
        KafkaMetric(None, Total(), MetricConfig())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="something to measure"):
        KafkaMetric(MetricName("n", "g"), None, MetricConfig())  # type: ignore[arg-type]


# Quantities


def test_simple_quantities(clock: Clock) -> None:
    metrics = Metrics()
    sensor = metrics.sensor("s")
    for name, stat in {
        "avg": Avg(),
        "max": Max(),
        "min": Min(),
        "rate": Rate(),
        "often": Rate(sampled_stat=Count()),
        "count": Count(),
        "total": Total(5),
    }.items():
        sensor.add(metrics.metric_name(name, "g"), stat)
    assert [value(metrics, each) for each in ("avg", "max", "min", "rate", "total")] == [
        0.0,
        -math.inf,
        float(sys.maxsize),
        0.0,
        5.0,
    ]
    for each in range(10):
        sensor.record(each)
    clock.pass_s(2)
    assert value(metrics, "avg") == 4.5
    assert (value(metrics, "min"), value(metrics, "max"), value(metrics, "count")) == (0, 9, 10)
    assert value(metrics, "total") == 50
    assert value(metrics, "rate") == pytest.approx(45 / 32)  # the first of two windows of 30 s, and 2 s
    assert value(metrics, "often") == pytest.approx(10 / 32)


def test_only_the_last_samples_count(clock: Clock) -> None:
    config = MetricConfig(samples=2, time_window_ms=1000)
    most = Max()
    for seen in (5, 3, 2):
        most.record(config, seen, clock.ms)
        clock.pass_s(1)
    assert most.measure(config, clock.ms) == 2
    clock.pass_s(1)
    assert most.measure(config, clock.ms) == -math.inf


def test_a_sample_is_full_by_the_number_of_values(clock: Clock) -> None:
    config, count = MetricConfig(event_window=1, samples=2), Count()
    for _ in range(3):
        count.record(config, 1, clock.ms)
    assert count.measure(config, clock.ms) == 2


def test_the_window_of_a_rate_is_never_shorter_than_all_but_one(clock: Clock) -> None:
    config, rate = MetricConfig(samples=3, time_window_ms=1000), Rate()
    rate.record(config, 60, clock.ms)
    assert rate.window_size(config, clock.ms) == 2000
    clock.pass_s(2.5)
    rate.record(config, 40, clock.ms)
    assert rate.window_size(config, clock.ms) == 2500
    assert rate.measure(config, clock.ms) == pytest.approx(40)
    clock.pass_s(0.5)
    assert rate.measure(config, clock.ms) == pytest.approx(40 / 2.5)  # the first sample is too old


@pytest.mark.parametrize(
    ("unit", "name", "of_a_second"),
    [
        (TimeUnit.NANOSECONDS, "nanosecond", 1e9),
        (TimeUnit.MICROSECONDS, "microsecond", 1e6),
        (TimeUnit.MILLISECONDS, "millisecond", 1e3),
        (TimeUnit.SECONDS, "second", 1),
        (TimeUnit.MINUTES, "minute", 1 / 60),
        (TimeUnit.HOURS, "hour", 1 / 3600),
        (TimeUnit.DAYS, "day", 1 / 86_400),
    ],
)
def test_units_of_time(unit: int, name: str, of_a_second: float) -> None:
    assert Rate(unit).convert(1000) == pytest.approx(of_a_second)
    assert Rate(unit).unit_name() == name


def test_invalid_units_and_start_values_are_refused() -> None:
    with pytest.raises(ValueError, match="is not a unit of time"):
        Rate(7).convert(1)
    with pytest.raises(ValueError, match="accepts no initial value"):
        SampledTotal(1)  # type: ignore[arg-type]


@pytest.mark.parametrize("bucketing", [BucketSizing.CONSTANT, BucketSizing.LINEAR])
def test_percentiles(clock: Clock, bucketing: int) -> None:
    config, metrics = MetricConfig(samples=2, time_window_ms=1000), Metrics()
    names = {part: metrics.metric_name(f"p{part}", "g") for part in (25, 50, 75)}
    stat = Percentiles(4 * 100, bucketing, 100.0, 0.0, [Percentile(names[part], part) for part in names])
    metrics.sensor("s", config).add_compound(stat)
    assert math.isnan(value(metrics, "p50"))
    for each in range(100):
        metrics.sensor("s").record(each)
    for part in names:
        assert value(metrics, f"p{part}") == pytest.approx(part, abs=2.5)
    clock.pass_s(1)
    for _ in range(200):
        metrics.sensor("s").record(0)
    assert value(metrics, "p50") < 2.5
    clock.pass_s(2)
    assert math.isnan(value(metrics, "p50"))


def test_bins() -> None:
    constant = Histogram.ConstantBinScheme(12, 0, 10)
    assert [constant.to_bin(x) for x in (-1, 0, 9.5, 11)] == [0, 1, 10, 11]
    assert [constant.from_bin(b) for b in (0, 1, 10, 11)] == [-math.inf, 0, 9, math.inf]
    linear = Histogram.LinearBinScheme(4, 6)
    assert [linear.to_bin(x) for x in (0, 1, 3, 7)] == [0, 1, 2, 3]
    assert [linear.from_bin(b) for b in range(4)] == [0, 1, 3, math.inf]
    with pytest.raises(ValueError, match="must not be negative"):
        linear.to_bin(-1)
    with pytest.raises(ValueError, match="at least 2"):
        Histogram.ConstantBinScheme(1, 0, 1)
    with pytest.raises(ValueError, match="must start at 0"):
        Percentiles(100, BucketSizing.LINEAR, 5, 1)
    with pytest.raises(ValueError, match="is not a BucketSizing"):
        Percentiles(100, 2, 5)


def test_a_histogram() -> None:
    histogram = Histogram(Histogram.ConstantBinScheme(4, 0, 2))
    assert math.isnan(histogram.value(0.5))
    for each in (0, 0, 1, 5):
        histogram.record(each)
    assert histogram.counts == [0, 2, 1, 1]
    assert [histogram.value(part) for part in (0.4, 0.7, 0.9)] == [0, 1, math.inf]
    assert str(histogram) == "{-inf:0,0.0000000000:2,1.0000000000:1,inf:1.0}"
    histogram.clear()
    assert histogram.counts == [0, 0, 0, 0]


# Sensors


def test_a_parent_is_given_each_value(clock: Clock) -> None:
    metrics = Metrics()
    parent, other = metrics.sensor("parent"), metrics.sensor("other")
    child = metrics.sensor("child", parents=[parent, other])
    for sensor in (parent, other, child):
        sensor.add(metrics.metric_name(sensor.name, "g"), Total())
    child.record(2)
    parent.record(3)
    assert [value(metrics, name) for name in ("parent", "other", "child")] == [5, 2, 2]
    assert [metric.metric_name.name for metric in child.metrics] == ["child"]


def test_a_sensor_is_given_no_value_twice() -> None:
    metrics = Metrics()
    top = metrics.sensor("top")
    left, right = metrics.sensor("left", parents=[top]), metrics.sensor("right", parents=[top])
    with pytest.raises(ValueError, match="'top' would be given values twice"):
        metrics.sensor("bottom", parents=[left, right])
    with pytest.raises(ValueError, match="needs a name"):
        metrics.sensor("")
    assert metrics.sensor("top") is top
    assert metrics.get_sensor("nobody") is None


def test_a_quota_raises(clock: Clock) -> None:
    metrics = Metrics()
    sensor = metrics.sensor("s")
    sensor.add(metrics.metric_name("a", "g"), Total(), MetricConfig(quota=Quota.upper_bound(5.0)))
    sensor.add(metrics.metric_name("b", "g"), Total(), MetricConfig(quota=Quota.lower_bound(0.0)))
    sensor.record(5)
    with pytest.raises(QuotaViolationError, match="is 6, above its quota of 5"):
        sensor.record(1)
    assert value(metrics, "a") == 6
    sensor.record(-4)
    with pytest.raises(QuotaViolationError, match="is -1, below its quota of 0"):
        sensor.record(-3)


def test_quotas() -> None:
    assert Quota.upper_bound(5) == Quota(5, True) != Quota.lower_bound(5)
    assert len({Quota(5, True), Quota.upper_bound(5), Quota(5, False)}) == 2
    assert [Quota.upper_bound(5).is_acceptable(x) for x in (4, 5, 6)] == [True, True, False]
    assert [Quota.lower_bound(5).is_acceptable(x) for x in (4, 5, 6)] == [False, True, True]


def test_removing_a_sensor_removes_its_metrics_and_children() -> None:
    metrics = Metrics()
    parent = metrics.sensor("parent")
    child = metrics.sensor("child", parents=[parent])
    grandchild = metrics.sensor("grandchild", parents=[child])
    for sensor in (parent, child, grandchild):
        sensor.add(metrics.metric_name(sensor.name, "g"), Count())
    metrics.remove_sensor("child")
    assert [metrics.get_sensor(name) for name in ("parent", "child", "grandchild")] == [parent, None, None]
    assert {name.name for name in metrics.metrics} == {"count", "parent"}
    metrics.remove_sensor("child")


def test_sensors_expire(clock: Clock) -> None:
    metrics = Metrics()
    brief, long = metrics.sensor("brief", None, 1), metrics.sensor("long", None, 10)
    metrics.sensor("kept").add(metrics.metric_name("kept", "g"), Count())
    brief.add(metrics.metric_name("brief", "g"), Count())
    clock.pass_s(0.9)
    brief.record()
    clock.pass_s(0.9)
    metrics.ExpireSensorTask.run(metrics)
    assert metrics.get_sensor("brief") is brief
    clock.pass_s(0.2)
    assert brief.has_expired()
    metrics.ExpireSensorTask.run(metrics)
    assert metrics.get_sensor("brief") is None
    assert metrics.get_sensor("long") is long
    assert {name.name for name in metrics.metrics} == {"count", "kept"}


@pytest.mark.slow
def test_the_thread_that_removes_sensors_holds_no_registry() -> None:
    metrics = Metrics(enable_expiration=True)
    watched = weakref.ref(metrics)
    metrics.close()
    del metrics
    gc.collect()
    assert watched() is None


# The registry


def test_the_registry_counts_its_metrics() -> None:
    metrics = Metrics()
    assert value(metrics, "count", "kafka-metrics-count") == 1
    metrics.add_metric(metrics.metric_name("n", "g"), AnonMeasurable(lambda config, now: 7))
    assert value(metrics, "count", "kafka-metrics-count") == 2
    assert value(metrics, "n") == 7


def test_a_name_is_given_once() -> None:
    metrics = Metrics()
    name = metrics.metric_name("n", "g")
    metrics.add_metric(name, Total())
    with pytest.raises(ValueError, match="name=n, group=g"):
        metrics.add_metric(name, Total())
    removed = metrics.remove_metric(name)
    assert removed is not None
    assert removed.metric_name == name
    assert metrics.remove_metric(name) is None


class RecordingReporter(AbstractMetricsReporter):
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, object]] = []

    def init(self, metrics: object) -> None:
        self.told.append(("init", [each.metric_name.name for each in metrics]))  # type: ignore[attr-defined]

    def metric_change(self, metric: KafkaMetric) -> None:
        self.told.append(("change", metric.metric_name.name))

    def metric_removal(self, metric: KafkaMetric) -> None:
        self.told.append(("removal", metric.metric_name.name))

    def configure(self, configs: object) -> None:
        self.told.append(("configure", configs))

    def close(self) -> None:
        self.told.append(("close", None))


def test_reporters_are_notified() -> None:
    first, second = RecordingReporter(), RecordingReporter()
    metrics = Metrics(reporters=[first])
    metrics.add_metric(metrics.metric_name("n", "g"), Total())
    metrics.add_reporter(second)
    metrics.remove_metric(metrics.metric_name("n", "g"))
    metrics.close()
    assert first.told == [("init", []), ("change", "count"), ("change", "n"), ("removal", "n"), ("close", None)]
    assert second.told == [("init", ["count", "n"]), ("removal", "n"), ("close", None)]
    assert metrics.metrics == {}


def test_a_dict_of_metrics() -> None:
    plain, prefixed = DictReporter(), DictReporter("foo")
    metrics = Metrics(reporters=[plain, prefixed])
    metrics.remove_metric(metrics.metric_name("count", "kafka-metrics-count"))
    metrics.add_metric(metrics.metric_name("n", "g", tags={"b": "2", "a": "1"}), Total(3))
    metrics.add_metric(metrics.metric_name("n", "g"), Total(4))
    assert plain.snapshot() == {"g.a=1,b=2": {"n": 3}, "g": {"n": 4}}
    assert prefixed.snapshot() == {"foo.g.a=1,b=2": {"n": 3}, "foo.g": {"n": 4}}
    metrics.remove_metric(metrics.metric_name("n", "g"))
    assert plain.snapshot() == {"g.a=1,b=2": {"n": 3}}


# The package


def test_names_are_loaded_when_they_are_used() -> None:
    assert isinstance(kafka.metrics.stats.Avg(), Avg)
    assert isinstance(
        NamedMeasurable(MetricName("n", "g"), Total()).stat, kafka.metrics.kafka_metric.AbstractMeasurable
    )
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = kafka.metrics.Nothing
