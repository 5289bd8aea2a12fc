"""The metrics of one client: its parts register them, and they are read on request.

`snapshot` reads the parts directly. The registry with kafka-python's classes is created on request, or if there are
reporters.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka.config import ConnectionOptions
from kafka.metrics import windows
from kafka.metrics.windows import WindowOptions

if TYPE_CHECKING:
    from kafka.metrics.kafka_metric import KafkaMetric, MetricConfig, MetricName
    from kafka.metrics.metrics import Metrics
    from kafka.metrics.metrics_reporter import AbstractMetricsReporter

Submit = Callable[[Callable[[], object]], object]
"""Runs a function where user code may run, after the functions submitted before it."""

_COUNT_GROUP, _COUNT = "kafka-metrics-count", "count"


class Metric(NamedTuple):
    """One metric of a part of a client.

    Arguments:
        name: the name in kafka-python or Java.
        description: a description for users.
        read: returns the value, given the part and the client's time in seconds; may be called in any thread.
    """

    name: str
    description: str
    read: Callable[[Any, float], float]


class Point(NamedTuple):
    """The value of one metric.

    Arguments:
        group, name: the metric's group and name; the group does not contain the subject.
        tags: the subject: ``node``, ``topic``, ``partition``.
    """

    group: str
    name: str
    tags: dict[str, str]
    value: float


def parted(group: str) -> tuple[str, dict[str, str]]:
    """Split a group into its name and its subject. The subject is a tag: ``node``, such as "node-1", or ``topic``."""
    name, _, about = group.partition(".")
    if not about:
        return name, {}
    return name, {"node" if name.endswith("-node-metrics") else "topic": about}


def total_of(field: str) -> Callable[[windows.Counts, float], float]:
    """Return a function that reads a sum; see `windows.total`."""
    return lambda counts, now: windows.total(counts, field, now)


def mean_of(field: str, by: str) -> Callable[[windows.Counts, float], float]:
    """Return a function that reads an average; see `windows.mean`."""
    return lambda counts, now: windows.mean(counts, field, by, now)


def largest_of(field: str) -> Callable[[windows.Counts, float], float]:
    """Return a function that reads a maximum; see `windows.largest`."""
    return lambda counts, now: windows.largest(counts, field, now)


def rate_of(field: str) -> Callable[[windows.Counts, float], float]:
    """Return a function that reads a rate per second; see `windows.rate`."""
    return lambda counts, now: windows.rate(counts, field, now)


def mean_value_of(name: str) -> Callable[[Any, float], float]:
    """Return a function that reads the average of a part's `SampledValues` attribute."""
    return lambda part, now: windows.mean((getattr(part, name),), "total", "count", now)


def largest_value_of(name: str) -> Callable[[Any, float], float]:
    """Return a function that reads the maximum of a part's `SampledValues` attribute."""
    return lambda part, now: windows.largest((getattr(part, name),), "largest", now)


def _any(group: str, name: str) -> bool:
    return True


class _Group(NamedTuple):
    """Metrics that were registered together."""

    name: str
    metrics: Sequence[Metric]
    source: Any
    tags: dict[str, str]


