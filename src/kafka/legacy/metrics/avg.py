"""`Avg`: the mean of the values."""

from __future__ import annotations

from collections.abc import Sequence

from kafka.legacy.metrics.sampled_stat import AbstractSampledStat
from kafka.metrics.metric_config import MetricConfig


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
