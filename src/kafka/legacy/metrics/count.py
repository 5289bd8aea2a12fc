"""`Count`: how many values there were."""

from __future__ import annotations

from collections.abc import Sequence

from kafka.legacy.metrics.sampled_stat import AbstractSampledStat
from kafka.metrics.metric_config import MetricConfig


class Count(AbstractSampledStat):
    """How many values are in the samples."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(0.0)

    def update(self, sample: AbstractSampledStat.Sample, config: MetricConfig, value: float, now: float) -> None:
        """See `AbstractSampledStat`."""
        sample.value += 1.0

    def combine(self, samples: Sequence[AbstractSampledStat.Sample], config: MetricConfig, now: float) -> float:
        """See `AbstractSampledStat`."""
        return sum(sample.value for sample in samples)