class ClientMetrics:
    """The metrics of one client. Its parts may register metrics in any thread.

    Arguments:
        options: the number of samples to keep, and the reporters to notify.
        clock: returns the client's time in seconds.
        configs: the client's options, for reporters.
        registry: a registry provided by the user, which determines the windows and in which all metrics are registered.

    Raises any errors from the reporters' constructors, `configure` and `init`.
    """

    def __init__(
        self,
        options: ConnectionOptions,
        clock: Callable[[], float],
        configs: Mapping[str, Any] | None = None,
        registry: Metrics | None = None,
    ) -> None:
        self.window = WindowOptions(options.metrics_num_samples, options.metrics_sample_window_ms / 1000)
        self._enabled = options.metrics_enabled
        self._client_id = options.client_id or ""
        self._clock = clock
        self._submit: Submit = _at_once
        self._groups: dict[tuple[Any, ...], _Group] = {}
        self._late: list[Callable[[], object]] = []
        self._lock = threading.RLock()
        self._registry = registry
        self._is_ours = registry is None
        if registry is not None:
            self.window = WindowOptions(registry.config.samples, registry.config.time_window_ms / 1000)
        elif options.metrics_enabled and options.metric_reporters:
            self._registry = self._make_registry(_configured(options.metric_reporters, configs or {}))

    @property
    def has_reporters(self) -> bool:
        """Whether there are reporters."""
        return self._registry is not None and self._registry.has_reporters

    def call_reporters_by(self, submit: Submit) -> None:
        """From now on, call reporters through ``submit``, as parts register in threads where user code must not run."""
        if self.has_reporters:
            self._submit = submit

    def add(self, group: str, metrics: Sequence[Metric], source: Any, tags: Mapping[str, str] | None = None) -> None:
        """Register metrics.

        Arguments:
            group: kafka-python's name for the group.
            source: the object that is passed to the metrics' `read`.
            tags: the subject of the metrics. Metrics with tags are not in `snapshot`, whose names refer to the whole
                client.
        """
        added = _Group(group, metrics, source, dict(tags or {}))
        self._groups[_key(added)] = added
        if self._registry is not None:
            self._submit(partial(self._register, self._registry, added))

    @property
    def is_listed(self) -> bool:
        """Whether metrics must be registered immediately because the registry exists or there are reporters."""
        return self._registry is not None

    def before_listing(self, register: Callable[[], object]) -> None:
        """Call ``register`` before metrics are listed; the call may happen in any thread.

        Unless `is_listed`, a part that has metrics for a very large number of objects can thus wait until metrics are
        read before it calls `add`.
        """
        self._late.append(register)

    def remove(self, group: str, metrics: Sequence[Metric], tags: Mapping[str, str]) -> None:
        """Remove metrics that were registered with `add`."""
        removed = _Group(group, metrics, None, dict(tags))
        if self._groups.pop(_key(removed), None) is not None and self._registry is not None:
            self._submit(partial(self._unregister, self._registry, removed))

    def snapshot(self) -> dict[str, dict[str, float]]:
        """Return the current values by group and name; empty if metrics are disabled."""
        if not self._enabled:
            return {}
        self._add_late()
        now = self._clock()
        groups = list(self._groups.values())
        shown: dict[str, dict[str, float]] = {}
        for group in groups:
            if not group.tags:
                values = shown.setdefault(group.name, {})
                for metric in group.metrics:
                    values[metric.name] = float(metric.read(group.source, now))
        shown[_COUNT_GROUP] = {_COUNT: 1.0 + sum(len(group.metrics) for group in groups)}
        return shown

    def points(self, wanted: Callable[[str, str], bool] = _any) -> list[Point]:
        """Return the current values, those of the whole client first; empty if metrics are disabled. Thread-safe.

        Arguments:
            wanted: given a group and name, returns whether to read the value.
        """
        if not self._enabled:
            return []
        self._add_late()
        now = self._clock()
        found = []
        for group in list(self._groups.values()):
            name, about = parted(group.name)
            tags = {**group.tags, **about}
            metrics = (each for each in group.metrics if wanted(name, each.name))
            found += [Point(name, each.name, tags, float(each.read(group.source, now))) for each in metrics]
        return sorted(found, key=lambda point: bool(point.tags))

    def count(self) -> int:
        """Return the number of values."""
        self._add_late()
        return sum(len(group.metrics) for group in list(self._groups.values()))

    def registered(self) -> dict[MetricName, KafkaMetric]:
        """Return the current metrics as kafka-python's objects; empty if metrics are disabled."""
        if not self._enabled:
            return {}
        self._add_late()
        with self._lock:
            if self._registry is None:
                registry = self._registry = self._make_registry([])
                for group in list(self._groups.values()):
                    self._register(registry, group)
            return dict(self._registry.metrics)

    def close(self) -> None:
        """Close the reporters."""
        if self._is_ours and self._registry is not None:
            self._submit(self._registry.close)

    def _add_late(self) -> None:
        for register in list(self._late):
            register()

    def _make_registry(self, reporters: list[AbstractMetricsReporter]) -> Metrics:
        from kafka.metrics.kafka_metric import MetricConfig
        from kafka.metrics.metrics import Metrics

        samples, window_s = self.window
        tags = {"client-id": self._client_id}
        return Metrics(MetricConfig(samples=samples, time_window_ms=window_s * 1000, tags=tags), reporters)

    def _register(self, registry: Metrics, group: _Group) -> None:
        from kafka.metrics.kafka_metric import AnonMeasurable

        with self._lock:
            for metric in group.metrics:
                name = registry.metric_name(metric.name, group.name, metric.description, group.tags)
                if name not in registry.metrics:
                    registry.add_metric(name, AnonMeasurable(partial(self._read, metric, group.source)))

    def _unregister(self, registry: Metrics, group: _Group) -> None:
        with self._lock:  # must not run while `registered` processes its list
            for metric in group.metrics:
                registry.remove_metric(registry.metric_name(metric.name, group.name, tags=group.tags))

    def _read(self, metric: Metric, source: Any, config: MetricConfig, now: float) -> float:
        """Return a metric's current value.

        Ignores `now`, which is wall clock time, because clients count by their own clock.
        """
        return metric.read(source, self._clock())


def _key(group: _Group) -> tuple[Any, ...]:
    return group.name, group.metrics[0].name, *sorted(group.tags.items())


def _configured(reporters: Sequence[Any], configs: Mapping[str, Any]) -> list[AbstractMetricsReporter]:
    """Return the configured reporters, creating those given as classes. Older reporters may not have `configure`."""
    made = [reporter() if isinstance(reporter, type) else reporter for reporter in reporters]
    for reporter in made:
        if hasattr(reporter, "configure"):
            reporter.configure(dict(configs))
    return made


def _at_once(function: Callable[[], object]) -> None:
    function()
