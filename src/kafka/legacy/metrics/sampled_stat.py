"""Statistics over the last few samples: `Avg`, `Max`, `Min`, `Count`, `SampledTotal`, and `Rate` per unit of time."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from kafka.metrics.kafka_metric import MetricConfig
from kafka.metrics.stat import AbstractMeasurableStat


class AbstractSampledStat(AbstractMeasurableStat, ABC):
    """Collects values in samples. When the current sample is full, by time or by number of values, the oldest is reset.

    Arguments:
        initial_value: the value of a new sample.
    """

    __slots__ = ("_current", "_initial_value", "_samples")

    def __init__(self, initial_value: float) -> None:
        self._initial_value = initial_value
        self._samples: list[AbstractSampledStat.Sample] = []
        self._current = 0

    @abstractmethod
    def update(self, sample: AbstractSampledStat.Sample, config: MetricConfig, value: float, time_ms: float) -> None:
        """Add a value to a sample."""

    @abstractmethod
    def combine(self, samples: Sequence[AbstractSampledStat.Sample], config: MetricConfig, now: float) -> float:
        """Return the combined value of samples."""

    def record(self, config: MetricConfig, value: float, time_ms: float) -> None:
        """Add a value to the current sample."""
        sample = self.current(time_ms)
        if sample.is_complete(time_ms, config):
            sample = self._advance(config, time_ms)
        self.update(sample, config, float(value), time_ms)
        sample.event_count += 1

    def new_sample(self, time_ms: float) -> AbstractSampledStat.Sample:
        """Return a new sample that starts at the given time."""
        return self.Sample(self._initial_value, time_ms)

    def measure(self, config: MetricConfig, now: float) -> float:
        """Return the combined value of the samples that are not obsolete."""
        self.purge_obsolete_samples(config, now)
        return float(self.combine(self._samples, config, now))

    def current(self, time_ms: float) -> AbstractSampledStat.Sample:
        """Return the current sample, which may be full."""
        self._begin(time_ms)
        return self._samples[self._current]

    def oldest(self, now: float) -> AbstractSampledStat.Sample:
        """Return the sample with the earliest start."""
        self._begin(now)
        return min(self._samples, key=lambda sample: sample.last_window_ms)

    def purge_obsolete_samples(self, config: MetricConfig, now: float) -> None:
        """Reset obsolete samples."""
        too_old_ms = config.samples * config.time_window_ms
        for sample in self._samples:
            if now - sample.last_window_ms >= too_old_ms:
                sample.reset(now)

    def _begin(self, time_ms: float) -> None:
        if not self._samples:
            self._samples.append(self.new_sample(time_ms))

    def _advance(self, config: MetricConfig, time_ms: float) -> AbstractSampledStat.Sample:
        self._current = (self._current + 1) % config.samples
        if self._current < len(self._samples):
            self._samples[self._current].reset(time_ms)
        else:
            self._samples.append(self.new_sample(time_ms))
        return self._samples[self._current]

    class Sample:
        """The values recorded in a time window.

        Arguments:
            initial_value: the value before any are recorded.
            now: the start of the window in milliseconds.

        Attributes:
            event_count: number of recorded values.
            last_window_ms: the start of the window.
            value: the value computed by `update`.
        """

        def __init__(self, initial_value: float, now: float) -> None:
            self.initial_value = initial_value
            self.event_count = 0
            self.last_window_ms = now
            self.value = initial_value

        def reset(self, now: float) -> None:
            """Restart the sample at the given time."""
            self.event_count = 0
            self.last_window_ms = now
            self.value = self.initial_value

        def is_complete(self, time_ms: float, config: MetricConfig) -> bool:
            """Return whether the sample is full."""
            is_over = time_ms - self.last_window_ms >= config.time_window_ms
            return is_over or self.event_count >= config.event_window


class Avg(AbstractSampledStat):
    """The mean of the values in the samples; 0 if there are none."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(0.0)

    def update(self, sample: AbstractSampledStat.Sample, config: MetricConfig, value: float, now: float) -> None:
        """See `AbstractSampledStat`."""
        sample.value += value

    def combine(self, samples: Sequence[AbstractSampledStat.Sample], config: MetricConfig, now: float) -> float:
        """See `AbstractSampledStat`."""
        count = sum(sample.event_count for sample in samples)
        return sum(sample.value for sample in samples) / count if count else 0.0


