"""A registered metric: its name, its configuration with an optional quota, and the quantity that it measures."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping


class MetricName:
    """The key of a metric: its name, group and tags. The description is not part of the key.

    Arguments:
        name: the metric's name.
        group: a group of related metrics.
        description: a description for users.
        tags: the metric's subject, such as a topic or a client.

    Raises `ValueError` if the name or group is empty, or if the tags are not a dict.
    """

    __slots__ = ("_description", "_group", "_hash", "_name", "_tags")

    def __init__(
        self, name: str, group: str, description: str | None = None, tags: Mapping[str, str] | None = None
    ) -> None:
        if not name or not group:
            raise ValueError(f"a metric needs a name and a group, not {name!r} and {group!r}")
        if tags is not None and not isinstance(tags, dict):
            raise ValueError(f"tags are a dict, not {tags!r}")
        self._name, self._group, self._description = name, group, description
        self._tags = None if tags is None else dict(tags)
        self._hash: int | None = None

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def group(self) -> str:
        """The group."""
        return self._group

    @property
    def description(self) -> str | None:
        """The description."""
        return self._description

    @property
    def tags(self) -> dict[str, str] | None:
        """A copy of the tags."""
        return None if self._tags is None else dict(self._tags)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetricName):
            return NotImplemented
        return (self._name, self._group, self._tags) == (other._name, other._group, other._tags)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self._group, self._name, frozenset((self._tags or {}).items())))
        return self._hash

    def __str__(self) -> str:
        return f"MetricName(name={self.name}, group={self.group}, description={self.description}, tags={self.tags})"

    __repr__ = __str__


class Quota:
    """An upper or a lower limit of the value of a metric.

    Arguments:
        bound: the last permitted value.
        is_upper: True forbids larger values, False smaller ones.
    """

    __slots__ = ("_bound", "_upper")

    def __init__(self, bound: float, is_upper: bool) -> None:
        self._bound = bound
        self._upper = is_upper

    @staticmethod
    def upper_bound(upper_bound: float) -> Quota:
        """Create a quota that forbids larger values.

        Arguments:
            upper_bound: the largest permitted value.
        """
        return Quota(upper_bound, True)

    @staticmethod
    def lower_bound(lower_bound: float) -> Quota:
        """Create a quota that forbids smaller values.

        Arguments:
            lower_bound: the smallest permitted value.
        """
        return Quota(lower_bound, False)

    def is_upper_bound(self) -> bool:
        """Return whether the bound is the largest permitted value; otherwise it is the smallest."""
        return self._upper

    @property
    def bound(self) -> float:
        """The last permitted value."""
        return self._bound

    def is_acceptable(self, value: float) -> bool:
        """Return whether a value is within the limit, which is included.

        Arguments:
            value: in the unit of the metric.
        """
        return value <= self._bound if self._upper else value >= self._bound

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quota):
            return NotImplemented
        return (self._bound, self._upper) == (other._bound, other._upper)

    def __hash__(self) -> int:
        return hash((self._bound, self._upper))


class MetricConfig:
    """How a metric is computed. Values are collected in samples, and only the most recent samples count.

    Arguments:
        quota: a bound that is checked when values are recorded.
        samples: number of samples that count.
        event_window: number of values after which a sample is full.
        time_window_ms: time in milliseconds after which a sample is also full.
        tags: tags of every metric in the registry.

    Raises `ValueError` for fewer than one sample.
    """

    __slots__ = ("_samples", "event_window", "quota", "tags", "time_window_ms")

    def __init__(
        self,
        quota: Quota | None = None,
        samples: int = 2,
        event_window: int = sys.maxsize,
        time_window_ms: float = 30_000,
        tags: dict[str, str] | None = None,
    ) -> None:
        self.quota = quota
        self.samples = samples
        self.event_window = event_window
        self.time_window_ms = time_window_ms
        self.tags = tags or {}

    @property
    def samples(self) -> int:
        """The number of samples that count."""
        return self._samples

    @samples.setter
    def samples(self, value: int) -> None:
        if value < 1:
            raise ValueError(f"at least one sample must count, not {value!r}")
        self._samples = value


class AbstractMeasurable(ABC):
    """A quantity that can be measured by a `KafkaMetric`."""

    @abstractmethod
    def measure(self, config: MetricConfig, now: float) -> float:
        """Return the value.

        Arguments:
            config: the metric's configuration.
            now: the time, in milliseconds since the epoch.
        """


class AnonMeasurable(AbstractMeasurable):
    """A quantity that is returned by a function.

    Arguments:
        measure_fn: called with the arguments of `measure`.
    """

    def __init__(self, measure_fn: Callable[[MetricConfig, float], float]) -> None:
        self._measure_fn = measure_fn

    def measure(self, config: MetricConfig, now: float) -> float:
        """Return the function's result.

        Arguments:
            config: the metric's configuration.
            now: the time, in milliseconds since the epoch.
        """
        return float(self._measure_fn(config, now))


class KafkaMetric:
    """A named quantity. Any thread may read its value.

    Arguments:
        metric_name: the name.
        measurable: the quantity.
        config: how the quantity is computed.

    Raises `ValueError` if the name or the quantity is missing.
    """

    __slots__ = ("_config", "_measurable", "_metric_name")

    def __init__(self, metric_name: MetricName, measurable: AbstractMeasurable, config: MetricConfig) -> None:
        if not isinstance(metric_name, MetricName):
            raise ValueError(f"a metric needs a name, not {metric_name!r}")
        if not hasattr(measurable, "measure"):
            raise ValueError(f"a metric needs something to measure, not {measurable!r}")
        self._metric_name = metric_name
        self._measurable = measurable
        self._config = config

    @property
    def metric_name(self) -> MetricName:
        """The name."""
        return self._metric_name

    @property
    def measurable(self) -> AbstractMeasurable:
        """The quantity."""
        return self._measurable

    @property
    def config(self) -> MetricConfig:
        """How the metric is computed; may be replaced."""
        return self._config

    @config.setter
    def config(self, config: MetricConfig) -> None:
        self._config = config

    def value(self, time_ms: float | None = None) -> float:
        """Return the value at a time.

        Arguments:
            time_ms: milliseconds since the epoch; None means now.
        """
        return self._measurable.measure(self._config, time.time() * 1000 if time_ms is None else time_ms)
