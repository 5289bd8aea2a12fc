"""`Rate`: how much a unit of time; `TimeUnit` has the units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from kafka.legacy.metrics.sampled_stat import AbstractSampledStat
from kafka.metrics.measurable_stat import AbstractMeasurableStat
from kafka.metrics.metric_config import MetricConfig


class TimeUnit:
    """Units of time, by number."""

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
        """The name of a unit. Raises `IndexError` for what is none."""
        return TimeUnit._NAMES[time_unit]


class SampledTotal(AbstractSampledStat):
    """The sum of the values in the samples.

    Arguments:
        initial_value: None; anything else is a `ValueError`.
    """

    __slots__ = ()

    def __init__(self, initial_value: None = None) -> None:
        if initial_value is not None:
            raise ValueError(f"a SampledTotal begins with nothing, not {initial_value!r}")
        super().__init__(0.0)

    def update(self, sample: AbstractSampledStat.Sample, config: MetricConfig, value: float, time_ms: float) -> None:
        """See `AbstractSampledStat`."""
        sample.value += value

    def combine(self, samples: Sequence[AbstractSampledStat.Sample], config: MetricConfig, now: float) -> float:
        """See `AbstractSampledStat`."""
        return sum(sample.value for sample in samples)


class Rate(AbstractMeasurableStat):
    """A sampled quantity, by the time that its samples span.

    Arguments:
        time_unit: one of `TimeUnit`.
        sampled_stat: the quantity; None: the sum of the values. `Count` makes it how often there is a value.
    """

    __slots__ = ("_stat", "_unit")

    def __init__(self, time_unit: int = TimeUnit.SECONDS, sampled_stat: AbstractSampledStat | None = None) -> None:
        self._stat = sampled_stat or SampledTotal()
        self._unit = time_unit

    def unit_name(self) -> str:
        """The name of the unit."""
        return TimeUnit.get_name(self._unit)

    def record(self, config: MetricConfig, value: float, time_ms: float) -> None:
        """Take a value into the quantity."""
        self._stat.record(config, value, time_ms)

    def measure(self, config: MetricConfig, now: float) -> float:
        """The quantity a unit of time."""
        value = self._stat.measure(config, now)
        return float(value) / self.convert(self.window_size(config, now))

    def window_size(self, config: MetricConfig, now: float) -> float:
        """The milliseconds that the samples span, but never less than all of them but one take when they are full.

        Without that, the first value would make a rate out of nearly no time.
        """
        self._stat.purge_obsolete_samples(config, now)
        elapsed_ms = now - self._stat.oldest(now).last_window_ms
        missing = config.samples - 1 - int(elapsed_ms / config.time_window_ms)
        return elapsed_ms + max(missing, 0) * config.time_window_ms

    def convert(self, time_ms: float) -> float:
        """Milliseconds in the unit. Raises `ValueError` where that is none."""
        try:
            return time_ms / TimeUnit._IN_MS[self._unit]
        except KeyError:
            raise ValueError(f"{self._unit!r} is not a unit of time") from None