class Max(AbstractSampledStat):
    """The largest value in the samples; minus infinity if there are none."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(float("-inf"))

    def update(self, sample: AbstractSampledStat.Sample, config: MetricConfig, value: float, now: float) -> None:
        """See `AbstractSampledStat`."""
        sample.value = max(sample.value, value)

    def combine(self, samples: Sequence[AbstractSampledStat.Sample], config: MetricConfig, now: float) -> float:
        """See `AbstractSampledStat`."""
        return max((sample.value for sample in samples), default=float("-inf"))


class Min(AbstractSampledStat):
    """The smallest value in the samples; `sys.maxsize` if there are none."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(float(sys.maxsize))

    def update(self, sample: AbstractSampledStat.Sample, config: MetricConfig, value: float, now: float) -> None:
        """See `AbstractSampledStat`."""
        sample.value = min(sample.value, value)

    def combine(self, samples: Sequence[AbstractSampledStat.Sample], config: MetricConfig, now: float) -> float:
        """See `AbstractSampledStat`."""
        return min((sample.value for sample in samples), default=float(sys.maxsize))


class Count(AbstractSampledStat):
    """The number of values in the samples."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(0.0)

    def update(self, sample: AbstractSampledStat.Sample, config: MetricConfig, value: float, now: float) -> None:
        """See `AbstractSampledStat`."""
        sample.value += 1.0

    def combine(self, samples: Sequence[AbstractSampledStat.Sample], config: MetricConfig, now: float) -> float:
        """See `AbstractSampledStat`."""
        return sum(sample.value for sample in samples)


class TimeUnit:
    """Time units as numbers."""

    NANOSECONDS = 0
    MICROSECONDS = 1
    MILLISECONDS = 2
    SECONDS = 3
    MINUTES = 4
    HOURS = 5
    DAYS = 6

    _NAMES = ("nanosecond", "microsecond", "millisecond", "second", "minute", "hour", "day")
    _IN_MS: ClassVar[dict[int, float]] = {
        NANOSECONDS: 1e-6,
        MICROSECONDS: 1e-3,
        MILLISECONDS: 1,
        SECONDS: 1000,
        MINUTES: 60_000,
        HOURS: 3_600_000,
        DAYS: 86_400_000,
    }

    @staticmethod
    def get_name(time_unit: int) -> str:
        """Return the name of a unit. Raises `IndexError` for an invalid unit."""
        return TimeUnit._NAMES[time_unit]


class SampledTotal(AbstractSampledStat):
    """The sum of the values in the samples.

    Arguments:
        initial_value: must be None; any other value raises `ValueError`.
    """

    __slots__ = ()

    def __init__(self, initial_value: None = None) -> None:
        if initial_value is not None:
            raise ValueError(f"SampledTotal accepts no initial value, got {initial_value!r}")
        super().__init__(0.0)

    def update(self, sample: AbstractSampledStat.Sample, config: MetricConfig, value: float, time_ms: float) -> None:
        """See `AbstractSampledStat`."""
        sample.value += value

    def combine(self, samples: Sequence[AbstractSampledStat.Sample], config: MetricConfig, now: float) -> float:
        """See `AbstractSampledStat`."""
        return sum(sample.value for sample in samples)


class Rate(AbstractMeasurableStat):
    """A sampled quantity divided by the time that its samples span.

    Arguments:
        time_unit: one of `TimeUnit`.
        sampled_stat: the quantity; None: the sum of the values. `Count` gives the rate at which values are recorded.
    """

    __slots__ = ("_stat", "_unit")

    def __init__(self, time_unit: int = TimeUnit.SECONDS, sampled_stat: AbstractSampledStat | None = None) -> None:
        self._stat = sampled_stat or SampledTotal()
        self._unit = time_unit

    def unit_name(self) -> str:
        """Return the name of the unit."""
        return TimeUnit.get_name(self._unit)

    def record(self, config: MetricConfig, value: float, time_ms: float) -> None:
        """Add a value to the quantity."""
        self._stat.record(config, value, time_ms)

    def measure(self, config: MetricConfig, now: float) -> float:
        """Return the quantity per unit of time."""
        value = self._stat.measure(config, now)
        return float(value) / self.convert(self.window_size(config, now))

    def window_size(self, config: MetricConfig, now: float) -> float:
        """Return the time span of the samples in milliseconds, counting all but the current one as full.

        Otherwise the first value, divided by almost no time, would result in an extreme rate.
        """
        self._stat.purge_obsolete_samples(config, now)
        elapsed_ms = now - self._stat.oldest(now).last_window_ms
        missing = config.samples - 1 - int(elapsed_ms / config.time_window_ms)
        return elapsed_ms + max(missing, 0) * config.time_window_ms

    def convert(self, time_ms: float) -> float:
        """Convert milliseconds to the unit. Raises `ValueError` if the unit is invalid."""
        try:
            return time_ms / TimeUnit._IN_MS[self._unit]
        except KeyError:
            raise ValueError(f"{self._unit!r} is not a unit of time") from None
