"""`AbstractSampledStat`: what is worked out of the last few samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from kafka.metrics.measurable_stat import AbstractMeasurableStat
from kafka.metrics.metric_config import MetricConfig


class AbstractSampledStat(AbstractMeasurableStat, ABC):
    """Gathers values in samples. Where one is full, by time or by number of values, the oldest is begun anew.

    Arguments:
        initial_value: what a sample has before there are values.
    """

    __slots__ = ("_current", "_initial_value", "_samples")

    def __init__(self, initial_value: float) -> None:
        self._initial_value = initial_value
        self._samples: list[AbstractSampledStat.Sample] = []
        self._current = 0

    @abstractmethod
    def update(self, sample: AbstractSampledStat.Sample, config: MetricConfig, value: float, time_ms: float) -> None:
        """Take a value into a sample."""

    @abstractmethod
    def combine(self, samples: Sequence[AbstractSampledStat.Sample], config: MetricConfig, now: float) -> float:
        """The value of samples together."""

    def record(self, config: MetricConfig, value: float, time_ms: float) -> None:
        """Take a value into the sample of now."""
        sample = self.current(time_ms)
        if sample.is_complete(time_ms, config):
            sample = self._advance(config, time_ms)
        self.update(sample, config, float(value), time_ms)
        sample.event_count += 1

    def new_sample(self, time_ms: float) -> AbstractSampledStat.Sample:
        """A sample that begins at a time."""
        return self.Sample(self._initial_value, time_ms)

    def measure(self, config: MetricConfig, now: float) -> float:
        """The value of the samples that are not too old."""
        self.purge_obsolete_samples(config, now)
        return float(self.combine(self._samples, config, now))

    def current(self, time_ms: float) -> AbstractSampledStat.Sample:
        """The sample that values go into, which may be full."""
        self._begin(time_ms)
        return self._samples[self._current]

    def oldest(self, now: float) -> AbstractSampledStat.Sample:
        """The sample that began first."""
        self._begin(now)
        return min(self._samples, key=lambda sample: sample.last_window_ms)

    def purge_obsolete_samples(self, config: MetricConfig, now: float) -> None:
        """Begin those anew that are too old to count."""
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
        """The values of a window.

        Arguments:
            initial_value: what it has before there are values.
            now: when it begins, in milliseconds.

        Attributes:
            event_count: how many values it has taken in.
            last_window_ms: when it began.
            value: what `update` has made of them.
        """

        def __init__(self, initial_value: float, now: float) -> None:
            self.initial_value = initial_value
            self.event_count = 0
            self.last_window_ms = now
            self.value = initial_value

        def reset(self, now: float) -> None:
            """Begin anew."""
            self.event_count = 0
            self.last_window_ms = now
            self.value = self.initial_value

        def is_complete(self, time_ms: float, config: MetricConfig) -> bool:
            """Whether it is full."""
            is_over = time_ms - self.last_window_ms >= config.time_window_ms
            return is_over or self.event_count >= config.event_window
